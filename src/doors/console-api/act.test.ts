import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../../test/support/console.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { act } from '../../control/operator/act.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

type Owner = Awaited<ReturnType<typeof signedIn>>

let forms = 0
const form_id = () => `form-of-an-act-${++forms}`.padEnd(20, '-')
const times = <Made>(n: number, make: (i: number) => Made) => Array.from({ length: n }, (_, i) => make(i))

const things: Record<string, (owner: Owner) => Promise<{ id: string; change(i: number): Promise<unknown> }>> =
  {
    async customer(owner) {
      const wanted = { form_id: form_id(), name: 'Rita Lima', document: someCpf() }
      const { id } = (await owner.post('/sandbox/customers', wanted)).json
      return { id, change: (i) => owner.patch(`/sandbox/customers/${id}`, { name: `Rita ${i}` }) }
    },
    async key(owner) {
      const wanted = { form_id: form_id(), name: 'a', scopes: ['read'], ip_allowlist: [] }
      const { id } = (await owner.post('/sandbox/keys', wanted)).json.key
      return { id, change: (i) => owner.patch(`/sandbox/keys/${id}`, { name: `key ${i}` }) }
    },
    async webhook(owner) {
      const wanted = { form_id: form_id(), url: 'https://example.com/x', events: ['*'] }
      const { id } = (await owner.post('/sandbox/webhooks', wanted)).json.endpoint
      return { id, change: (i) => owner.patch(`/sandbox/webhooks/${id}`, { description: `hook ${i}` }) }
    },
  }

async function linesOf(id: string) {
  const { rows } = await service.worlds.sandbox.db.query(
    'SELECT action, before, after FROM acts WHERE object_id = $1 ORDER BY seq',
    [id],
  )
  return rows.map(({ action, before, after }) => {
    const { origin, id: _, ...left } = JSON.parse(after)
    const { id: __, ...found } = JSON.parse(before ?? '{}')
    return { action, before: found, after: left }
  })
}

test.each(Object.keys(things))(
  'concurrent changes of a %s are logged in order: each begins with the state that the previous one left',
  async (kind) => {
    const { partner_id } = await service.partner()
    const owner = await signedIn(service, { partner_id, role: 'owner' })
    const { id, change } = await things[kind]!(owner)
    await Promise.all(times(6, change))
    const lines = await linesOf(id)
    expect(lines).toHaveLength(7)
    for (const [i, { before }] of lines.entries()) if (i > 0) expect(before).toEqual(lines[i - 1]!.after)
  },
)

test("an operator's change does not interleave with them either", async () => {
  const { partner_id } = await service.partner()
  const owner = await signedIn(service, { partner_id, role: 'owner' })
  const { id, change } = await things.key!(owner)
  const limit = (per_minute: number) =>
    act(
      service.office,
      { kind: 'shell' },
      { name: 'set_key_limits', environment: 'sandbox', details: { key_id: id, limits: { per_minute } } },
    )
  await Promise.all(times(10, (i) => (i % 2 ? limit(i) : change(i))))
  const lines = await linesOf(id)
  expect(lines).toHaveLength(11)
  for (const [i, { before }] of lines.entries()) if (i > 0) expect(before).toEqual(lines[i - 1]!.after)
})
