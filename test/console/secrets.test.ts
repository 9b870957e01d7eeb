import { expect, onTestFinished, test } from 'vitest'
import { codeAt, stepAt } from '../../src/parties/team/factor.ts'
import { seedOf } from '../support/code.ts'
import { makePerson, openConsole } from '../support/console.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { openDirectAccess, spawnServer, testEnv } from '../support/service.ts'

/** Everything in every table of ours, bytes in hex as PostgreSQL writes them. */
async function everything(url: string): Promise<string> {
  const tables = await asAdmin(url, [
    `SELECT table_schema || '.' || quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema IN ('live', 'sandbox', 'shared') AND table_type = 'BASE TABLE'`,
  ])
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await asAdmin(url, [`SELECT string_agg(t::text, ' ') AS text FROM ${name} t`])
      return `${name}: ${row?.text ?? ''}`
    }),
  )
  return texts.join('\n')
}

test('no password, token, seed, code or link is in a table or in the log, however much the log tells', async () => {
  const database = await createDatabase()
  const direct = openDirectAccess(database)
  onTestFinished(direct.stop)
  const server = await spawnServer(testEnv(database.url, { LOG_LEVEL: 'trace' }))
  onTestFinished(() => server.kill('SIGTERM'))
  const { url } = server
  const { partner_id, key } = await direct.partner(url)
  const made = await makePerson({ ...direct, url } as never, { partner_id, role: 'owner' })
  const { email } = made.user
  const secrets: Record<string, string> = { 'a key': key, 'a password that was made': made.password }

  const owner = openConsole(url)
  await owner.signIn(email, 'a wrong password of mine')
  secrets['a wrong password'] = 'a wrong password of mine'
  // Now and then somebody types the password where the e-mail belongs.
  await owner.signIn(made.password, made.password)
  await owner.signIn(email, made.password)
  const keep = (name: string) => {
    secrets[`${name}: token`] = owner.cookie!.split('=')[1]!
    secrets[`${name}: csrf`] = owner.csrf_token!
  }
  keep('signed in')
  const { secret, uri } = (await owner.post('/me/factor')).json
  Object.assign(secrets, { secret, uri, seed: seedOf(secret).toString('hex') })
  const code = codeAt(seedOf(secret), stepAt(Date.now() / 1000))
  const { recovery_codes } = (await owner.post('/me/factor/confirm', { code })).json
  for (const each of recovery_codes) secrets[`recovery ${each}`] = each
  keep('confirmed')
  await owner.get('/session')
  await owner.post('/session/proof', { code: recovery_codes[0] })
  keep('proved')

  const invited = { email: 'rui@acme.example', name: 'Rui', role: 'developer' }
  const invitation = await owner.post('/invitations', { form_id: 'f'.repeat(20), ...invited })
  const invite = invitation.json.link.split('/').at(-1)
  const chosen = 'a password of my own choice'
  await fetch(`${url}/console/invite/${invite}`)
  await openConsole(url).post('/links/look', { token: invite })
  await openConsole(url).post('/links/use', { token: invite, password: chosen })
  const [{ id: user_id }] = (await owner.get('/team')).json.people.filter((one: any) => one.email !== email)
  const reset = (await owner.post('/resets', { form_id: 'g'.repeat(20), user_id })).json.link
    .split('/')
    .at(-1)
  await fetch(`${url}/console/reset/${reset}`)
  await openConsole(url).post('/links/use', { token: `${reset}x`, password: chosen })
  await owner.post('/me/password', { password: made.password, new_password: `${chosen}, another` })
  Object.assign(secrets, { invite, reset, chosen, 'a new password': `${chosen}, another` })
  expect((await owner.get('/session')).json.signed_in).toBe(true)

  const [tables, log] = [await everything(database.url), server.output()]
  expect(tables).toContain('rui@acme.example')
  expect(log).toContain('/console/api/links/use')
  const bytes = (text: string) => Buffer.from(text).toString('hex')
  const found = Object.entries(secrets).flatMap(([name, value]) => [
    ...(tables.includes(value) || tables.includes(bytes(value)) ? [`${name} in a table`] : []),
    ...(log.includes(value) ? [`${name} in the log`] : []),
  ])
  expect(found).toEqual([])
})
