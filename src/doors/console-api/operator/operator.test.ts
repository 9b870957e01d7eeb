import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleClient, makePerson, openConsole, signedIn } from '../../../../test/support/console.ts'
import { asAdmin } from '../../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { stuckPayout } from '../../../../test/support/stuck.ts'
import { act } from '../../../control/operator/act.ts'
import { addCustomer } from '../../../parties/customers/customers.ts'
import { createKey, rotateKey } from '../../../parties/keys/keys.ts'
import { recordException } from '../../../records/exceptions/store.ts'
import { consoleEndpoints } from '../endpoints.ts'
import { operatorEndpoints } from './contract.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { listOperators } from './people-contract.ts'
import { peopleOfOperatorRoutes } from './people-routes.ts'

type Client = Awaited<ReturnType<typeof signedIn>>

let service: TestService
let ana: Client
let bea: Client
let eva: Client
let rui: Client
let partner_id: string
const live = '/operator/production'
const test_world = '/operator/sandbox'
const E2E = 'E18236120202611151226p0Xk2mQv71Z'

beforeAll(async () => {
  // No background audit: the tests expect only the findings of the runs that they start.
  service = await startTestService({ AUDIT_EVERY_MS: '0' })
  ana = await signedIn(service, { role: 'admin', factor: true })
  eva = await signedIn(service, { role: 'admin', factor: true })
  bea = await signedIn(service, { role: 'resolver', factor: true })
  rui = await signedIn(service, { role: 'reader', factor: true })
  ;({ partner_id } = await service.partner())
})
afterAll(() => service.stop())

const customerIn = async (environment: 'production' | 'sandbox') =>
  (
    await addCustomer(service.worlds[environment], {
      partner_id,
      name: 'Rita Lima',
      document: someCpf(),
    })
  ).id

const codeOf = (reply: { json: { error?: { code: string } } }) => reply.json.error?.code

let forms = 0
const form_id = () => `form-of-operator-${++forms}`.padEnd(20, '-')

let references = 0
const booking = (more: object = {}) => ({
  kind: 'credit',
  asset: 'BRL',
  amount: '5000',
  reason: 'wire 8841',
  reference: `ref-${++references}`,
  ...more,
})

const proposalOf = async (client: ConsoleClient, id: string) =>
  (await client.get(`${live}/proposals/${id}`)).json

async function provedAgain(client: ConsoleClient, environment = live) {
  expect((await client.post(`${environment}/proof`)).status).toBe(200)
  for (;;) {
    const { json } = await client.get(`${environment}/proof`)
    if (json.running === null) return json
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('access', () => {
  test("for users of a partner the operator's calls do not exist", async () => {
    const owner = await signedIn(service, { partner_id, role: 'owner', factor: true })
    for (const { route } of operatorEndpoints) {
      const [method, path] = route.replace('{environment}', 'production').split(' ') as [string, string]
      const call = { GET: owner.get, POST: owner.post, PATCH: owner.patch, DELETE: owner.delete }[method]!
      const reply = await call(path.replace('/console/api', '').replaceAll(/\{\w+\}/g, 'x'))
      expect([route, reply.status, codeOf(reply)]).toEqual([route, 404, 'route_not_found'])
    }
  })

  test('needs a session and a second factor', async () => {
    expect(codeOf(await openConsole(service.url).get(`${live}/desk`))).toBe('not_signed_in')
    // A reader: another admin would count among the operators who decide.
    const bare = await signedIn(service, { role: 'reader' })
    expect(codeOf(await bare.get(`${live}/desk`))).toBe('factor_needed')
  })

  test('every call of the operator has a permit of the operator', () => {
    const others = consoleEndpoints.filter(
      ({ route, permit }) => route.includes('/console/api/operator/') !== permit.startsWith('operator.'),
    )
    expect(others).toEqual([])
  })

  test('a reader reads and runs proofs, a resolver decides, an admin changes settings', async () => {
    const customer_id = await customerIn('production')
    const pages = [
      'overview',
      'partners',
      'desk',
      'proposals',
      'proof',
      'treasury',
      'rails',
      'acts',
      'people',
    ]
    for (const page of [...pages, 'exceptions', `partners/${partner_id}`, `customers/${customer_id}`])
      expect([page, (await rui.get(`${live}/${page}`)).status]).toEqual([page, 200])
    const book = `${live}/customers/${customer_id}/bookings`
    const block = `${live}/customers/${customer_id}`
    expect(codeOf(await rui.post(book, booking()))).toBe('not_permitted')
    expect(codeOf(await bea.patch(block, { status: 'blocked' }))).toBe('not_permitted')
    expect((await bea.post(book, booking())).json.outcome).toBe('proposed')
    expect((await ana.patch(block, { status: 'blocked' })).json).toMatchObject({
      outcome: 'done',
      id: customer_id,
      line: { place: 'production' },
    })
    expect((await ana.get(block)).json.customer.status).toBe('blocked')
    expect((await ana.patch(block, { status: 'active' })).status).toBe(200)
  })

  test('a change needs a fresh proof, a read does not', async () => {
    const late = await signedIn(service, { role: 'admin', factor: true })
    await service.shared.db.query(
      `UPDATE sessions SET proved_at = clock_timestamp() - interval '6 minutes' WHERE user_id = $1`,
      [late.person.user.id],
    )
    expect((await late.get(`${live}/partners`)).status).toBe(200)
    const reply = await late.post(`${live}/partners`, {
      form_id: form_id(),
      name: 'Novo',
      owner_name: 'Nina',
      owner_email: 'nina@novo.example',
    })
    expect(reply.json.error).toMatchObject({ code: 'proof_needed', details: { with: 'code' } })
  })
})

describe('acts that take two', () => {
  test('one operator proposes and cannot approve; another approves, and the act has happened', async () => {
    const customer_id = await customerIn('production')
    const proposed = (await bea.post(`${live}/customers/${customer_id}/bookings`, booking())).json
    expect(proposed).toMatchObject({ outcome: 'proposed', id: null, line: { place: 'production' } })
    const id = proposed.proposal_id
    const seen = await proposalOf(bea, id)
    expect(seen.proposal).toMatchObject({ state: 'open', mine: true, amount: '5000', asset: 'BRL' })
    expect(seen.lines).toMatchObject([{ action: 'propose', by: bea.person.user.email }])
    expect(seen.others.map(({ email }: { email: string }) => email)).toContain(ana.person.user.email)
    expect(seen.others.map(({ email }: { email: string }) => email)).not.toContain(bea.person.user.email)

    const own = await bea.post(`${live}/proposals/${id}/approve`)
    expect(own.status).toBe(403)
    expect(own.json.error).toMatchObject({
      code: 'second_person_needed',
      message: 'A proposal must be approved by another operator than the one who made it.',
    })
    expect(codeOf(await bea.post(`${live}/proposals/${id}/reject`, { reason: 'no' }))).toBe(
      'second_person_needed',
    )
    expect(codeOf(await ana.post(`${live}/proposals/${id}/withdraw`))).toBe('second_person_needed')
    expect((await proposalOf(ana, id)).proposal.state).toBe('open')

    const done = (await ana.post(`${live}/proposals/${id}/approve`)).json
    expect(done).toMatchObject({ outcome: 'done', id: expect.stringMatching(/^dep_/), proposal_id: id })
    const { balances } = (await ana.get(`${live}/customers/${customer_id}`)).json
    expect(balances).toContainEqual(expect.objectContaining({ asset: 'BRL', available: '5000' }))

    const reversal = { reason: 'mistake', reference: `rev-${id}` }
    const back = (await ana.post(`${live}/deposits/${done.id}/reversal`, reversal)).json
    expect((await bea.post(`${live}/proposals/${back.proposal_id}/approve`)).status).toBe(200)
    const twice = await ana.post(`${live}/deposits/${done.id}/reversal`, { ...reversal, reference: 'again' })
    expect(twice.json.error).toMatchObject({ code: 'not_possible' })
  })

  test('an ended proposal cannot be decided again', async () => {
    const customer_id = await customerIn('production')
    const propose = async () =>
      (await bea.post(`${live}/customers/${customer_id}/bookings`, booking())).json.proposal_id
    const rejected = await propose()
    expect((await ana.post(`${live}/proposals/${rejected}/reject`, { reason: 'no such wire' })).status).toBe(
      200,
    )
    const late = await ana.post(`${live}/proposals/${rejected}/approve`)
    expect(late.json.error).toMatchObject({
      code: 'already_final',
      message: expect.stringContaining('no such wire'),
    })
    const withdrawn = await propose()
    expect((await bea.post(`${live}/proposals/${withdrawn}/withdraw`)).status).toBe(200)
    const { data } = (await ana.get(`${live}/proposals`)).json
    const state = (id: string) => data.find((one: { id: string }) => one.id === id).state
    expect([state(rejected), state(withdrawn)]).toEqual(['rejected', 'withdrawn'])
  })

  test('in the sandbox the act is performed at once', async () => {
    const customer_id = await customerIn('sandbox')
    const done = (await bea.post(`${test_world}/customers/${customer_id}/bookings`, booking())).json
    expect(done).toMatchObject({ outcome: 'done', proposal_id: null, line: { place: 'sandbox' } })
    expect(codeOf(await bea.post(`${live}/customers/${customer_id}/bookings`, booking()))).toBe(
      'customer_not_found',
    )
  })

  test('an operator is created by two, one with the password and one with the activation code', async () => {
    const email = 'novo@operator.example'
    const asked = (await ana.post(`${live}/people`, { email, name: 'Novo', role: 'resolver' })).json
    expect(asked).toMatchObject({ outcome: 'proposed', activation_code: expect.any(String) })
    expect(asked.password).toBeUndefined()
    // There are two admins, so a resolver does not decide on people.
    expect(codeOf(await bea.post(`${live}/proposals/${asked.proposal_id}/approve`))).toBe('not_permitted')
    const made = (await eva.post(`${live}/proposals/${asked.proposal_id}/approve`)).json
    expect(made.password).toEqual(expect.any(String))
    expect(made.activation_code).toBeUndefined()
    const { data, by_two } = (await ana.get(`${live}/people`)).json
    expect(by_two).toBe(true)
    const person = data.find((one: { email: string }) => one.email === email)
    expect(person).toMatchObject({ role: 'resolver', second_factor: false })
    expect(JSON.stringify((await proposalOf(ana, asked.proposal_id)).lines)).not.toContain(made.password)

    expect(codeOf(await ana.patch(`${live}/people/usr_nobody`, { role: 'reader' }))).toBe('object_not_found')
    // An impossible act is refused at the approval at the latest, and the proposal stays open.
    const { proposal_id } = (await ana.delete(`${live}/people/${person.id}/factor`)).json
    const refused = await eva.post(`${live}/proposals/${proposal_id}/approve`)
    expect(refused.json.error).toMatchObject({
      code: 'not_possible',
      message: `${email} has no second factor.`,
    })
    expect((await proposalOf(ana, proposal_id)).proposal.state).toBe('open')
  })
})

describe('the desk', () => {
  test('an unknown outcome is proposed by one operator and settled by another', async () => {
    const { id } = await stuckPayout(service, { partner_id })
    const { open } = (await ana.get(`${live}/desk`)).json
    expect(open).toContainEqual(
      expect.objectContaining({ id, rail: 'pix', in_transit: '1890040', proposal: null }),
    )
    expect((await ana.get(`${live}/overview`)).json.desk).toMatchObject({ open: 1, waiting: 0 })
    const resolve = (client: Client, body: object) => client.post(`${live}/desk/${id}/resolution`, body)
    const evidence = 'Settlement statement, line 4118'
    const nameless = await resolve(bea, { paid: true, evidence })
    expect(nameless.json.error).toMatchObject({ code: 'invalid_request', param: 'end_to_end_id' })
    expect(codeOf(await resolve(bea, { paid: true, evidence, end_to_end_id: 'E1' }))).toBe('invalid_request')

    const proposed = (await resolve(bea, { paid: true, evidence, end_to_end_id: E2E })).json
    expect(proposed.outcome).toBe('proposed')
    const second = await resolve(ana, { paid: true, evidence, end_to_end_id: E2E })
    expect(second.json.error).toMatchObject({ code: 'not_possible' })
    const one = (await bea.get(`${live}/desk/${id}`)).json
    expect(one.item.proposal).toMatchObject({
      outcome: 'completed',
      mine: true,
      end_to_end_id: E2E,
      evidence,
    })
    expect(codeOf(await bea.post(`${live}/proposals/${proposed.proposal_id}/approve`))).toBe(
      'second_person_needed',
    )
    expect((await ana.post(`${live}/proposals/${proposed.proposal_id}/approve`)).json.id).toBe(id)

    const after = (await ana.get(`${live}/desk`)).json
    expect(after.open).toEqual([])
    expect(after.resolved[0]).toMatchObject({ id, outcome: 'completed', evidence })
    expect(codeOf(await resolve(bea, { paid: false, evidence }))).toBe('already_final')
  })

  test('an unknown id is not found', async () => {
    const body = { paid: false, evidence: 'x' }
    expect(codeOf(await bea.get(`${live}/desk/po_nothing`))).toBe('payout_not_found')
    expect(codeOf(await bea.post(`${live}/desk/tr_nothing/resolution`, body))).toBe('transfer_not_found')
    for (const path of ['partners/prt_nothing', 'proposals/prop_nothing'])
      expect([path, codeOf(await bea.get(`${live}/${path}`))]).toEqual([path, 'object_not_found'])
    expect(codeOf(await bea.post(`${live}/exceptions/exc_nothing/close`, { reason: 'x' }))).toBe(
      'object_not_found',
    )
    expect(
      codeOf(await bea.post(`${live}/deposits/dep_nothing/reversal`, { reason: 'x', reference: 'y' })),
    ).toBe('deposit_not_found')
  })

  test('an exception is closed once, with a reason', async () => {
    const { db, clock } = service.worlds.production
    const seen = {
      kind: 'contradiction',
      rail: 'pix',
      object_id: 'po_x',
      partner_id,
      details: { booked: 'failed' },
    }
    await recordException(db, clock, seen as never)
    const [exception] = (await rui.get(`${live}/exceptions`)).json.data
    expect(exception).toMatchObject({ kind: 'contradiction', details: { booked: 'failed' } })
    const close = () => bea.post(`${live}/exceptions/${exception.id}/close`, { reason: 'bank confirmed' })
    expect((await close()).json).toMatchObject({ outcome: 'done', id: exception.id })
    expect((await close()).json.error).toMatchObject({ code: 'already_final' })
    expect((await rui.get(`${live}/exceptions`)).json.data).toEqual([])
    expect((await rui.get(`${live}/exceptions?closed=true`)).json.data[0]).toMatchObject({
      closed_by: bea.person.user.email,
      closed_reason: 'bank confirmed',
    })
  })
})

test('the list of operators reads no user of a partner', async () => {
  await makePerson(service, { partner_id, role: 'viewer' })
  const { office, shared } = service
  const found: { partner_id: string | null }[] = []
  const query = async (...asked: [string, unknown[]?]) => {
    const answered = await shared.db.query(...asked)
    found.push(...answered.rows)
    return answered
  }
  const db = Object.assign(Object.create(shared.db), { query })
  const handlers = peopleOfOperatorRoutes({ office: { ...office, shared: { ...shared, db } } } as never)
  const list = handlers.find(({ endpoint }) => endpoint === listOperators)!
  expect(await list.run({} as never)).toMatchObject({ data: expect.any(Array) })
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter((row) => row.partner_id)).toEqual([])
})

describe('one operator alone', () => {
  test("cannot make an owner for a partner that has one, nor reset an owner's second factor", async () => {
    const { partner_id } = await service.partner()
    const owner = await makePerson(service, { partner_id, role: 'owner', factor: true })
    const other = await makePerson(service, { partner_id, role: 'owner', factor: true })
    const viewer = await makePerson(service, { partner_id, role: 'viewer', factor: true })
    const at = `${live}/people`
    const raised = await ana.patch(`${at}/${viewer.user.id}`, { role: 'owner' })
    const taken = [
      await ana.delete(`${at}/${owner.user.id}/factor`),
      await ana.delete(`${at}/${other.user.id}/factor`),
    ]
    for (const { json } of [raised, ...taken]) expect(json).toMatchObject({ outcome: 'proposed' })
    const { name, email, role } = {
      ...viewer.user,
      email: `new-${viewer.user.email}`,
      role: 'owner' as const,
    }
    const { user_id } = { user_id: ana.person.user.id }
    const actor = { kind: 'operator', user_id, email: ana.person.user.email, role: 'admin' } as const
    const made = await act(service.office, actor, {
      name: 'create_user',
      details: { name, email, role, partner_id },
    })
    expect(made).toHaveProperty('proposed')
    // Changes that make no owner still take one operator.
    expect((await ana.patch(`${at}/${viewer.user.id}`, { role: 'developer' })).json.outcome).toBe('done')
    expect((await ana.delete(`${at}/${viewer.user.id}/factor`)).json.outcome).toBe('done')
    const approved = await eva.post(`${live}/proposals/${taken[0]!.json.proposal_id}/approve`)
    expect(approved.status, approved.text).toBe(200)
  })

  test.each(['owner', 'developer', 'viewer'] as const)(
    'gets no password of a partner’s %s, although the user has no second factor',
    async (role) => {
      const { partner_id } = await service.partner()
      await makePerson(service, { partner_id, role: 'owner' })
      const person = await makePerson(service, { partner_id, role })
      const reset = await ana.post(`${live}/people/${person.user.id}/password`)
      expect(reset.json).toMatchObject({ outcome: 'proposed', activation_code: expect.any(String) })
      expect(reset.json).not.toHaveProperty('password')
      const approve = `${live}/proposals/${reset.json.proposal_id}/approve`
      expect((await ana.post(approve)).json.error).toMatchObject({ code: 'second_person_needed' })
      expect((await eva.post(approve)).json).toMatchObject({ outcome: 'done', password: expect.any(String) })
    },
  )

  test('makes an owner for a partner without one', async () => {
    const { partner_id } = await service.partner()
    const viewer = await makePerson(service, { partner_id, role: 'viewer' })
    const raised = await ana.patch(`${live}/people/${viewer.user.id}`, { role: 'owner' })
    expect(raised.json.outcome).toBe('done')
  })
})

describe('partners', () => {
  test('a partner is created with its first owner, who is invited by a link that is shown once', async () => {
    const wanted = { name: 'Lumen', owner_name: 'Lia', owner_email: 'lia@lumen.example' }
    const once = { form_id: form_id(), ...wanted }
    const at_once = await Promise.all([1, 2, 3].map(() => ana.post(`${live}/partners`, once)))
    expect(at_once.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
    const made = at_once.find(({ status }) => status === 201)!.json
    for (const { json } of at_once.filter(({ status }) => status === 409))
      expect(json.error).toMatchObject({ code: 'already_done', details: { id: made.id } })
    expect(made).toMatchObject({
      outcome: 'done',
      link: expect.stringMatching(/\/console\/invite\/[\w-]{43}$/),
    })
    const one = (await rui.get(`${live}/partners/${made.id}`)).json
    expect(one).toMatchObject({
      partner: { name: 'Lumen', tier: 'standard' },
      people: [],
      keys: [],
    })
    const password = 'wheels of seven carts'
    const token = made.link.split('/').at(-1)
    const chosen = await openConsole(service.url).post('/links/use', { token, password })
    expect(chosen.status).toBeLessThan(300)
    expect((await openConsole(service.url).signIn('lia@lumen.example', password)).status).toBe(200)
    const after = (await rui.get(`${live}/partners/${made.id}`)).json
    expect(after.people).toMatchObject([{ email: 'lia@lumen.example', role: 'owner' }])
    const { data } = (await rui.get(`${live}/acts?action=create_partner`)).json
    expect(JSON.stringify(data)).not.toContain(token)
    // A refused form with the same owner leaves nothing behind.
    const again = await ana.post(`${live}/partners`, { form_id: form_id(), ...wanted })
    expect(codeOf(again)).toBe('user_exists')
    const all = (await rui.get(`${live}/partners`)).json.data
    expect(all.filter(({ name }: { name: string }) => name === 'Lumen')).toHaveLength(1)
  })

  test('the keys of a partner are shown with their state', async () => {
    const { sandbox } = service.worlds
    const { key } = await createKey(sandbox, { partner_id, name: 'rotated' })
    await rotateKey(sandbox, key.id, 3600)
    const { keys } = (await rui.get(`${test_world}/partners/${partner_id}`)).json
    const stateOf = (id: string) => keys.find((one: { id: string }) => one.id === id).state
    expect(stateOf(key.id)).toBe('rotating')
    expect(keys.map(({ state }: { state: string }) => state)).toContain('active')
  })

  test('terms and limits are changed, and a log line has both states', async () => {
    const change = { tier: 'growth', pix_fee: 120, partner_fee_share_pct: 30, per_minute: null }
    expect((await ana.patch(`${live}/partners/${partner_id}`, change)).json.line.place).toBe('shared')
    const limits = `${live}/partners/${partner_id}/money-limits`
    expect((await ana.patch(limits, { payout_day: '500000', transfer_day_btc: null })).status).toBe(200)
    expect(codeOf(await ana.patch(limits, {}))).toBe('invalid_request')
    expect(codeOf(await ana.patch(`${live}/partners/${partner_id}`, {}))).toBe('invalid_request')
    expect(codeOf(await ana.patch(`${live}/partners/${partner_id}`, { name: 'Other' }))).toBe(
      'invalid_request',
    )
    expect(codeOf(await ana.patch(`${live}/partners/prt_nothing`, change))).toBe('object_not_found')
    expect((await rui.get(`${live}/partners/${partner_id}`)).json).toMatchObject({
      partner: change,
      money_limits: { payout_day: '500000', transfer_day_btc: null },
    })
    const { money_limits } = (await rui.get(`${test_world}/partners/${partner_id}`)).json
    expect(money_limits.payout_day).toBeNull()
    const { data } = (await rui.get(`${live}/acts?action=change_partner&object=${partner_id}`)).json
    expect(JSON.parse(data[0].before).tier).toBe('standard')
    expect(JSON.parse(data[0].after).tier).toBe('growth')
  })

  test('the customers of a partner are listed page by page', async () => {
    const list = `${live}/partners/${partner_id}/customers`
    const first = (await rui.get(`${list}?limit=1`)).json
    expect(first).toMatchObject({ data: [{ status: 'active' }], has_more: true })
    const next = (await rui.get(`${list}?limit=1&cursor=${encodeURIComponent(first.next_cursor)}`)).json
    expect(next.data[0].id).not.toBe(first.data[0].id)
  })
})

describe('the house', () => {
  test('treasury, rails and prices are shown, limits are set', async () => {
    const limit = (body: object) => ana.patch(`${live}/treasury/BTC`, body)
    expect(codeOf(await limit({ lowest: '5', highest: '-5' }))).toBe('invalid_request')
    expect((await limit({ lowest: '-500', highest: '900' })).status).toBe(200)
    const { positions, limited } = (await rui.get(`${live}/treasury`)).json
    expect(limited).toBe(true)
    expect(positions).toContainEqual(
      expect.objectContaining({ asset: 'BTC', position: '0', lowest: '-500', highest: '900' }),
    )
    const rails = (await rui.get(`${live}/rails`)).json
    expect(rails.rails).toContainEqual(
      expect.objectContaining({ rail: 'pix', configured: false, message: expect.stringContaining('Pix') }),
    )
    const simulated = (await rui.get(`${test_world}/rails`)).json
    expect(simulated.rails.every(({ configured }: { configured: boolean }) => configured)).toBe(true)
    expect(simulated.prices).toContainEqual(expect.objectContaining({ pair: 'USDT/BRL', fresh: true }))
    const fees = { asset: 'BRL', amount: '5', reason: 'x', reference: 'fees-1' }
    expect(codeOf(await bea.post(`${test_world}/partners/${partner_id}/fee-payouts`, fees))).toBe(
      'insufficient_balance',
    )
  })

  test('a rail is paused without a fresh proof, limited by an admin, and resumed by two', async () => {
    const tron = `${live}/rails/tron`
    const state = async () =>
      (await rui.get(`${live}/rails`)).json.rails.find(({ rail }: { rail: string }) => rail === 'tron')
    expect(await state()).toMatchObject({ paused: null, limits: { day_most: null }, asset: 'USDT' })
    expect(codeOf(await rui.post(`${tron}/pause`, { reason: 'odd' }))).toBe('not_permitted')
    const late = await signedIn(service, { role: 'resolver', factor: true })
    await service.shared.db.query(
      `UPDATE sessions SET proved_at = clock_timestamp() - interval '6 minutes' WHERE user_id = $1`,
      [late.person.user.id],
    )
    expect((await late.post(`${tron}/pause`, { reason: 'odd' })).json).toMatchObject({
      outcome: 'done',
      id: 'tron',
    })
    expect(codeOf(await late.post(`${tron}/resume`, { reason: 'seen' }))).toBe('proof_needed')
    const limits = { day_most: '900', gas_floor: '1000000000000000000000', reason: 'new' }
    expect(codeOf(await bea.patch(tron, limits))).toBe('not_permitted')
    expect(codeOf(await ana.patch(tron, { reason: 'nothing' }))).toBe('invalid_request')
    expect((await ana.patch(tron, limits)).json.outcome).toBe('done')
    expect(await state()).toMatchObject({
      paused: { by: late.person.user.email, reason: 'odd' },
      limits: { order_most: null, day_most: '900', floor: null, gas_floor: '1000000000000000000000' },
      exceptions: 1,
    })
    const { proposal_id, outcome } = (await bea.post(`${tron}/resume`, { reason: 'seen' })).json
    expect(outcome).toBe('proposed')
    const { proposal } = await proposalOf(ana, proposal_id)
    expect(proposal).toMatchObject({ action: 'resume_rail', reason: 'seen', amount: null })
    expect(proposal.what).toContain('odd')
    expect(codeOf(await bea.post(`${live}/proposals/${proposal_id}/approve`))).toBe('second_person_needed')
    expect((await ana.post(`${live}/proposals/${proposal_id}/approve`)).json.outcome).toBe('done')
    expect(await state()).toMatchObject({ paused: null, limits: { day_most: '900' }, exceptions: 0 })
    expect(codeOf(await bea.post(`${tron}/resume`, { reason: 'again' }))).toBe('not_possible')
    expect(codeOf(await bea.post(`${live}/rails/visa/pause`, { reason: 'odd' }))).not.toBeUndefined()
  })

  test('the logs of all three places are listed and verified', async () => {
    const { data, heads, next_cursor } = (await rui.get(`${live}/acts`)).json
    expect(new Set(data.map(({ place }: { place: string }) => place))).toEqual(
      new Set(['production', 'sandbox', 'shared']),
    )
    const times = data.map(({ at }: { at: string }) => at)
    expect(times).toEqual([...times].sort().reverse())
    if (next_cursor) {
      const older = (await rui.get(`${live}/acts?cursor=${encodeURIComponent(next_cursor)}`)).json.data
      const keyOf = ({ place, seq }: { place: string; seq: string }) => `${place} ${seq}`
      expect(older.map(keyOf).filter((key: string) => data.map(keyOf).includes(key))).toEqual([])
    }
    const anchors = heads.map(({ place, seq, hash }: Record<string, string>) => `${place}:${seq}:${hash}`)
    expect((await rui.post(`${live}/acts/verify`, { anchors })).json.ok).toBe(true)
    const wrong = { anchors: [`shared:1:${'0'.repeat(64)}`] }
    const broken = (await rui.post(`${live}/acts/verify`, wrong)).json
    expect(broken.ok).toBe(false)
    expect(broken.logs.find(({ place }: { place: string }) => place === 'shared').broken[0].object_id).toBe(
      'line 1 of shared',
    )
    expect(codeOf(await rui.post(`${live}/acts/verify`, { anchors: ['nonsense'] }))).toBe('invalid_request')
  })
})

test('the full audit finds nothing, and a single planted unit is found with its account', async () => {
  const before = await provedAgain(rui)
  expect(before.latest).toMatchObject({ by: rui.person.user.email, found: 0, findings: [] })
  expect(before.latest.checks.length).toBeGreaterThan(12)
  const sum = (sums: Record<string, string>) =>
    Object.values(sums).reduce((all, one) => all + BigInt(one), 0n)
  for (const sums of Object.values<Record<string, string>>(before.latest.sums)) expect(sum(sums)).toBe(0n)

  const { rows } = await service.worlds.production.db.query(
    `SELECT customer_id FROM balances WHERE balance > 0 LIMIT 1`,
  )
  const account = rows[0].customer_id
  const plant = (unit: number) =>
    asAdmin(service.database.url, [
      `BEGIN; SET LOCAL session_replication_role = replica;
       UPDATE live.balances SET balance = balance + ${unit} WHERE customer_id = '${account}' AND asset = 'BRL'; COMMIT`,
    ])
  await plant(1)
  const { latest, earlier } = await provedAgain(rui)
  expect(latest.found).toBeGreaterThan(0)
  expect(latest.findings[0].examples[0].object_id).toBe(account)
  expect(earlier.map(({ found }: { found: number }) => found > 0)).toEqual([true, false])
  await plant(-1)
  expect((await provedAgain(rui)).latest.found).toBe(0)
})

describe('the log', () => {
  test('names the address from which an operator acted, and the hash covers it', async () => {
    const { partner_id } = await service.partner()
    await ana.patch(`${live}/partners/${partner_id}`, { pix_fee: 111 })
    const { data } = (await rui.get(`${live}/acts?object=${partner_id}&action=change_partner`)).json
    expect(JSON.parse(data[0].after)).toMatchObject({ pix_fee: 111, origin: { address: '127.0.0.1' } })
    const signed = (await rui.get(`${live}/acts?object=${ana.person.user.id}&action=sign_in`)).json.data[0]
    expect(JSON.parse(signed.after)).toEqual({ origin: { address: '127.0.0.1' } })
    for (let i = 0; i < 2; i++) expect((await rui.post(`${live}/acts/verify`)).json.ok).toBe(true)
  })

  test('is verified once at a time', async () => {
    let end = () => {}
    const started: number[] = []
    const one = oneAtATime((n: number) => {
      started.push(n)
      return new Promise<number>((resolve) => (end = () => resolve(n)))
    }, 'busy')
    const first = one(1)
    await expect(one(2)).rejects.toThrow('busy')
    end()
    expect(await first).toBe(1)
    const next = one(3)
    end()
    expect(await next).toBe(3)
    expect(started).toEqual([1, 3])
  })
})
