import { describe, expect, test } from 'vitest'
import { freeRail } from '../../money/custody/controls-store.ts'
import { DAY_MS, span } from './check.ts'
import { goliveChecks } from './checks.ts'
import type { GoliveFacts, RailFacts } from './facts.ts'
import { blocks, type GoliveLine, judgeGolive } from './report.ts'

const NOW = new Date('2026-11-18T12:00:00Z')
const ago = (ms: number) => new Date(NOW.getTime() - ms)
const MINUTE_MS = 60_000
const unknown = { unknown: 'ECONNREFUSED' }

const polygon: RailFacts = {
  ...{ rail: 'polygon', asset: 'USDT', gas_coin: 'POL' },
  check: { known: null },
  wallet: { known: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' },
  signer: { known: null },
  endpoints: { healthy: 2, all: 2 },
  control: {
    known: {
      ...freeRail('polygon'),
      ...{ order_most: 5n, day_most: 9n, floor: 1_000_000n, gas_floor: 10n ** 18n },
    },
  },
  held: { known: { amount: 900_000_000n, gas: 2n * 10n ** 18n, age_ms: 9000 } },
  reconciled: { known: { difference: 0n, at: ago(4 * MINUTE_MS) } },
  notices: undefined,
  round_trip: { known: { id: 'tr_1', amount: 1_000_000n, at: ago(DAY_MS) } },
}

const pix: RailFacts = {
  ...polygon,
  ...{
    rail: 'pix',
    asset: 'BRL',
    gas_coin: null,
    wallet: undefined,
    signer: undefined,
    endpoints: undefined,
  },
  control: { known: { ...freeRail('pix'), order_most: 5n, day_most: 9n, floor: 100n } },
  held: { known: { amount: 90_000n, gas: 0n, age_ms: 0 } },
  notices: { known: { is_ours: true, host: 'api.example.com' } },
}

const standby = { name: 'db2', state: 'streaming', is_synchronous: true, lag_ms: 3 }
const operator = (email: string, second_factor = true, role: 'admin' | 'reader' = 'admin') => ({
  ...{ email, role, second_factor },
})

/** An installation that may go live. */
const good: GoliveFacts = {
  now: NOW,
  settings: {
    public_url: 'https://api.example.com',
    trusts_proxy: true,
    has_weak_key: false,
    database: 'other_machine',
    has_database_tls: true,
    for_tests: [],
    allows_private_webhooks: false,
    retention_days: { events: 365, deliveries: 30, requests: 30 },
    audit_every_ms: 3_600_000,
    reconcile_every_ms: 300_000,
    has_provider_standby: false,
  },
  public_page: {
    known: { http: 200, is_service: true, certificate: { ends_at: ago(-60 * DAY_MS), problem: null } },
  },
  rails: [pix, polygon],
  unused_rails: ['tron'],
  prices: {
    known: { from: 'exchanges', pairs: [{ pair: 'USDT/BRL', good_sources: 3, is_fresh: true }] },
  },
  operators: { known: [operator('a@x.example'), operator('b@x.example')] },
  demo_left: { known: [] },
  backup: {
    known: {
      created: { until: ago(3 * 3_600_000), source: '/backups/18' },
      verified: { until: ago(2 * DAY_MS), source: '/backups/16' },
    },
  },
  standby: { known: { standbys: [standby] } },
  disks: [{ path: '/data', space: { known: { free: 50_000_000_000n, size: 100_000_000_000n } } }],
  metrics: { known: { http: 200 } },
  prometheus: { known: { http: 200, nodes: 2 } },
  alertmanager: { known: { http: 200 } },
  mail: { known: { is_set_up: true, sent_at: ago(DAY_MS), failed_at: ago(2 * DAY_MS), error: 'old' } },
  audit: { known: { age_ms: 600_000, findings: 0 } },
  exceptions: { known: 0 },
  database_clock: { known: -12 },
  outside_clock: { known: { source: 'api.binance.com', offset_ms: 400, within_ms: 540 } },
}

const withSettings = (settings: Partial<GoliveFacts['settings']>): Partial<GoliveFacts> => ({
  settings: { ...good.settings, ...settings },
})
const withRail = (changed: Partial<RailFacts>, rail = polygon): Partial<GoliveFacts> => ({
  rails: [{ ...rail, ...changed }],
})
const withControl = (changed: object, rail = polygon) =>
  withRail(
    {
      control: {
        known: { ...freeRail(rail.rail), ...('known' in rail.control ? rail.control.known : {}), ...changed },
      },
    },
    rail,
  )
const page = (changed: object) => ({
  public_page: {
    known: {
      ...{ http: 200, is_service: true },
      certificate: { ends_at: ago(-60 * DAY_MS), problem: null },
      ...changed,
    },
  },
})
const space = (free: bigint, size: bigint) => ({
  disks: [{ path: '/data', space: { known: { free, size } } }],
})
const backup = (created?: number, verified?: number) => ({
  backup: {
    known: {
      created: created === undefined ? undefined : { until: ago(created), source: '/b' },
      verified: verified === undefined ? undefined : { until: ago(verified), source: '/b' },
    },
  },
})
const prices = (from: 'exchanges' | 'file' | 'nowhere', good_sources: number, is_fresh: boolean) => ({
  prices: { known: { from, pairs: [{ pair: 'USDT/BRL', good_sources, is_fresh }] } },
})
const mail = (changed: object) => ({
  mail: { known: { is_set_up: true, sent_at: null, failed_at: null, error: null, ...changed } },
})

/** What is changed of the good installation, and what its line says then. */
const table: readonly (readonly [check: string, says: string, changed: Partial<GoliveFacts>])[] = [
  ['public_url', 'ok', {}],
  ['public_url', 'absent', withSettings({ public_url: undefined })],
  ['public_url', 'plain', withSettings({ public_url: 'http://api.example.com' })],
  ['certificate', 'ok', {}],
  ['certificate', 'ok', page({ certificate: { ends_at: ago(-14 * DAY_MS), problem: null } })],
  ['certificate', 'ending', page({ certificate: { ends_at: ago(-14 * DAY_MS + 1), problem: null } })],
  ['certificate', 'untrusted', page({ certificate: { ends_at: ago(-90 * DAY_MS), problem: 'SELF_SIGNED' } })],
  ['certificate', 'none', page({ certificate: undefined })],
  ['certificate', 'unknown', { public_page: unknown }],
  ['public_page', 'ok', {}],
  ['public_page', 'other', page({ is_service: false, http: 502 })],
  ['public_page', 'unknown', { public_page: unknown }],
  ['proxy', 'ok', {}],
  ['proxy', 'absent', withSettings({ trusts_proxy: false })],
  ['secret_key', 'ok', {}],
  ['secret_key', 'weak', withSettings({ has_weak_key: true })],
  ['test_settings', 'ok', {}],
  ['test_settings', 'set', withSettings({ for_tests: ['POLYGON_USDT'] })],
  ['egress', 'ok', {}],
  ['egress', 'open', withSettings({ allows_private_webhooks: true })],
  ['retention', 'ok', withSettings({ retention_days: { events: 30, deliveries: 7, requests: 7 } })],
  ['retention', 'short', withSettings({ retention_days: { events: 29, deliveries: 7, requests: 7 } })],
  ['demo', 'ok', {}],
  ['demo', 'left', { demo_left: { known: ['the user owner@demo.example'] } }],
  ['demo', 'unknown', { demo_left: unknown }],
  ['some_rail', 'ok', {}],
  ['some_rail', 'none', { rails: [] }],
  ['unused_rail', 'unused', {}],
  ['rail_check', 'ok', {}],
  ['rail_check', 'wrong', withRail({ check: { known: 'The chain id is 1.' } })],
  ['rail_check', 'unknown', withRail({ check: unknown })],
  ['rail_endpoints', 'ok', withRail({ endpoints: { healthy: 2, all: 3 } })],
  ['rail_endpoints', 'alone', withRail({ endpoints: { healthy: 1, all: 1 } })],
  ['rail_endpoints', 'ill', withRail({ endpoints: { healthy: 1, all: 2 } })],
  ['rail_signer', 'ok', {}],
  ['rail_signer', 'wrong', withRail({ signer: { known: 'The signer does not answer (ENOENT).' } })],
  ['rail_signer', 'unknown', withRail({ signer: unknown })],
  ['rail_signer', 'unknown', withRail({ wallet: unknown })],
  ['rail_notices', 'ok', withRail({}, pix)],
  ['rail_notices', 'none', withRail({ notices: { known: null } }, pix)],
  [
    'rail_notices',
    'elsewhere',
    withRail({ notices: { known: { is_ours: false, host: 'old.example' } } }, pix),
  ],
  ['rail_notices', 'unknown', withRail({ notices: unknown }, pix)],
  ['rail_open', 'ok', {}],
  ['rail_open', 'paused', withControl({ paused_at: NOW, paused_by: 'service', paused_reason: 'odd' })],
  ['rail_open', 'unknown', withRail({ control: unknown })],
  ['rail_limits', 'ok', {}],
  ['rail_limits', 'ok', withRail({}, pix)],
  ['rail_limits', 'missing', withControl({ gas_floor: null })],
  ['rail_limits', 'missing', withControl({ day_most: null }, pix)],
  ['rail_limits', 'unknown', withRail({ control: unknown })],
  ['rail_holdings', 'ok', {}],
  ['rail_holdings', 'low', withRail({ held: { known: { amount: 1_000_000n, gas: 1n, age_ms: 0 } } })],
  ['rail_holdings', 'old', withRail({ held: { known: { amount: 9n, gas: 1n, age_ms: 61_000 } } })],
  ['rail_holdings', 'old', withRail({ held: { known: { amount: 9n, gas: 1n, age_ms: null } } })],
  ['rail_holdings', 'none', withRail({ held: { known: undefined } })],
  ['rail_holdings', 'unknown', withRail({ held: unknown })],
  ['rail_gas', 'ok', {}],
  ['rail_gas', 'low', withRail({ held: { known: { amount: 9n, gas: 10n ** 18n, age_ms: 0 } } })],
  ['rail_gas', 'none', withRail({ held: { known: undefined } })],
  ['rail_gas', 'unknown', withRail({ held: unknown })],
  ['rail_reconciled', 'ok', withRail({ reconciled: { known: { difference: 0n, at: ago(30 * MINUTE_MS) } } })],
  [
    'rail_reconciled',
    'old',
    withRail({ reconciled: { known: { difference: 0n, at: ago(31 * MINUTE_MS) } } }),
  ],
  ['rail_reconciled', 'differs', withRail({ reconciled: { known: { difference: -1n, at: NOW } } })],
  ['rail_reconciled', 'none', withRail({ reconciled: { known: undefined } })],
  ['rail_reconciled', 'unknown', withRail({ reconciled: unknown })],
  ['prices', 'ok', {}],
  ['prices', 'few', prices('exchanges', 1, true)],
  ['prices', 'few', prices('exchanges', 3, false)],
  ['prices', 'file', prices('file', 0, true)],
  ['prices', 'old', prices('file', 0, false)],
  ['prices', 'nowhere', prices('nowhere', 0, false)],
  ['prices', 'unknown', { prices: unknown }],
  ['round_trip', 'ok', {}],
  ['round_trip', 'none', withRail({ round_trip: { known: undefined } })],
  ['round_trip', 'none', withRail({ round_trip: { known: undefined } }, pix)],
  [
    'round_trip',
    'old',
    withRail({ round_trip: { known: { id: 'tr_1', amount: 1n, at: ago(31 * DAY_MS) } } }),
  ],
  ['round_trip', 'unknown', withRail({ round_trip: unknown })],
  ['two_operators', 'ok', {}],
  ['two_operators', 'few', { operators: { known: [operator('a@x'), operator('b@x', false)] } }],
  ['two_operators', 'few', { operators: { known: [operator('a@x'), operator('b@x', true, 'reader')] } }],
  ['two_operators', 'unknown', { operators: unknown }],
  ['second_factors', 'ok', {}],
  ['second_factors', 'none', { operators: { known: [] } }],
  ['second_factors', 'missing', { operators: { known: [operator('c@x', false, 'reader')] } }],
  ['second_factors', 'unknown', { operators: unknown }],
  ['backup', 'ok', backup(DAY_MS)],
  ['backup', 'old', backup(DAY_MS + 1)],
  ['backup', 'none', backup()],
  ['backup', 'unknown', { backup: unknown }],
  ['backup_verified', 'ok', backup(0, 7 * DAY_MS)],
  ['backup_verified', 'old', backup(0, 7 * DAY_MS + 1)],
  ['backup_verified', 'none', backup(0)],
  ['backup_verified', 'unknown', { backup: unknown }],
  ['standby', 'ok', {}],
  ['standby', 'provider', { ...withSettings({ has_provider_standby: true }), standby: unknown }],
  ['standby', 'embedded', withSettings({ database: 'embedded', has_provider_standby: true })],
  ['standby', 'none', { standby: { known: { standbys: [] } } }],
  ['standby', 'none', { standby: { known: { standbys: [{ ...standby, state: 'startup' }] } } }],
  ['standby', 'asynchronous', { standby: { known: { standbys: [{ ...standby, is_synchronous: false }] } } }],
  ['standby', 'behind', { standby: { known: { standbys: [{ ...standby, lag_ms: 10_001 }] } } }],
  ['standby', 'hidden', { standby: { known: { standbys: [{ ...standby, state: null }] } } }],
  ['standby', 'unknown', { standby: unknown }],
  ['database_tls', 'ok', {}],
  ['database_tls', 'near', withSettings({ database: 'same_machine', has_database_tls: false })],
  ['database_tls', 'off', withSettings({ has_database_tls: false })],
  ['disk', 'ok', space(2_000_000_000n, 20_000_000_000n)],
  ['disk', 'full', space(1_999_999_999n, 4_000_000_000n)],
  ['disk', 'full', space(9_000_000_000n, 100_000_000_000n)],
  ['disk', 'unknown', { disks: [{ path: '/data', space: unknown }] }],
  ['metrics', 'ok', {}],
  ['metrics', 'absent', { metrics: undefined }],
  ['metrics', 'refused', { metrics: { known: { http: 401 } } }],
  ['metrics', 'unknown', { metrics: unknown }],
  ['prometheus', 'ok', {}],
  ['prometheus', 'absent', { prometheus: undefined }],
  ['prometheus', 'refused', { prometheus: { known: { http: 503, nodes: 0 } } }],
  ['prometheus', 'blind', { prometheus: { known: { http: 200, nodes: 0 } } }],
  ['prometheus', 'unknown', { prometheus: unknown }],
  ['alertmanager', 'ok', {}],
  ['alertmanager', 'absent', { alertmanager: undefined }],
  ['alertmanager', 'refused', { alertmanager: { known: { http: 503 } } }],
  ['alertmanager', 'unknown', { alertmanager: unknown }],
  ['mail', 'ok', {}],
  ['mail', 'absent', mail({ is_set_up: false })],
  ['mail', 'untried', mail({})],
  ['mail', 'failing', mail({ failed_at: NOW, error: '550 no such mailbox' })],
  ['mail', 'failing', mail({ sent_at: ago(1), failed_at: NOW, error: '550' })],
  ['mail', 'unknown', { mail: unknown }],
  ['audit', 'ok', { audit: { known: { age_ms: 21_600_000, findings: 0 } } }],
  ['audit', 'old', { audit: { known: { age_ms: 21_600_001, findings: 0 } } }],
  ['audit', 'none', { audit: { known: { age_ms: null, findings: 0 } } }],
  ['audit', 'found', { audit: { known: { age_ms: null, findings: 1 } } }],
  ['audit', 'unknown', { audit: unknown }],
  ['exceptions', 'ok', {}],
  ['exceptions', 'open', { exceptions: { known: 3 } }],
  ['exceptions', 'unknown', { exceptions: unknown }],
  ['database_clock', 'ok', { database_clock: { known: -500 } }],
  ['database_clock', 'off', { database_clock: { known: -501 } }],
  ['database_clock', 'unknown', { database_clock: unknown }],
  ['outside_clock', 'ok', { outside_clock: { known: { source: 'x', offset_ms: -2500, within_ms: 500 } } }],
  ['outside_clock', 'off', { outside_clock: { known: { source: 'x', offset_ms: -2501, within_ms: 500 } } }],
  ['outside_clock', 'unasked', { outside_clock: undefined }],
  ['outside_clock', 'unknown', { outside_clock: unknown }],
]

const judged = (changed: Partial<GoliveFacts>) => judgeGolive({ ...good, ...changed })
const linesOf = (name: string, lines: readonly GoliveLine[]) => lines.filter(({ check }) => check === name)

test('an installation in which everything is right may go live', () => {
  const { is_ready, lines, at } = judged({})
  expect(lines.filter(blocks)).toEqual([])
  expect([is_ready, at]).toEqual([true, NOW])
})

test.each(table)('%s says %s', (name, says, changed) => {
  const { lines, is_ready } = judged(changed)
  const own = linesOf(name, lines)
  expect(own.map((line) => line.says)).toContain(says)
  if (own.some(blocks)) expect(is_ready).toBe(false)
})

describe('the table of checks', () => {
  test('every sentence of every check is tried above', () => {
    const tried = new Set(table.map(([name, says]) => `${name} ${says}`))
    const all = goliveChecks.flatMap(({ name, says }) => Object.keys(says).map((one) => `${name} ${one}`))
    expect(all.filter((one) => !tried.has(one))).toEqual([])
  })

  test('every red line says what to do, and no sentence has a gap', () => {
    for (const [, , changed] of table)
      for (const line of judged(changed).lines) {
        if (blocks(line)) expect(line.to_do, line.check).toMatch(/\w/)
        for (const text of [line.found, line.to_do ?? '', ...line.commands])
          expect(text, line.check).not.toMatch(/[{}]|undefined|NaN/)
      }
  })

  test('what is not known is never good', () => {
    const sayings = goliveChecks.flatMap(({ says }) => Object.entries(says))
    for (const [name, { state }] of sayings) if (name === 'unknown') expect(state).toBe('unknown')
    expect(judged({ operators: unknown }).is_ready).toBe(false)
  })

  test('names are unique', () => {
    const names = goliveChecks.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

test('a payment on each rail is told with the commands that make it', () => {
  const { lines } = judged({
    rails: [
      { ...pix, round_trip: { known: undefined } },
      { ...polygon, round_trip: { known: undefined } },
    ],
  })
  const [of_pix, of_polygon] = linesOf('round_trip', lines)
  expect(of_pix!.commands.at(-1)).toBe(
    'TRILHO_KEY=KEY trilho payouts create --customer CUSTOMER --amount 1.00 --to YOUR_PIX_KEY --idempotency-key golive-pix',
  )
  expect(of_polygon!.commands.at(-1)).toBe(
    'TRILHO_KEY=KEY trilho transfers create --customer CUSTOMER --asset USDT --network polygon --amount 1.00 --to YOUR_ADDRESS --idempotency-key golive-polygon',
  )
})

test('a length of time is short', () => {
  expect([3, 1500, 300_000, 7_200_001, 3 * DAY_MS].map(span)).toEqual(['3 ms', '2 s', '5 min', '2 h', '3 d'])
})
