import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConsole, signedIn } from '../../../test/support/console.ts'
import { startTestService, type TestService } from '../../../test/support/service.ts'
import { roomInMinute } from '../../../test/support/wait.ts'
import { SIGN_INS_PER_MINUTE } from './people/sign-ins.ts'

const PER_MINUTE = 5
const READS_PER_MINUTE = 20

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    AUDIT_EVERY_MS: '0',
    CONSOLE_WRITES_PER_MINUTE: String(PER_MINUTE),
    CONSOLE_WRITES_PER_DAY: '12',
    CONSOLE_READS_PER_MINUTE: String(READS_PER_MINUTE),
  })
})
afterAll(() => service.stop())

const linesOf = async (user_id: string): Promise<number> => {
  const { rows } = await service.shared.db.query(
    `SELECT FROM acts WHERE actor_id = $1 AND action = 'change_profile'`,
    [user_id],
  )
  return rows.length
}

test('a user beyond the changes per minute is refused without a log line, and can still sign out', async () => {
  const { partner_id } = await service.partner()
  const viewer = await signedIn(service, { partner_id, role: 'viewer' })
  await roomInMinute(30)
  const before = await linesOf(viewer.person.user.id)
  for (let left = PER_MINUTE - 1; left >= 0; left--) {
    const { status, headers } = await viewer.patch('/me', { name: `Name ${left}` })
    expect([status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
      200,
      String(PER_MINUTE),
      String(left),
    ])
  }
  const refused = await viewer.patch('/me', { name: 'One more' })
  expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limit_exceeded'])
  expect(refused.json.error.details).toMatchObject({ window: 'minute', limit: PER_MINUTE })
  expect(Number(refused.headers.get('retry-after'))).toBe(refused.json.error.details.retry_after_seconds)
  expect(await linesOf(viewer.person.user.id)).toBe(before + PER_MINUTE)
  expect((await viewer.get('/me')).status).toBe(200)
  expect((await viewer.delete('/session')).status).toBe(204)
})

test('exports count as changes, because each writes a log line', async () => {
  const { partner_id } = await service.partner()
  const finance = await signedIn(service, { partner_id, role: 'finance' })
  await roomInMinute(30)
  const replies = []
  for (let i = 0; i <= PER_MINUTE; i++) replies.push(await finance.get('/sandbox/customers.csv'))
  expect(replies.map(({ status }) => status)).toEqual([...replies.slice(1).map(() => 200), 429])
})

test('users of a partner share a window, and use up nothing of other partners or operators', async () => {
  const { partner_id } = await service.partner()
  const team: Awaited<ReturnType<typeof signedIn>>[] = []
  while (team.length < 6) team.push(await signedIn(service, { partner_id, role: 'viewer' }))
  const other = await signedIn(service, { partner_id: (await service.partner()).partner_id, role: 'viewer' })
  const operator = await signedIn(service, { role: 'reader', factor: true })
  await roomInMinute(30)
  for (const person of team.slice(0, 5))
    for (let i = 0; i < PER_MINUTE; i++)
      expect((await person.patch('/me', { name: `N ${i}` })).status).toBe(200)
  const refused = await team[5]!.patch('/me', { name: 'One more' })
  expect([refused.status, refused.json.error.details.limit]).toEqual([429, 5 * PER_MINUTE])
  expect((await other.patch('/me', { name: 'Other' })).status).toBe(200)
  expect((await operator.patch('/me', { language: 'en' })).status).toBe(200)
})

/** Reads until a call is refused, at most `most` times, and returns the last reply. */
async function readUntilRefused(client: Awaited<ReturnType<typeof signedIn>>, most: number) {
  let reply = await client.get('/sandbox/customers')
  for (let i = 1; i < most && reply.status === 200; i++) reply = await client.get('/sandbox/customers')
  return reply
}

test('a user beyond the reads per minute is told to wait, and can still change and sign out', async () => {
  const { partner_id } = await service.partner()
  const viewer = await signedIn(service, { partner_id, role: 'viewer' })
  const colleague = await signedIn(service, { partner_id, role: 'viewer' })
  await roomInMinute(30)
  const refused = await readUntilRefused(viewer, READS_PER_MINUTE + 1)
  expect([refused.status, refused.json.error?.code]).toEqual([429, 'rate_limit_exceeded'])
  const { details } = refused.json.error
  expect(details).toMatchObject({ window: 'minute', limit: READS_PER_MINUTE })
  expect(Number(refused.headers.get('retry-after'))).toBe(details.retry_after_seconds)
  expect((await viewer.get('/sandbox/overview')).status).toBe(429)
  expect((await colleague.get('/sandbox/customers')).status).toBe(200)
  const stream = await fetch(`${service.url}/console/api/sandbox/stream`, {
    headers: { cookie: viewer.cookie! },
  })
  expect(stream.status).toBe(200)
  await stream.body!.cancel()
  expect((await viewer.patch('/me', { name: 'Still here' })).status).toBe(200)
  expect((await viewer.delete('/session')).status).toBe(204)
})

test('users of a partner share a window of reads; an operator and other partners have their own', async () => {
  const { partner_id } = await service.partner()
  const team: Awaited<ReturnType<typeof signedIn>>[] = []
  while (team.length < 5) team.push(await signedIn(service, { partner_id, role: 'viewer' }))
  const other = await signedIn(service, { partner_id: (await service.partner()).partner_id, role: 'viewer' })
  const operator = await signedIn(service, { role: 'reader', factor: true })
  await roomInMinute(40)
  await Promise.all(team.slice(0, 4).map((person) => readUntilRefused(person, READS_PER_MINUTE)))
  const refused = await team[4]!.get('/sandbox/customers')
  expect([refused.status, refused.json.error?.details.limit]).toEqual([429, 4 * READS_PER_MINUTE])
  expect((await other.get('/sandbox/customers')).status).toBe(200)
  expect((await operator.get('/operator/sandbox/overview')).status).toBe(200)
})

test('a user beyond the sign-ins per minute is told to wait', async () => {
  const { partner_id } = await service.partner()
  const viewer = await signedIn(service, { partner_id, role: 'viewer' })
  const { user, password } = viewer.person
  const signIn = () => openConsole(service.url).signIn(user.email, password)
  let reply = await signIn()
  // A new minute may begin meanwhile.
  for (let tries = 1; tries < 5 * SIGN_INS_PER_MINUTE && reply.status === 200; tries++) reply = await signIn()
  expect([reply.status, reply.json.error?.details]).toMatchObject([429, { limit: SIGN_INS_PER_MINUTE }])
  expect((await viewer.get('/session')).status).toBe(200)
  expect((await signedIn(service, { partner_id, role: 'viewer' })).cookie).toBeDefined()
})
