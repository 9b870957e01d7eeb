import { expect, test } from 'vitest'
import { describeConfig, readConfig, renderEnvExample } from './config.ts'
import { settings, settingsIn } from './settings.ts'

test('a rail’s timeout is at most a third of the lease, and its default is lowered to fit', () => {
  expect(readConfig({}).rail_timeout_ms).toBe(5000)
  expect(readConfig({ LEASE_MS: '1500' }).rail_timeout_ms).toBe(500)
  expect(readConfig({ LEASE_MS: '60000' }).rail_timeout_ms).toBe(5000)
  expect(readConfig({ LEASE_MS: '1500', RAIL_TIMEOUT_MS: '400' }).rail_timeout_ms).toBe(400)
  expect(() => readConfig({ LEASE_MS: '1500', RAIL_TIMEOUT_MS: '600' })).toThrow(
    /RAIL_TIMEOUT_MS must be at most a third of LEASE_MS \(500\)/,
  )
})

test('TLS to the database is switched off only by an explicit setting, given once', () => {
  const [DATABASE_URL, SECRET_KEY] = ['postgresql://u:p@db.example.com/trilho', 'ab'.repeat(32)]
  const urlOf = (env: Record<string, string>) => readConfig({ DATABASE_URL, SECRET_KEY, ...env }).database_url
  expect(urlOf({})).toBe(DATABASE_URL)
  expect(urlOf({ DATABASE_TLS: 'off' })).toBe(`${DATABASE_URL}?sslmode=disable`)
  expect(urlOf({ DATABASE_TLS: 'off', DATABASE_URL: `${DATABASE_URL}?a=b` })).toBe(
    `${DATABASE_URL}?a=b&sslmode=disable`,
  )
  for (const env of [
    { DATABASE_TLS: 'no' },
    { DATABASE_TLS: 'off', DATABASE_URL: `${DATABASE_URL}?sslmode=require` },
  ])
    expect(() => urlOf(env)).toThrow(
      /DATABASE_TLS (must be one of verify, off|is off, and DATABASE_URL has an sslmode)/,
    )
})

test('every setting has a unique name, a readable default, and one line in .env.example', () => {
  const declared = settingsIn(settings)
  const names = declared.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(45)
  expect(describeConfig({}).map(({ name }) => name)).toEqual(names)
  const example = renderEnvExample()
  for (const setting of declared) {
    expect(example.split(`# ${setting.name}=`)).toHaveLength(2)
    if (setting.default !== undefined) expect(() => setting.read(setting.default!)).not.toThrow()
  }
})

test('a value that was set is in the configuration, with its source', () => {
  const env = { ROLE: 'worker', WEBHOOK_TIMEOUT_MS: '750', LOG_FORMAT: 'text' }
  expect(readConfig(env)).toMatchObject({ role: 'worker', log_format: 'text', webhooks: { timeout_ms: 750 } })
  expect(readConfig({})).toMatchObject({ role: 'all', log_format: undefined, secret_keys_previous: [] })
  expect(describeConfig(env)).toContainEqual({ name: 'ROLE', value: 'worker', source: 'set' })
  expect(() => readConfig({ ROLE: 'both' })).toThrow(/ROLE must be one of all, api, worker, not "both"/)
})
