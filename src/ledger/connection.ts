import assert from 'node:assert/strict'
import { type Client, openClient, type Seat } from '../db/pool.ts'

/** The one connection of a runner, opened when it is needed and again when it broke. */
export type Connection = {
  get(): Promise<Client>
  drop(client: Client): void
  close(): Promise<void>
}

export function openConnection(seat: Seat, name: string): Connection {
  let current: Client | undefined
  return {
    async get() {
      if (current) return current
      const client = await openClient(
        { ...seat, application_name: `${seat.application_name} ${name}` },
        { pipeline: true },
      )
      client.once('end', () => {
        if (current === client) current = undefined
      })
      await assertDurable(client)
      current = client
      return client
    },
    drop(client) {
      if (current === client) current = undefined
      client.end().catch(() => {})
    },
    async close() {
      await current?.end().catch(() => {})
    },
  }
}

/**
 * Ways to commit that wait until the change is on disk here and, where there is a synchronous standby, on its disk too.
 * `local` and `off` do not wait for the standby: a fail-over would forget what was acknowledged. `remote_write` waits
 * until the standby has it in memory: it would be forgotten if both machines lost power.
 */
const DURABLE = ['on', 'remote_apply']

/** An acknowledged payment must survive a power cut and a fail-over: a server that would forget it is not used at all. */
async function assertDurable(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync`,
  )
  const { synchronous_commit, fsync } = rows[0]
  assert.ok(
    DURABLE.includes(synchronous_commit),
    `synchronous_commit is ${synchronous_commit}: acknowledged payments could be lost. Set it to ${DURABLE.join(' or ')}`,
  )
  assert.equal(fsync, 'on', 'fsync is off: acknowledged payments could be lost')
}
