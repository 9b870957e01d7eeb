import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedOf } from '../../../../test/support/code.ts'
import { type ConsoleClient, makePerson, openConsole, signedIn } from '../../../../test/support/console.ts'
import { asAdmin } from '../../../../test/support/database.ts'
import { startTestService, type TestService } from '../../../../test/support/service.ts'
import { act } from '../../../control/operator/act.ts'
import { verifyLog } from '../../../control/operator/verify.ts'
import { transaction } from '../../../db/pool.ts'
import { codeAt, stepAt } from '../../../parties/team/factor.ts'
import { openSession } from '../../../parties/team/sessions.ts'
import { signIn } from '../../../parties/team/sign-in.ts'
import { sensitiveActs } from '../../../records/acts/store.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: '127.0.0.1' })
})
afterAll(() => service.stop())

const admin = (...statements: string[]) => asAdmin(service.database.url, statements)

/** Failures count by address, so each test has addresses of its own. */
let places = 0
const someAddress = () => `198.51.${Math.floor(++places / 250)}.${(places % 250) + 1}`
const browser = (address = someAddress()) => openConsole(service.url, { address })
const enter = (options: Parameters<typeof signedIn>[1]) =>
  signedIn(service, { address: someAddress(), ...options })

async function team() {
  const { partner_id } = await service.partner()
  const owner = await enter({ partner_id, role: 'owner' })
  return { partner_id, owner }
}

let forms = 0
const form_id = () => `form-of-a-test-${++forms}`.padEnd(20, '-')
const codeOf = (reply: { json: any }) => reply.json?.error?.code
const tokenIn = (link: string) => link.split('/').at(-1)!
const GOOD = 'correct horse battery staple'

async function invite(owner: ConsoleClient, email: string, role = 'developer'): Promise<string> {
  const made = await owner.post('/invitations', { form_id: form_id(), email, name: 'Rui Costa', role })
  expect(made.status, made.text).toBe(201)
  return made.json.link
}

describe('signing in', () => {
  test('the cookie is for this host only, and no reply is cached', async () => {
    const { owner } = await team()
    const reply = await browser().signIn(owner.person.user.email, owner.person.password)
    expect(reply.headers.get('set-cookie')).toMatch(
      /^__Host-sid=[A-Za-z0-9_-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    )
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect((await owner.get('/me')).headers.get('cache-control')).toBe('no-store')
  })

  test('a wrong password, an unknown e-mail and a wrong code get the same reply', async () => {
    const { partner_id } = await service.partner()
    const person = await makePerson(service, { partner_id, role: 'viewer', factor: true })
    const wrongs = [
      await browser().signIn(person.user.email, 'wrong'),
      await browser().signIn('nobody@console.example', 'wrong'),
      await browser().signIn(person.user.email, person.password, '000000x'),
    ]
    const { request_id, ...first } = wrongs[0]!.json.error
    expect(first.code).toBe('wrong_credentials')
    for (const { status, json } of wrongs) {
      expect(status).toBe(401)
      const { request_id: _, ...error } = json.error
      expect(error).toEqual(first)
    }
  })

  test('a code works once', async () => {
    const { partner_id } = await service.partner()
    const person = await makePerson(service, { partner_id, role: 'viewer', factor: true })
    const code = person.code()
    const at_once = await Promise.all(
      [browser(), browser(), browser()].map((one) => one.signIn(person.user.email, person.password, code)),
    )
    expect(at_once.map(({ status }) => status).toSorted()).toEqual([200, 401, 401])
  })

  test.each(['known', 'unknown'])(
    'after five failures under a %s e-mail from one address, that address cannot sign in',
    async (kind) => {
      const { owner } = await team()
      const { email } = owner.person.user
      const typed = kind === 'known' ? email : `unknown-${email}`
      const address = someAddress()
      for (let i = 0; i < 5; i++) expect((await browser(address).signIn(typed, 'wrong')).status).toBe(401)
      const blocked = await browser(address).signIn(typed, owner.person.password)
      expect(blocked.status).toBe(429)
      expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(14 * 60)
      expect(blocked.json.error.message).toContain('15 minutes')
      const elsewhere = await browser().signIn(typed, owner.person.password)
      expect(elsewhere.status).toBe(kind === 'known' ? 200 : 401)
    },
  )

  test('twenty failures from many addresses block neither a live session nor a known place', async () => {
    const { partner_id } = await service.partner()
    const address = someAddress()
    const owner = await signedIn(service, { partner_id, role: 'owner', address })
    const { email } = owner.person.user
    for (let i = 0; i < 20; i++) expect((await browser().signIn(email, 'wrong')).status).toBe(401)
    expect((await browser().signIn(email, owner.person.password)).status).toBe(429)
    expect((await owner.post('/session/proof', { password: owner.person.password })).status).toBe(200)
    expect((await browser(address).signIn(email, owner.person.password)).status).toBe(200)
  })

  test.each([
    ['203.0.113.9', '203.0.113.9', '203.0.113.10'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ])('five failures from %s block %s, but not %s', async (address, same, other) => {
    const { owner } = await team()
    const { owner: known } = await team()
    const { email } = owner.person.user
    for (let i = 0; i < 4; i++) await browser(address).signIn(`guess-${i}-${address}@x.example`, 'wrong')
    // A successful sign-in of one user does not clear the failures of others.
    const knownSignsIn = () => browser(address).signIn(known.person.user.email, known.person.password)
    expect((await knownSignsIn()).status).toBe(200)
    await browser(address).signIn(`guess-5-${address}@x.example`, 'wrong')
    expect((await browser(same).signIn(email, owner.person.password)).status).toBe(429)
    expect((await browser(other).signIn(email, owner.person.password)).status).toBe(200)
    expect((await knownSignsIn()).status).toBe(200)
  })

  test('of hundreds of concurrent sign-ins most are told when to retry', async () => {
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, i) => browser(someAddress()).signIn(`many-${i}@x.example`, 'wrong')),
    )
    const refused = replies.filter(({ status }) => status === 429)
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(200 - refused.length)
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers, json } of refused) {
      expect(headers.get('retry-after')).toBe('2')
      expect(json.error).toMatchObject({ code: 'rate_limit_exceeded', details: { retry_after_seconds: 2 } })
    }
  })

  test('an e-mail that looks like an address does not count against that address', async () => {
    const { owner } = await team()
    for (let i = 0; i < 5; i++) await browser().signIn('\u0000203.0.113.77', 'wrong')
    const reply = await browser('203.0.113.77').signIn(owner.person.user.email, owner.person.password)
    expect(reply.status).toBe(200)
  })

  test("a new sign-in gets a new token and ends the browser's previous session", async () => {
    const { owner } = await team()
    const before = owner.cookie
    expect((await owner.signIn(owner.person.user.email, owner.person.password)).status).toBe(200)
    expect(owner.cookie).not.toBe(before)
    expect((await owner.get('/me/sessions')).json.data).toHaveLength(1)
  })

  test("a terminal's token is not valid in the browser", async () => {
    const { user, password } = await makePerson(service, { role: 'reader' })
    const pen = { ...service.shared, sealer: {} as never, note: async () => {} }
    const known = await signIn(pen, { email: user.email, password })
    if (known.outcome !== 'known') throw new Error(known.outcome)
    const reply = await fetch(`${service.url}/console/api/me`, {
      headers: { cookie: `__Host-sid=${known.token}` },
    })
    expect(reply.status).toBe(401)
  })
})

describe('a session', () => {
  test.each([
    ['used', 31],
    ['created', 721],
  ])('that was %s %i minutes ago has ended', async (which, minutes) => {
    const { owner } = await team()
    expect((await owner.get('/me')).status).toBe(200)
    await admin(
      `UPDATE shared.sessions SET ${which}_at = ${which}_at - interval '${minutes} minutes' WHERE user_id = '${owner.person.user.id}'`,
    )
    expect(codeOf(await owner.get('/me'))).toBe('not_signed_in')
  })

  test('is not kept alive by the requests of an unattended page', async () => {
    const { owner } = await team()
    const { id } = owner.person.user
    await admin(
      `UPDATE shared.sessions SET used_at = used_at - interval '29 minutes' WHERE user_id = '${id}'`,
    )
    const used = async () => (await admin(`SELECT used_at FROM shared.sessions WHERE user_id = '${id}'`))[0]
    const before = await used()
    expect((await owner.get('/me', { 'x-unattended': 'true' })).status).toBe(200)
    expect(await used()).toEqual(before)
    expect((await owner.get('/me')).status).toBe(200)
    expect(await used()).not.toEqual(before)
  })

  test("is listed and ended, one or all others, and never another user's", async () => {
    const { owner, partner_id } = await team()
    const other = await enter({ partner_id, role: 'viewer' })
    const { email } = owner.person.user
    const [second, third] = [browser(), browser()]
    for (const one of [second, third]) await one.signIn(email, owner.person.password)
    const { data } = (await owner.get('/me/sessions')).json
    expect(data).toHaveLength(3)
    expect(data.filter((one: any) => one.current)).toHaveLength(1)
    const foreign = (await other.get('/me/sessions')).json.data[0].id
    expect((await owner.delete(`/me/sessions/${foreign}`)).status).toBe(404)
    const [gone] = (await second.get('/me/sessions')).json.data.filter((one: any) => one.current)
    expect((await owner.delete(`/me/sessions/${gone.id}`)).status).toBe(204)
    expect((await second.get('/me')).status).toBe(401)
    expect((await owner.delete('/me/sessions')).json).toEqual({ ended: 1 })
    expect((await third.get('/me')).status).toBe(401)
    expect((await owner.get('/me')).status).toBe(200)
    expect((await other.get('/me')).status).toBe(200)
  })

  test('other than the current one ends with a new password; a weak password is refused', async () => {
    const { owner } = await team()
    const { email } = owner.person.user
    const second = browser()
    await second.signIn(email, owner.person.password)
    const change = (new_password: string, password = owner.person.password) =>
      owner.post('/me/password', { password, new_password })
    for (const bad of ['too short', 'x'.repeat(129), '1qaz2wsx3edc', 'QWERTY123456', email])
      expect((await change(bad)).json.error, bad).toMatchObject({
        code: 'invalid_request',
        param: 'new_password',
      })
    expect((await change(GOOD, 'wrong')).json.error.param).toBe('password')
    expect((await change(GOOD)).status).toBe(204)
    expect((await second.get('/me')).status).toBe(401)
    expect((await owner.get('/me')).status).toBe(200)
    expect((await browser().signIn(email, owner.person.password)).status).toBe(401)
    expect((await browser().signIn(email, GOOD)).status).toBe(200)
  })
})

describe('a fresh proof', () => {
  const unprove = ({ person }: { person: { user: { id: string } } }) =>
    admin(
      `UPDATE shared.sessions SET proved_at = proved_at - interval '5 minutes' WHERE user_id = '${person.user.id}'`,
    )

  test('is needed after five minutes, is the password if there is no factor, and renews the token', async () => {
    const { owner } = await team()
    await unprove(owner)
    const asked = await owner.post('/me/factor')
    expect(asked.json.error).toMatchObject({ code: 'proof_needed', details: { with: 'password' } })
    expect(codeOf(await owner.post('/session/proof', { password: 'wrong' }))).toBe('wrong_credentials')
    expect(codeOf(await owner.post('/session/proof', { code: '123456' }))).toBe('wrong_credentials')
    const before = owner.cookie!
    const proved = await owner.post('/session/proof', { password: owner.person.password })
    expect(proved.json.proved_until).not.toBe(null)
    expect(owner.cookie).not.toBe(before)
    expect((await owner.post('/me/factor')).status).toBe(200)
    const old = await fetch(`${service.url}/console/api/me`, { headers: { cookie: before } })
    expect(old.status).toBe(401)
  })

  test('is a code if there is a factor, and not the password', async () => {
    const { partner_id } = await service.partner()
    const owner = await enter({ partner_id, role: 'owner', factor: true })
    await unprove(owner)
    const asked = await owner.delete('/me/factor')
    expect(asked.json.error).toMatchObject({ code: 'proof_needed', details: { with: 'code' } })
    expect(codeOf(await owner.post('/session/proof', { password: owner.person.password }))).toBe(
      'code_needed',
    )
    expect((await owner.post('/session/proof', { code: owner.person.code() })).status).toBe(200)
    expect((await owner.delete('/me/factor')).status).toBe(204)
  })

  test('is counted by session: a stolen session has five guesses, and blocks no one else', async () => {
    const { owner } = await team()
    for (let i = 0; i < 5; i++) await owner.post('/session/proof', { password: 'wrong' })
    const refused = await owner.post('/session/proof', { password: owner.person.password })
    expect([refused.status, refused.json.error.message]).toEqual([
      429,
      'Too many failures. Try again in 15 minutes.',
    ])
    expect((await browser().signIn(owner.person.user.email, owner.person.password)).status).toBe(200)
  })
})

describe('a second factor', () => {
  test('is begun, confirmed once, shows recovery codes once, and is required from then on', async () => {
    const { owner } = await team()
    const { email } = owner.person.user
    const second = browser()
    await second.signIn(email, owner.person.password)
    const begun = await owner.post('/me/factor')
    expect(begun.json.uri).toContain(`secret=${begun.json.secret}`)
    expect((await owner.post('/me/factor/confirm', { code: '000000' })).json.error.param).toBe('code')
    const seed = seedOf(begun.json.secret)
    const step = stepAt(Date.now() / 1000)
    const code = codeAt(seed, step)
    const before = owner.cookie
    const at_once = await Promise.all([
      owner.post('/me/factor/confirm', { code }),
      owner.post('/me/factor/confirm', { code }),
    ])
    expect(at_once.map(({ status }) => status).toSorted()).not.toEqual([200, 200])
    const confirmed = at_once.find(({ status }) => status === 200)!
    expect(confirmed.json.recovery_codes).toHaveLength(10)
    expect(owner.cookie).not.toBe(before)
    expect((await second.get('/me')).status).toBe(401)
    const [recovery, another] = confirmed.json.recovery_codes
    expect(codeOf(await browser().signIn(email, owner.person.password))).toBe('code_needed')
    expect((await browser().signIn(email, owner.person.password, recovery)).status).toBe(200)
    expect((await browser().signIn(email, owner.person.password, recovery)).status).toBe(401)
    await owner.get('/session')
    expect((await owner.get('/me')).json.factor).toMatchObject({ recovery_codes_left: 9 })
    const renewed = await owner.post('/me/factor/recovery-codes')
    expect(renewed.json.recovery_codes).toHaveLength(10)
    expect((await browser().signIn(email, owner.person.password, another)).status).toBe(401)
    expect(codeOf(await owner.post('/me/factor'))).toBe('factor_exists')
  })
})

describe('a team', () => {
  test('invites: the link is shown once, works once, and gives the invited role', async () => {
    const { owner, partner_id } = await team()
    const email = `rui-${partner_id}@acme.example`
    const form = form_id()
    const wanted = { form_id: form, email: email.toUpperCase(), name: 'Rui Costa', role: 'finance' }
    const made = await owner.post('/invitations', wanted)
    expect(made.json.link).toMatch(/^http.*\/console\/invite\/[A-Za-z0-9_-]{43}$/)
    const again = await owner.post('/invitations', wanted)
    expect(again.json.error).toMatchObject({ code: 'already_done', details: { id: made.json.id } })
    expect(again.text).not.toContain(tokenIn(made.json.link))
    const token = tokenIn(made.json.link)
    const seen = await browser().post('/links/look', { token })
    expect(seen.json).toMatchObject({ kind: 'invitation', email, role: 'finance' })
    expect((await owner.get('/team')).json.invitations).toMatchObject([{ email, role: 'finance' }])
    expect((await browser().post('/links/use', { token, password: 'short' })).json.error.param).toBe(
      'password',
    )
    const uses = await Promise.all(
      [1, 2, 3].map(() => browser().post('/links/use', { token, password: GOOD })),
    )
    expect(uses.map(({ status }) => status).toSorted()).toEqual([200, 404, 404])
    expect(codeOf(await browser().post('/links/look', { token }))).toBe('link_not_valid')
    const rui = browser()
    expect((await rui.signIn(email, GOOD)).json.person).toMatchObject({ role: 'finance', name: 'Rui Costa' })
    expect((await rui.get('/team')).json.people).toHaveLength(2)
    expect(codeOf(await owner.post('/invitations', { ...wanted, form_id: form_id() }))).toBe('user_exists')
  })

  test("an invitation ends after 72 hours, when it is withdrawn or replaced, and when its maker's role changes", async () => {
    const { owner, partner_id } = await team()
    const look = async (link: string) =>
      (await browser().post('/links/look', { token: tokenIn(link) })).status
    const first = await invite(owner, `a-${partner_id}@acme.example`)
    const second = await invite(owner, `a-${partner_id}@acme.example`)
    expect([await look(first), await look(second)]).toEqual([404, 200])
    await admin(
      `UPDATE shared.links SET expires_at = expires_at - interval '72 hours' WHERE partner_id = '${partner_id}'`,
    )
    expect(await look(second)).toBe(404)
    const third = await invite(owner, `b-${partner_id}@acme.example`)
    const [open] = (await owner.get('/team')).json.invitations
    expect((await owner.delete(`/invitations/${open.id}`)).status).toBe(204)
    expect(await look(third)).toBe(404)
    const fourth = await invite(owner, `c-${partner_id}@acme.example`, 'owner')
    const other = await enter({ partner_id, role: 'owner' })
    expect((await other.patch(`/team/${owner.person.user.id}`, { role: 'viewer' })).status).toBe(204)
    expect(await look(fourth)).toBe(404)
  })

  test('a reset invalidates the password at once, and its link sets another, once', async () => {
    const { owner, partner_id } = await team()
    const dev = await enter({ partner_id, role: 'developer' })
    const { id, email } = dev.person.user
    const made = await owner.post('/resets', { form_id: form_id(), user_id: id })
    expect(made.json.link).toMatch(/\/console\/reset\/[A-Za-z0-9_-]{43}$/)
    expect((await dev.get('/me')).status).toBe(401)
    expect((await browser().signIn(email, dev.person.password)).status).toBe(401)
    const token = tokenIn(made.json.link)
    const uses = await Promise.all([1, 2].map(() => browser().post('/links/use', { token, password: GOOD })))
    expect(uses.map(({ status }) => status).toSorted()).toEqual([200, 404])
    expect((await browser().signIn(email, GOOD)).status).toBe(200)
    const own = { form_id: form_id(), user_id: owner.person.user.id }
    expect(codeOf(await owner.post('/resets', own))).toBe('invalid_request')
    const late = await owner.post('/resets', { form_id: form_id(), user_id: id })
    await admin(`UPDATE shared.links SET expires_at = expires_at - interval '1 hour' WHERE user_id = '${id}'`)
    const used = await browser().post('/links/use', { token: tokenIn(late.json.link), password: GOOD })
    expect(used.status).toBe(404)
  })

  test('a changed role ends all sessions of the user at once', async () => {
    const { owner, partner_id } = await team()
    const dev = await enter({ partner_id, role: 'developer' })
    expect((await owner.patch(`/team/${dev.person.user.id}`, { role: 'viewer' })).status).toBe(204)
    expect(codeOf(await dev.get('/me'))).toBe('not_signed_in')
    await dev.signIn(dev.person.user.email, dev.person.password)
    expect((await dev.get('/session')).json.person.role).toBe('viewer')
  })

  test('a removed user cannot sign in and stays in the log, and the e-mail becomes free', async () => {
    const { owner, partner_id } = await team()
    const dev = await enter({ partner_id, role: 'developer', factor: true })
    const { id, email } = dev.person.user
    expect((await owner.delete(`/team/${id}`)).status).toBe(204)
    expect((await dev.get('/me')).status).toBe(401)
    expect((await browser().signIn(email, dev.person.password)).status).toBe(401)
    expect((await owner.get('/team')).json.people).toHaveLength(1)
    expect((await owner.delete(`/team/${id}`)).status).toBe(404)
    const [line] = (await owner.get('/audit')).json.data
    expect(line).toMatchObject({ action: 'remove_user', object_id: id, before: { email }, after: null })
    await invite(owner, email)
  })

  test('the last owner can be neither lowered nor removed, even by concurrent acts', async () => {
    const { owner, partner_id } = await team()
    const { id } = owner.person.user
    expect(codeOf(await owner.patch(`/team/${id}`, { role: 'viewer' }))).toBe('last_owner')
    expect(codeOf(await owner.delete(`/team/${id}`))).toBe('last_owner')
    const other = await enter({ partner_id, role: 'owner' })
    const [one, two] = await Promise.all([
      owner.patch(`/team/${other.person.user.id}`, { role: 'viewer' }),
      other.delete(`/team/${id}`),
    ])
    const done = [one.status, two.status].filter((status) => status === 204)
    expect(done).toHaveLength(1)
    const [row] = await admin(
      `SELECT count(*)::int AS n FROM shared.users WHERE partner_id = '${partner_id}' AND role = 'owner'`,
    )
    expect(row!.n).toBe(1)
  })

  test('another owner resets a factor: the user gets no access to production keys for a day', async () => {
    const { owner, partner_id } = await team()
    const dev = await enter({ partner_id, role: 'developer', factor: true })
    const { id, email } = dev.person.user
    expect(codeOf(await owner.delete(`/team/${owner.person.user.id}/factor`))).toBe('invalid_request')
    expect((await owner.delete(`/team/${id}/factor`)).status).toBe(204)
    expect((await dev.get('/me')).status).toBe(401)
    await dev.signIn(email, dev.person.password)
    expect(new Date((await dev.get('/me')).json.keys_shut_until).getTime()).toBeGreaterThan(
      Date.now() + 23 * 3_600_000,
    )
    const seen = await sensitiveActs(service.shared.db, partner_id)
    expect(seen[0]).toMatchObject({ action: 'reset_factor', object_id: id, object_email: email })
    await admin(
      `UPDATE shared.users SET keys_shut_until = keys_shut_until - interval '24 hours' WHERE id = '${id}'`,
    )
    expect((await dev.get('/me')).json.keys_shut_until).toBe(null)
  })

  test("after a reset of the second factor an owner can change nobody's access for a day", async () => {
    const { owner, partner_id } = await team()
    const reset = await enter({ partner_id, role: 'owner', factor: true })
    const dev = await makePerson(service, { partner_id, role: 'developer', factor: true })
    expect((await owner.delete(`/team/${reset.person.user.id}/factor`)).status).toBe(204)
    await reset.signIn(reset.person.user.email, reset.person.password)
    const until = (await reset.get('/me')).json.keys_shut_until
    const invited = {
      form_id: form_id(),
      email: `again-${partner_id}@x.example`,
      name: 'Me',
      role: 'developer',
    }
    const tried = [
      await reset.post('/invitations', invited),
      await reset.post('/resets', { form_id: form_id(), user_id: dev.user.id }),
      await reset.delete(`/team/${owner.person.user.id}/factor`),
      await reset.delete(`/team/${dev.user.id}/factor`),
      await reset.patch(`/team/${dev.user.id}`, { role: 'owner' }),
      await reset.delete(`/team/${dev.user.id}`),
    ]
    for (const { json } of tried) {
      expect(json.error).toMatchObject({ code: 'not_permitted', details: { until } })
      expect(json.error.message).toContain(until)
    }
    await admin(
      `UPDATE shared.users SET keys_shut_until = keys_shut_until - interval '24 hours' WHERE partner_id = '${partner_id}'`,
    )
    expect((await reset.post('/invitations', invited)).status).toBe(201)
  })

  test('a reset link stops working once there is a newer password, whoever chose it', async () => {
    const { owner, partner_id } = await team()
    const ana = {
      ...(await makePerson(service, { role: 'admin' })).user,
      kind: 'operator',
      role: 'admin',
    } as const
    const by_operator = async (dev: Awaited<ReturnType<typeof makePerson>>) => {
      const actor = { ...ana, user_id: ana.id }
      await act(service.office, actor, { name: 'reset_password', details: { email: dev.user.email } })
    }
    const by_themselves = async (dev: Awaited<ReturnType<typeof makePerson>>) => {
      // The link invalidated the old password, so the test sets another one, as an operator could.
      const { rows } = await service.shared.db.query('SELECT password_hash FROM users WHERE id = $1', [
        owner.person.user.id,
      ])
      await admin(
        `UPDATE shared.users SET password_hash = '${rows[0].password_hash}' WHERE id = '${dev.user.id}'`,
      )
      const own = browser()
      await own.signIn(dev.user.email, owner.person.password)
      const change = { password: owner.person.password, new_password: 'my very own secret' }
      expect((await own.post('/me/password', change)).status).toBe(204)
    }
    for (const renew of [by_operator, by_themselves]) {
      const dev = await makePerson(service, { partner_id, role: 'developer' })
      const made = await owner.post('/resets', { form_id: form_id(), user_id: dev.user.id })
      await renew(dev)
      const used = await browser().post('/links/use', { token: tokenIn(made.json.link), password: GOOD })
      expect(codeOf(used)).toBe('link_not_valid')
      expect((await browser().signIn(dev.user.email, GOOD)).status).toBe(401)
    }
  })

  test.each(['password', 'factor'])(
    'invitations by a user whose %s was reset by another are void',
    async (what) => {
      const { owner, partner_id } = await team()
      const bad = await enter({ partner_id, role: 'owner', factor: true })
      const { id } = bad.person.user
      const token = tokenIn(await invite(bad, `friend-${partner_id}@x.example`, 'owner'))
      const kept = tokenIn(await invite(owner, `kept-${partner_id}@x.example`))
      if (what === 'password') await owner.post('/resets', { form_id: form_id(), user_id: id })
      else await owner.delete(`/team/${id}/factor`)
      expect(codeOf(await browser().post('/links/use', { token, password: GOOD }))).toBe('link_not_valid')
      expect((await browser().post('/links/use', { token: kept, password: GOOD })).status).toBe(200)
    },
  )

  test('an invitation needs an e-mail address, and does not reveal the users of other partners', async () => {
    const { owner } = await team()
    for (const email of ['not an address', 'a\r\nb@x.example', `${'x'.repeat(260)}@a.example`]) {
      const made = await owner.post('/invitations', { form_id: form_id(), email, name: 'N', role: 'viewer' })
      expect(made.json.error, email).toMatchObject({ code: 'invalid_request', param: 'email' })
    }
    const { owner: stranger } = await team()
    const token = tokenIn(await invite(owner, stranger.person.user.email))
    const used = await browser().post('/links/use', { token, password: GOOD })
    expect(codeOf(used)).toBe('link_not_valid')
    expect(used.text).not.toContain(stranger.person.user.email)
    const none = await browser().post('/links/use', { token: 'x'.repeat(43), password: GOOD })
    expect(used.json.error.message).toBe(none.json.error.message)
  })

  test('the factor of an only owner is reset by two operators', async () => {
    const { partner_id } = await service.partner()
    const only = await makePerson(service, { partner_id, role: 'owner', factor: true })
    const operators = [
      await makePerson(service, { role: 'admin' }),
      await makePerson(service, { role: 'admin' }),
    ]
    const [ana, bea] = operators.map(
      ({ user }) => ({ kind: 'operator', user_id: user.id, email: user.email, role: 'admin' }) as const,
    )
    const details = { email: only.user.email }
    const asked = await act(service.office, ana!, { name: 'reset_factor', details })
    if (!('proposed' in asked)) throw new Error('one operator was enough')
    const approve = (who: NonNullable<typeof ana>) =>
      act(service.office, who, { name: 'approve', details: { proposal_id: asked.proposed.id } })
    await expect(approve(ana!)).rejects.toThrow()
    await approve(bea!)
    expect((await browser().signIn(only.user.email, only.password)).status).toBe(200)
    expect(await sensitiveActs(service.shared.db, partner_id)).toMatchObject([
      { action: 'reset_factor', actor_kind: 'operator', object_id: only.user.id },
    ])
  })
})

test('a user has at most twenty sessions: one more ends the oldest', async () => {
  const { partner_id } = await team()
  const first = await enter({ partner_id, role: 'viewer' })
  const { user } = first.person
  const open = (times: number) =>
    transaction(service.shared.db, async (tx) => {
      for (let i = 0; i < times; i++) await openSession(tx, service.shared, user, { address: '198.51.100.9' })
    })
  await open(19)
  expect((await first.get('/me/sessions')).json.data.length).toBe(20)
  await open(1)
  expect((await first.get('/me/sessions')).json.error.code).toBe('not_signed_in')
  await open(30)
  const [kept] = await admin(`SELECT count(*)::int AS n FROM shared.sessions WHERE user_id = '${user.id}'`)
  expect(kept!.n).toBe(20)
})

describe('the log', () => {
  test('shows a partner the acts of its users, page by page, and nothing of others', async () => {
    const { owner, partner_id } = await team()
    const stranger = await team()
    await stranger.owner.patch('/me', { name: 'Somebody Else' })
    await owner.patch('/me', { name: 'Ana Souza', language: 'pt-BR' })
    await invite(owner, `log-${partner_id}@acme.example`)
    const all = (await owner.get('/audit')).json
    expect(all.data.map(({ action }: any) => action)).toEqual(['invite', 'change_profile', 'sign_in'])
    expect(all.data[1]).toMatchObject({
      place: 'shared',
      actor: { id: owner.person.user.id, email: owner.person.user.email },
      before: { language: null },
      after: { name: 'Ana Souza', language: 'pt-BR' },
    })
    expect(all.data[1].session_id).toMatch(/^ses_/)
    expect(all.data[1].address).toMatch(/^198\.51\./)
    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: any = await owner.get(`/audit?limit=1${cursor && `&cursor=${cursor}`}`)
      pages.push(...page.json.data.map(({ action }: any) => action))
      cursor = page.json.next_cursor
    }
    expect(pages).toEqual(['invite', 'change_profile', 'sign_in'])
    const theirs = (await owner.get('/audit?limit=1')).json.next_cursor
    expect((await stranger.owner.get(`/audit?cursor=${theirs}`)).status).toBe(400)
  })

  test('concurrent changes are logged in order: each begins with the state that the previous one left', async () => {
    const { owner } = await team()
    await Promise.all([
      ...Array.from({ length: 4 }, (_, i) => owner.patch('/me', { name: `Name ${i}` })),
      ...(['en', 'pt-BR'] as const).map((language) => owner.patch('/me', { language })),
    ])
    const { data } = (await owner.get('/audit')).json
    const changes = data.filter(({ action }: any) => action === 'change_profile').toReversed()
    expect(changes).toHaveLength(6)
    for (const [i, { before }] of changes.entries()) if (i > 0) expect(before).toEqual(changes[i - 1].after)
  })

  test("a line that was moved to another partner's log is reported", async () => {
    const { owner, partner_id } = await team()
    const other = await team()
    await owner.patch('/me', { name: 'Ana' })
    expect((await verifyLog(service.office, 'shared')).broken).toEqual([])
    const where = `partner_id = '${partner_id}' AND action = 'change_profile'`
    const moves = [`'${other.partner_id}'`, 'NULL']
    for (const to of moves) {
      const [line] = await admin(`SELECT seq FROM shared.acts WHERE ${where}`)
      const change = (value: string) =>
        admin(
          'ALTER TABLE shared.acts DISABLE TRIGGER USER',
          `UPDATE shared.acts SET partner_id = ${value} WHERE seq = ${line!.seq}`,
          'ALTER TABLE shared.acts ENABLE TRIGGER USER',
        )
      await change(to)
      expect((await verifyLog(service.office, 'shared')).broken).toEqual([
        {
          object_id: `line ${line!.seq} of shared`,
          wrong: 'changed: partner_id differs from the partner in "after"',
        },
      ])
      await change(`'${partner_id}'`)
    }
    expect((await verifyLog(service.office, 'shared')).broken).toEqual([])
  })
})

test('the account shows the terms of the partner', async () => {
  const { owner, partner_id } = await team()
  const set = 'endpoint_per_minute = NULL, lookup_per_minute = NULL, per_day = NULL'
  await admin(`UPDATE shared.partners SET ${set} WHERE id = '${partner_id}'`)
  expect((await owner.get('/account')).json).toMatchObject({
    tier: 'standard',
    limits: { per_minute: 10_000_000, per_day: 10_000, lookup_per_minute: 20 },
    own_limits: ['per_minute'],
    endpoint_limits: [
      { endpoint: 'POST /v1/pix/payouts', per_minute: 60 },
      { endpoint: 'GET /v1/pix/payouts/{payout_id}/receipt', per_minute: 60 },
      { endpoint: 'POST /v1/onchain/transfers', per_minute: 30 },
      { endpoint: 'GET /v1/onchain/transfers/{transfer_id}/receipt', per_minute: 60 },
      { endpoint: 'POST /v1/quotes', per_minute: 30 },
    ],
    money_limits: { production: { payout_day: null } },
  })
})
