import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConsole, signedIn } from '../../test/support/console.ts'
import { startTestService, type TestService } from '../../test/support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('who is nobody is told so', async () => {
  const client = openConsole(service.url)
  expect((await client.get('/session')).json).toEqual({ signed_in: false })
  expect((await client.delete('/session')).json.error.code).toBe('not_signed_in')
})

test('who signs in has a session that ends when they sign out', async () => {
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

test('a second factor is asked for', async () => {
  const { partner_id } = await service.partner()
  const client = await signedIn(service, { partner_id, role: 'viewer', factor: true })
  const again = openConsole(service.url)
  const { email } = client.person.user
  expect((await again.signIn(email, client.person.password)).json.error.code).toBe('code_needed')
  expect((await again.signIn(email, 'wrong')).json.error.code).toBe('wrong_credentials')
})

test('another page cannot make a browser change anything', async () => {
  const { partner_id } = await service.partner()
  const owner = await signedIn(service, { partner_id, role: 'owner' })
  const foreign = await owner.delete('/session', {}, { origin: 'https://elsewhere.example' })
  expect(foreign.json.error.code).toBe('cross_site_request')
  const blind = await owner.delete('/session', {}, { 'x-csrf-token': 'guess' })
  expect(blind.json.error.code).toBe('cross_site_request')
  expect((await owner.get('/session')).json.signed_in).toBe(true)
})
