import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePerson, openConsole, signedIn } from '../../../test/support/console.ts'
import { startTestService, type TestService } from '../../../test/support/service.ts'
import { systemClock } from '../../core/clock.ts'
import { transaction } from '../../db/pool.ts'
import type { Caller } from '../../http/shares.ts'
import { VISITS_PER_MINUTE } from '../../limits/tiers.ts'
import { hashToken, openSession } from '../../parties/team/sessions.ts'
import { selectLiveSessions } from '../../parties/team/store.ts'
import { openOrigins } from '../api/origins.ts'
import { openCallQueue } from './call-queue.ts'
import { enter } from './gate.ts'
import { openKnownSessions } from './known-sessions.ts'
import { getSession } from './people/contract.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('a call without a session is refused', async () => {
  const client = openConsole(service.url)
  expect((await client.get('/session')).json).toEqual({ signed_in: false })
  expect((await client.delete('/session')).json.error.code).toBe('not_signed_in')
})

test('a sign-in opens a session, and a sign-out ends it', async () => {
  const { partner_id } = await service.partner()
  const owner = await signedIn(service, { partner_id, role: 'owner' })
  expect((await owner.get('/session')).json).toMatchObject({
    signed_in: true,
    person: { role: 'owner', email: owner.person.user.email },
    partner: { id: partner_id },
    factor: false,
  })
  expect((await owner.delete('/session')).status).toBe(204)
  expect((await owner.get('/session')).json).toEqual({ signed_in: false })
})

test('a user with a second factor is asked for a code', async () => {
  const { partner_id } = await service.partner()
  const client = await signedIn(service, { partner_id, role: 'viewer', factor: true })
  const again = openConsole(service.url)
  const { email } = client.person.user
  expect((await again.signIn(email, client.person.password)).json.error.code).toBe('code_needed')
  expect((await again.signIn(email, 'wrong')).json.error.code).toBe('wrong_credentials')
})

test('another site cannot make a browser change anything', async () => {
  const { partner_id } = await service.partner()
  const owner = await signedIn(service, { partner_id, role: 'owner' })
  const foreign = await owner.delete('/session', {}, { origin: 'https://elsewhere.example' })
  expect(foreign.json.error.code).toBe('cross_site_request')
  const blind = await owner.delete('/session', {}, { 'x-csrf-token': 'guess' })
  expect(blind.json.error.code).toBe('cross_site_request')
  expect((await owner.get('/session')).json.signed_in).toBe(true)
})

/** The gate of a node whose minute does not end. `lookUps` counts the lookups of sessions. */
function openStillGate() {
  const gate = openOrigins({ clock: { ...systemClock(), now: () => 1_800_000_030_000 }, trusted_proxies: [] })
  const { office, worlds, shared } = service
  let lookUps = 0
  const shares = {
    ...office.shares,
    shared: (caller: Caller) => {
      lookUps++
      return office.shares.shared(caller)
    },
  }
  const sessions = openKnownSessions(() => selectLiveSessions(shared.db, 100))
  const writes = { count: async () => gate.windowOf('nobody') }
  const reads = writes
  const options = {
    worlds,
    shares,
    gate,
    public_url: () => service.url,
    calls: openCallQueue(),
    sessions,
    writes,
    reads,
  }
  return {
    lookUps: () => lookUps,
    useUpWindow(address: string) {
      for (let i = 0; i < VISITS_PER_MINUTE; i++) expect(gate.visit(address)).toBe(undefined)
    },
    visitsLeft: (address: string) => gate.visit(address) === undefined,
    come: (address: string, token: string) =>
      enter(
        getSession,
        { method: 'GET', address, headers: { cookie: `__Host-sid=${token}` } } as never,
        options,
      ),
  }
}

const aSession = async (address: string) => {
  const { partner_id } = await service.partner()
  const { user } = await makePerson(service, { partner_id, role: 'viewer' })
  return transaction(service.shared.db, (tx) =>
    openSession(tx, service.shared, user, { address, agent: 'x' }),
  )
}

test('an address past its window causes no query, whatever cookies it sends', async () => {
  const address = '198.51.100.7'
  const gate = openStillGate()
  gate.useUpWindow(address)
  for (let i = 0; i < 40; i++) {
    const coming = gate.come(address, randomBytes(32).toString('base64url'))
    await expect(coming).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  }
  expect(gate.lookUps()).toBe(0)
})

test('the window of an address does not block a live session, even one that another node opened', async () => {
  const address = '198.51.100.8'
  const { token } = await aSession(address)
  const gate = openStillGate()
  gate.useUpWindow(address)
  for (let i = 0; i < 3; i++) expect((await gate.come(address, token)).signed?.token).toBe(token)
  await service.shared.db.query('DELETE FROM sessions WHERE token_hash = $1', [hashToken(token)])
  const refused = { code: 'rate_limit_exceeded' }
  await expect(gate.come(address, token)).rejects.toMatchObject(refused)
  const before = gate.lookUps()
  await expect(gate.come(address, token)).rejects.toMatchObject(refused)
  expect(gate.lookUps()).toBe(before)
})

test('a live session that the node does not know yet does not count against its address', async () => {
  const address = '198.51.100.9'
  const { token } = await aSession(address)
  const gate = openStillGate()
  expect((await gate.come(address, token)).signed?.token).toBe(token)
  gate.useUpWindow(address)
  expect(gate.visitsLeft(address)).toBe(false)
})
