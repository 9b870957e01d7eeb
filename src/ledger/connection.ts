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

/** An acknowledged payment must survive a power cut: a server that would forget it is not used at all. */
async function assertDurable(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync`,
  )
  assert.notEqual(
    rows[0].synchronous_commit,
    'off',
    'synchronous_commit is off: acknowledged payments could be lost',
  )
  assert.equal(rows[0].fsync, 'on', 'fsync is off: acknowledged payments could be lost')
}
