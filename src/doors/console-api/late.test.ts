import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedOf } from '../../../test/support/code.ts'
import { openConsole, signedIn } from '../../../test/support/console.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { codeAt, stepAt } from '../../parties/team/factor.ts'

/** A client sends the headers first. A session or proof that ends before the body arrives does not count. */
let service: TestService
let partner_id: string
beforeAll(async () => {
  // Long enough for what happens between the headers and the body, also where a busy machine stops meanwhile.
  service = await startTestService({ PIX_WAIT_MS: '10000' })
  ;({ partner_id } = await service.partner())
})
afterAll(() => service.stop())

type Client = Awaited<ReturnType<typeof signedIn>>

const admin = (...statements: string[]) => asAdmin(service.database.url, statements)
let forms = 0
const form_id = () => `form-of-late-body-${++forms}`.padEnd(20, '-')

/** The gate touches the session: from then on the call waits only for the body. */
async function letIn({ person }: Client): Promise<void> {
  const touched = `SELECT FROM shared.sessions WHERE user_id = '${person.user.id}' AND used_at > now() - interval '1 minute'`
  while ((await admin(touched)).length === 0) await sleep(10)
}

/** Returns the status line of the reply. */
async function late(
  client: Client,
  [method, path, body]: readonly [string, string, object?],
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  const text = JSON.stringify(body ?? {})
  await admin(
    `UPDATE shared.sessions SET used_at = used_at - interval '2 minutes' WHERE user_id = '${client.person.user.id}'`,
  )
  const { hostname, port, origin } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (data) => (answer += data))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const headers = {
    host: 'x',
    origin,
    'content-type': 'application/json',
    cookie: client.cookie,
    'x-csrf-token': client.csrf_token,
    'content-length': text.length,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${method} /console/api${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  await letIn(client)
  await meanwhile()
  socket.write(text)
  await closed
  return answer.split('\r\n')[0]!
}

const REFUSED = 'HTTP/1.1 401 Unauthorized'

/** The user's own browser ends all other sessions. */
async function endOthers({ person }: Client) {
  const own = openConsole(service.url)
  expect((await own.signIn(person.user.email, person.password, person.code() || undefined)).status).toBe(200)
  expect((await own.delete('/me/sessions')).json).toEqual({ ended: 1 })
  return own
}

describe('a call whose session ended before its body arrived changes nothing of its user', () => {
  test('the second factor is not removed', async () => {
    const thief = await signedIn(service, { partner_id, role: 'developer', factor: true })
    let own = openConsole(service.url)
    const answer = await late(thief, ['DELETE', '/me/factor'], async () => (own = await endOthers(thief)))
    expect(answer).toBe(REFUSED)
    expect((await own.get('/me')).json.factor).not.toBe(null)
  })

  test('no recovery codes are shown', async () => {
    const thief = await signedIn(service, { partner_id, role: 'owner', factor: true })
    const other = await signedIn(service, { partner_id, role: 'owner' })
    const answer = await late(thief, ['POST', '/me/factor/recovery-codes'], () =>
      other.post('/resets', { form_id: form_id(), user_id: thief.person.user.id }),
    )
    expect(answer).toBe(REFUSED)
  })

  test('no second factor is begun or confirmed', async () => {
    const thief = await signedIn(service, { partner_id, role: 'developer' })
    expect(await late(thief, ['POST', '/me/factor'], () => endOthers(thief))).toBe(REFUSED)
    const again = await signedIn(service, { partner_id, role: 'developer' })
    const seed = seedOf((await again.post('/me/factor')).json.secret)
    let own = openConsole(service.url)
    const code = codeAt(seed, stepAt(Date.now() / 1000))
    const answer = await late(
      again,
      ['POST', '/me/factor/confirm', { code }],
      async () => (own = await endOthers(again)),
    )
    expect(answer).toBe(REFUSED)
    expect((await own.get('/me')).json.factor).toBe(null)
  })

  test('neither password nor name is changed, and no other session is ended', async () => {
    const thief = await signedIn(service, { partner_id, role: 'developer' })
    const { email } = thief.person.user
    const { password } = thief.person
    const change = { password, new_password: 'the thief chooses this' }
    let own = openConsole(service.url)
    const meanwhile = async () => (own = await endOthers(thief))
    expect(await late(thief, ['POST', '/me/password', change], meanwhile)).toBe(REFUSED)
    expect((await own.get('/me')).status).toBe(200)
    for (const asked of [
      ['PATCH', '/me', { name: 'Thief' }],
      ['DELETE', '/me/sessions'],
    ] as const) {
      const next = Object.assign(openConsole(service.url), { person: thief.person })
      await next.signIn(email, password)
      expect(await late(next, asked, () => own.delete('/me/sessions'))).toBe(REFUSED)
    }
    expect((await own.get('/me')).json.name).toBe(thief.person.user.name)
  })

  test('no sandbox money is deposited or moved', async () => {
    const owner = await signedIn(service, { partner_id, role: 'owner' })
    const made = { form_id: form_id(), name: 'Rita Lima', document: someCpf() }
    const { id } = (await owner.post('/sandbox/customers', made)).json
    const deposit = { form_id: form_id(), asset: 'BRL', amount: '777' }
    const play = { customer_id: id, from_asset: 'BRL', to_asset: 'USDT', amount: '50000' }
    for (const asked of [
      ['POST', `/sandbox/customers/${id}/deposits`, deposit],
      ['POST', '/sandbox/playground/quotes', play],
    ] as const) {
      const dev = await signedIn(service, { partner_id, role: 'developer' })
      expect(await late(dev, asked, () => owner.delete(`/team/${dev.person.user.id}`))).toBe(REFUSED)
    }
    const { balances } = (await owner.get(`/sandbox/customers/${id}`)).json
    expect(balances.map((balance: { total: string }) => balance.total)).toEqual(['0', '0', '0'])
  })
})

describe('a proof that expired before the body arrived does not count', () => {
  const unprove = ({ person }: Client) =>
    admin(
      `UPDATE shared.sessions SET proved_at = proved_at - interval '5 minutes' WHERE user_id = '${person.user.id}'`,
    )
  const FORBIDDEN = 'HTTP/1.1 403 Forbidden'

  test('for a key of production', async () => {
    const dev = await signedIn(service, { partner_id, role: 'developer', factor: true })
    const wanted = { form_id: form_id(), name: 'late', scopes: ['read'], ip_allowlist: [] }
    expect(await late(dev, ['POST', '/production/keys', wanted], () => unprove(dev))).toBe(FORBIDDEN)
    expect((await dev.get('/production/keys')).json.data).toEqual([])
  })

  test("for the user's own second factor", async () => {
    const dev = await signedIn(service, { partner_id, role: 'developer', factor: true })
    expect(await late(dev, ['DELETE', '/me/factor'], () => unprove(dev))).toBe(FORBIDDEN)
    expect((await dev.get('/me')).json.factor).not.toBe(null)
  })

  test('for an act of an operator', async () => {
    const ana = await signedIn(service, { role: 'admin', factor: true })
    const path = `/operator/production/partners/${partner_id}`
    expect(await late(ana, ['PATCH', path, { tier: 'enterprise' }], () => unprove(ana))).toBe(FORBIDDEN)
    expect((await ana.get(path)).json.partner.tier).not.toBe('enterprise')
    await ana.post('/session/proof', { code: ana.person.code() })
    expect((await ana.patch(path, { tier: 'enterprise' })).status).toBe(200)
  })
})
