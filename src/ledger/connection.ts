import { type Client, openClient, type Seat } from '../db/pool.ts'

/** The one connection of a runner, opened when it is needed, and replaced when it broke or is old. */
export type RunnerConnection = {
  get(): Promise<Client>
  /** Whether `get` would return this client. */
  serves(client: Client): boolean
  drop(client: Client): void
  /** How many connections were opened so far. */
  opened(): number
  close(): Promise<void>
}

/** The memory of a PostgreSQL backend only grows: after this time the connection is replaced between two batches. */
const SERVES_MS = 30 * 60_000

export function openRunnerConnection(seat: Seat, name: string): RunnerConnection {
  let current: Client | undefined
  let opened_at = 0
  let opened = 0

  function drop(client: Client): void {
    if (current === client) current = undefined
    client.end().catch(() => {})
  }

  const isOld = () => performance.now() - opened_at > SERVES_MS

  return {
    serves: (client) => current === client && !isOld(),
    async get() {
      if (current && isOld()) drop(current)
      if (current) return current
      const client = await openClient(
        { ...seat, application_name: `${seat.application_name} ${name}` },
        { pipeline: true },
      )
      client.once('end', () => {
        if (current === client) current = undefined
      })
      await assertDurable(client).catch((error: unknown) => {
        drop(client)
        throw error
      })
      current = client
      opened_at = performance.now()
      opened++
      return client
    },
    drop,
    opened: () => opened,
    async close() {
      await current?.end().catch(() => {})
    },
  }
}

/**
 * Values of synchronous_commit that wait until the change is on disk here and, with a synchronous standby, on its disk too.
 * `local` and `off` do not wait for the standby: a fail-over would lose acknowledged changes. `remote_write` waits until the
 * standby has the change in memory: it would be lost if both machines lost power.
 */
const DURABLE = ['on', 'remote_apply']

type DurabilitySettings = { readonly synchronous_commit: string; readonly fsync: string }

/** An acknowledged payment must survive a power cut and a fail-over: a server that could lose it is not used. */
export class NotDurable extends Error {
  override name = 'NotDurable'
}

export function durabilityFault({ synchronous_commit, fsync }: DurabilitySettings): string | undefined {
  if (!DURABLE.includes(synchronous_commit))
    return `synchronous_commit is ${synchronous_commit}: acknowledged payments could be lost. Set it to ${DURABLE.join(' or ')}`
  return fsync === 'on' ? undefined : 'fsync is off: acknowledged payments could be lost'
}

async function assertDurable(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync`,
  )
  const fault = durabilityFault(rows[0])
  if (fault) throw new NotDurable(fault)
}
