import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openApi } from '../../../test/support/api.ts'
import { asAdmin, createDatabase, seatsAt, TEST_KEY } from '../../../test/support/database.ts'
import { startNode } from '../../../test/support/node.ts'
import { openReceiver, type Receiver, verifies } from '../../../test/support/receiver.ts'
import { openDirectAccess } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { createSealer, keyIdOf } from '../../core/seal.ts'
import { migrate } from '../../db/migrate.ts'
import { withOwner } from '../../db/pool.ts'
import { checkSecretKey, countSealed, reachedBy, WrongSecretKey } from './check.ts'
import { rotateSecrets } from './rotate.ts'

const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)]
/** The connections of the tests work with whichever key is in force. */
const everyKey = [TEST_KEY, first, second, third]
const envOf = (key: Buffer, ...previous: Buffer[]) => ({
  SECRET_KEY: key.toString('hex'),
  ...(previous.length > 0
    ? { SECRET_KEY_PREVIOUS: previous.map((one) => one.toString('hex')).join(',') }
    : {}),
  WEBHOOK_ALLOW_PRIVATE: 'true',
})

async function freshAccess() {
  const direct = openDirectAccess(await createDatabase(), everyKey)
  onTestFinished(direct.stop)
  return direct
}

const refusalOf = (starting: Promise<{ stop(): Promise<void> }>) =>
  starting.then(
    async (node) => {
      await node.stop()
      return undefined
    },
    (error: unknown) => error as Error,
  )

const reachOf = ({ shared, worlds }: ReturnType<typeof openDirectAccess>) => ({
  shared: shared.db,
  production: worlds.production.db,
  sandbox: worlds.sandbox.db,
})

const endpointBody = (url = 'https://example.com/hook') => ({ url, events: ['*'] })

describe('a wrong SECRET_KEY', () => {
  test('is refused at start, also when only the check value is sealed yet', async () => {
    const { database } = await freshAccess()
    await (await startNode(database.url, envOf(first))).stop()
    const refusal = await refusalOf(startNode(database.url, envOf(second)))
    expect(refusal).toBeInstanceOf(WrongSecretKey)
    expect(refusal!.message).toContain(keyIdOf(first))
    expect(refusal!.message).toContain(keyIdOf(second))
    await (await startNode(database.url, envOf(first))).stop()
  })

  test('is refused for one of two nodes that start at once on an empty database with different keys', async () => {
    const { database } = await freshAccess()
    const starts = [first, second].map((key) => refusalOf(startNode(database.url, envOf(key))))
    const refusals = (await Promise.all(starts)).filter((one) => one !== undefined)
    expect(refusals).toHaveLength(1)
    expect(refusals[0]).toBeInstanceOf(WrongSecretKey)
    // Also without the migration lock.
    const [row] = await asAdmin(database.url, ['SELECT count(*)::int AS n FROM shared.sealing'])
    expect(row!.n).toBe(1)
    await asAdmin(database.url, ['DELETE FROM shared.sealing'])
    const check = (key: Buffer) =>
      withOwner(database.url, (owner) => checkSecretKey(reachedBy(owner), createSealer([key])))
    const settled = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => check(i % 2 ? first : second)),
    )
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  })

  test('is reported with the number and a few ids of the objects that cannot be opened, without their contents', async () => {
    const direct = await freshAccess()
    const node = await startNode(direct.database.url, envOf(first))
    const sandbox = await direct.partner(node.url)
    const live = await direct.partner(node.url, { environment: 'production' })
    const made: { id: string; secret: string }[] = []
    for (let i = 0; i < 5; i++)
      made.push((await sandbox.api.post('/v1/webhook_endpoints', endpointBody())).json)
    const gone = (await sandbox.api.post('/v1/webhook_endpoints', endpointBody())).json
    await sandbox.api.delete(`/v1/webhook_endpoints/${gone.id}`)
    const one = (await live.api.post('/v1/webhook_endpoints', endpointBody())).json
    await live.api.post(`/v1/webhook_endpoints/${one.id}/rotate_secret`)
    await node.stop()
    const { message, unopened } = (await refusalOf(
      startNode(direct.database.url, envOf(second)),
    )) as WrongSecretKey
    expect(
      unopened.map(({ environment, object, count, key_id }) => [environment, object, count, key_id]),
    ).toEqual([
      ['production', 'webhook secret', 1, keyIdOf(first)],
      ['production', 'previous webhook secret', 1, keyIdOf(first)],
      ['sandbox', 'webhook secret', 5, keyIdOf(first)],
      ['shared', 'key of the log', 1, keyIdOf(first)],
    ])
    expect(message).toContain(`5 webhook secrets in sandbox under the key ${keyIdOf(first)}`)
    expect(
      message.match(/whe_\w+/g)!.filter((id) => made.some((endpoint) => endpoint.id === id)),
    ).toHaveLength(3)
    for (const endpoint of [...made, one]) expect(message).not.toContain(endpoint.secret)
    for (const key of [first, second]) expect(message).not.toContain(key.toString('hex'))
  })

  test('is refused on a database without a check value; the right key stores its check value there', async () => {
    const direct = await freshAccess()
    const node = await startNode(direct.database.url, envOf(first))
    const { api } = await direct.partner(node.url)
    const { id } = (await api.post('/v1/webhook_endpoints', endpointBody())).json
    await node.stop()
    const removeCheck = () =>
      asAdmin(direct.database.url, [
        'DELETE FROM shared.sealing',
        'UPDATE sandbox.webhook_endpoints SET secret_key_id = NULL',
      ])
    const inForce = async () => {
      const [row] = await asAdmin(direct.database.url, ['SELECT key_id FROM shared.sealing'])
      return row?.key_id
    }
    await removeCheck()
    const refusal = (await refusalOf(startNode(direct.database.url, envOf(second)))) as WrongSecretKey
    expect(refusal).toBeInstanceOf(WrongSecretKey)
    expect(refusal.message).toContain(id)
    expect(await inForce()).toBeUndefined()
    // A first start with both keys: the existing sealed values decide which key is in force.
    await (await startNode(direct.database.url, envOf(second, first))).stop()
    expect(await inForce()).toBe(keyIdOf(first))
    await removeCheck()
    await (await startNode(direct.database.url, envOf(first))).stop()
    expect(await inForce()).toBe(keyIdOf(first))
  })
})

describe('a rotation', () => {
  let direct: Awaited<ReturnType<typeof freshAccess>>
  let receiver: Receiver
  beforeAll(async () => {
    direct = openDirectAccess(await createDatabase(), everyKey)
    receiver = await openReceiver()
  })
  afterAll(async () => {
    await receiver.stop()
    await direct.stop()
  })

  const rows = () =>
    asAdmin(direct.database.url, [
      `SELECT id, secret_key_id, previous_secret_key_id FROM sandbox.webhook_endpoints WHERE status <> 'deleted' ORDER BY id`,
    ])

  test('works while nodes seal, leaves nothing under the old key, and every webhook is signed', async () => {
    const before = await startNode(direct.database.url, envOf(first))
    const { key, api } = await direct.partner(before.url)
    const keep = (await api.post('/v1/webhook_endpoints', endpointBody(`${receiver.url}/keep`))).json
    await api.post('/v1/webhook_endpoints', endpointBody())
    await api.post(`/v1/webhook_endpoints/${keep.id}/rotate_secret?grace_hours=0`)
    const expired = (await api.post('/v1/webhook_endpoints', endpointBody())).json
    await api.post(`/v1/webhook_endpoints/${expired.id}/rotate_secret`)
    await asAdmin(direct.database.url, [
      `UPDATE sandbox.webhook_endpoints SET previous_secret_until = now() - interval '1 hour', previous_secret = 'not to be opened' WHERE id = '${expired.id}'`,
    ])
    const node = await startNode(direct.database.url, envOf(second, first))
    const after = openApi(node.url, key)
    // A node that knows both keys seals under the key in force, so that nodes with the old key alone can read it.
    const early = (await after.post('/v1/webhook_endpoints', endpointBody(`${receiver.url}/early`))).json
    expect((await rows()).find(({ id }) => id === early.id)!.secret_key_id).toBe(keyIdOf(first))
    await before.stop()

    let busy = true
    const load = Array.from({ length: 4 }, async () => {
      const mine = (await after.post('/v1/webhook_endpoints', endpointBody())).json
      while (busy) {
        // A migration competes with writers for locks; on a busy machine a writer may get a 503.
        const { status } = await after.post(`/v1/webhook_endpoints/${mine.id}/rotate_secret`)
        expect([200, 503]).toContain(status)
        await sleep(1)
      }
    })
    await sleep(50)
    const sealer = createSealer([second, first])
    const rotated = await rotateSecrets(reachOf(direct), sealer, keyIdOf(second))
    await migrate(direct.database.url, { seats: seatsAt(direct.database.url, [second, first]), renew: true })
    busy = false
    await Promise.all(load)
    expect(rotated).toMatchObject({ key_id: keyIdOf(second), from_key_id: keyIdOf(first) })
    expect(rotated.sealed_again).toBeGreaterThanOrEqual(4)
    for (const row of await rows()) {
      expect(row.secret_key_id).toBe(keyIdOf(second))
      expect([null, keyIdOf(second)]).toContain(row.previous_secret_key_id)
    }
    // The old key opens nothing any more, the new key everything.
    const counts = await countSealed(reachOf(direct), createSealer([second]))
    expect(counts.every(({ opens, key_id }) => opens && key_id === keyIdOf(second))).toBe(true)
    expect((await countSealed(reachOf(direct), createSealer([first]))).some(({ opens }) => opens)).toBe(false)

    // The node that ran all the time signs with secrets that it opens under either key.
    const { secret } = (await after.post(`/v1/webhook_endpoints/${keep.id}/rotate_secret?grace_hours=0`)).json
    await after.post('/v1/customers', { name: 'Ana', document: '52998224725' })
    // Events from before the endpoints may be delivered too, signed with the secret of that time.
    const told = (path: string) =>
      receiver.received.find((one) => one.path === path && String(one.body).includes('"customer.created"'))
    await until(() => told('/keep') !== undefined && told('/early') !== undefined, 10_000)
    expect(verifies(secret, told('/keep')!)).toBe(true)
    expect(verifies(early.secret, told('/early')!)).toBe(true)
    await node.stop()

    expect(await refusalOf(startNode(direct.database.url, envOf(first)))).toBeInstanceOf(WrongSecretKey)
    expect(await refusalOf(startNode(direct.database.url, envOf(second)))).toBeUndefined()
  })

  test('that runs again changes nothing; an interrupted one is finished by the next', async () => {
    const sealer = createSealer([third, second])
    expect(await rotateSecrets(reachOf(direct), createSealer([second]), keyIdOf(second))).toMatchObject({
      from_key_id: undefined,
      sealed_again: 0,
    })
    // Interrupted after each of its writes in turn, by ending its connection.
    const total = (await rows()).length
    for (let allowed = 0; allowed < total; allowed += 3) {
      let writes = 0
      const db = direct.worlds.sandbox.db
      const cut = {
        query: (text: string, values?: unknown[]) => {
          if (/^\s*UPDATE/.test(text) && ++writes > allowed) throw new Error('cut')
          return db.query(text, values)
        },
      } as unknown as typeof db
      await expect(
        rotateSecrets({ ...reachOf(direct), sandbox: cut }, sealer, keyIdOf(third)),
      ).rejects.toThrow('cut')
      // At every stage, everything opens with both keys.
      await withOwner(direct.database.url, (owner) => checkSecretKey(reachedBy(owner), sealer))
    }
    // The new key alone is not enough yet, and the error says for which objects.
    const refusal = await refusalOf(startNode(direct.database.url, envOf(third)))
    expect(refusal).toBeInstanceOf(WrongSecretKey)
    expect(refusal!.message).toContain(keyIdOf(second))
    await rotateSecrets(reachOf(direct), sealer, keyIdOf(third))
    await withOwner(direct.database.url, (owner) => checkSecretKey(reachedBy(owner), createSealer([third])))
  })

  test('without the previous key is refused, and so is a value that was sealed under the old key since', async () => {
    await expect(rotateSecrets(reachOf(direct), createSealer([first]), keyIdOf(first))).rejects.toThrow(
      WrongSecretKey,
    )
    const [{ id } = { id: '' }] = await rows()
    const { value } = createSealer([second]).seal(Buffer.from('late'), `sandbox ${id}`)
    await asAdmin(direct.database.url, [
      `UPDATE sandbox.webhook_endpoints SET secret = '\\x${value.toString('hex')}' WHERE id = '${id}'`,
    ])
    // The key id in its row is wrong; opening the value shows the right one.
    const counts = await countSealed(reachOf(direct), createSealer([third, second]))
    expect(counts.find(({ key_id }) => key_id === keyIdOf(second))).toMatchObject({ count: 1, opens: true })
    expect(await rotateSecrets(reachOf(direct), createSealer([third, second]), keyIdOf(third))).toMatchObject(
      {
        sealed_again: 1,
      },
    )
  })
})
