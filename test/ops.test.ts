import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { pauseRail, resumeRail } from '../src/money/custody/controls.ts'
import { version } from '../src/node/version.ts'
import type { Api } from './support/api.ts'
import { asAdmin, createDatabase } from './support/database.ts'
import { expectIntact } from './support/intact.ts'
import { scrape as scrapeNode } from './support/metrics.ts'
import { startNode } from './support/node.ts'
import { someCpf, startTestService, type TestService } from './support/service.ts'
import { openSilencingProxy } from './support/silencing-proxy.ts'
import { eventually, until } from './support/wait.ts'

/** What a team watches: the figures, the dashboard and the alert rules of deploy/, and the guide they lead to. */
let service: TestService
let api: Api
beforeAll(async () => {
  service = await startTestService({ PIX_WAIT_MS: '200' })
  ;({ api } = await service.partner())
})
afterAll(() => service.stop())

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const dashboard = JSON.parse(read('deploy/grafana/trilho.json'))
const rules: any[] = parse(read('deploy/prometheus/alerts.yaml')).groups.flatMap((group: any) => group.rules)
const scrape = (url = service.url) => scrapeNode(url)

/** Every name that a query may use, with the parts of histograms. */
async function exported(): Promise<string[]> {
  const types = [...(await scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  const names = types.flatMap(([, name, type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name!],
  )
  return names
}

/** The metrics of a query: what is left without texts, labels, ranges, functions and words of the language. */
function metricsOf(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, '')
  return [...bare.matchAll(/\b[a-z_][a-z0-9_:]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !/^(or|and|unless|by|sum|max|min|topk)$/.test(name))
}

const panels: any[] = dashboard.panels.filter((panel: any) => panel.type !== 'row')
const queries: string[] = panels.flatMap((panel) => panel.targets.map((target: any) => target.expr))

describe('the dashboard', () => {
  test('has a row for each part of the service, and panels that do not overlap', () => {
    const rows = dashboard.panels.filter((panel: any) => panel.type === 'row').map(({ title }: any) => title)
    expect(rows).toEqual(['API', 'Ledger', 'Rails', 'Webhooks', 'Exceptions', 'Audit', 'Database'])
    const ids = dashboard.panels.map(({ id }: any) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: any) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    for (const panel of panels) expect(panel.datasource.uid).toMatch(/^\$\{datasource\}$/)
  })

  test('asks for metrics that a server exports, and shows every one of the service', async () => {
    const known = await exported()
    const asked = new Set(queries.flatMap(metricsOf))
    expect([...asked].filter((name) => !known.includes(name))).toEqual([])
    const family = (name: string) => name.replace(/_(bucket|sum|count)$/, '')
    const shown = new Set([...asked].map(family))
    const own = new Set(known.filter((name) => name.startsWith('trilho_')).map(family))
    expect([...own].filter((name) => !shown.has(name))).toEqual([])
  })
})

describe('the alert rules', () => {
  test('ask for metrics that a server exports', async () => {
    const known = [...(await exported()), 'up']
    expect(rules.length).toBeGreaterThan(12)
    for (const { alert, expr } of rules) {
      expect(metricsOf(expr).length, alert).toBeGreaterThan(0)
      expect(
        metricsOf(expr).filter((name) => !known.includes(name)),
        alert,
      ).toEqual([])
    }
  })

  test('have a severity, a summary, and a part of the guide that says what to do', () => {
    const guide = read('docs/operate/incidents.md')
    const anchors = [...guide.matchAll(/^#{2,4} (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    )
    const names = rules.map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning'], alert).toContain(labels.severity)
      expect(annotations.summary.length, alert).toBeGreaterThan(10)
      const [page, anchor] = annotations.runbook_url.split('#')
      expect(page, alert).toBe('{{ $externalLabels.docs }}/docs/operate/incidents')
      expect(anchors, alert).toContain(anchor)
    }
  })

  test('are loaded by the example, which scrapes less often than the figures may take', () => {
    const config = parse(read('deploy/prometheus/prometheus.yaml'))
    expect(config.rule_files).toEqual(['alerts.yaml'])
    // The links of alerts begin with this label.
    expect(config.global.external_labels.docs).toMatch(/^\$\{PUBLIC_URL\}$/)
    expect(config.scrape_configs[0].job_name).toBe('trilho')
    expect(
      rules.filter(({ expr }) => /\bup\{/.test(expr)).every(({ expr }) => expr.includes('job="trilho"')),
    ).toBe(true)
  })
})

test('every metric of the service is in the guide', async () => {
  const guide = read('docs/operate/monitoring.md')
  const own = [...(await scrape()).matchAll(/^# TYPE (trilho_\S+)/gm)].map(([, name]) => name!)
  expect(own.length).toBeGreaterThan(20)
  expect(own.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
})

describe('money that hangs', () => {
  /** The value of one line of the metrics. */
  const figure = (text: string, name: string, labels: Record<string, string>): number => {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    const line = text
      .split('\n')
      .find((one) => one.startsWith(`${name}{`) && wanted.every((part) => one.includes(part)))
    return Number(line?.split(' ').at(-1))
  }
  const sandbox = { environment: 'sandbox' }

  test('is counted by rail and state, with its age', async () => {
    const document = someCpf()
    const { id } = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json
    for (const [asset, amount] of Object.entries({ BRL: '100000', USDT: '1000000000' }))
      await api.post('/v1/sandbox/deposits', { customer_id: id, asset, amount })
    const pix = { ...sandbox, rail: 'pix', state: 'processing' }
    const before = await scrape()
    expect(figure(before, 'trilho_payments_open', pix)).toBe(0)
    expect(figure(before, 'trilho_payments_open', { ...pix, environment: 'production' })).toBe(0)
    expect(figure(before, 'trilho_payments_open', { ...sandbox, rail: 'tron', state: 'pending' })).toBe(0)
    const { json } = await api.post('/v1/pix/payouts', {
      customer_id: id,
      amount: '1050',
      counterparty: { type: 'pix_key', pix_key: document },
      idempotency_key: 'hangs',
    })
    await until(async () => (await api.get(`/v1/pix/payouts/${json.id}`)).json.status === 'completed', 10_000)
    // As the database holds it while the network is silent, and not for so long that it is reported as stuck: the books of this
    // test's payout are put right below.
    const hang = (set: string) =>
      asAdmin(service.database.url, [
        'ALTER TABLE sandbox.payouts DISABLE TRIGGER payouts_forward_only',
        `DELETE FROM sandbox.end_to_end_ids WHERE payout_id = '${json.id}'`,
        `UPDATE sandbox.payouts SET ${set} WHERE id = '${json.id}'`,
        'ALTER TABLE sandbox.payouts ENABLE TRIGGER payouts_forward_only',
      ])
    await hang(
      `status = 'processing', end_to_end_id = NULL, completed_at = NULL, created_at = created_at - interval '10 minutes', next_attempt_at = now() + interval '1 hour'`,
    )
    const text = await scrape()
    expect(figure(text, 'trilho_payments_open', pix)).toBe(1)
    const age = figure(text, 'trilho_payments_oldest_seconds', pix)
    expect(age).toBeGreaterThan(590)
    expect(age).toBeLessThan(800)
    await hang(
      `status = 'completed', end_to_end_id = '${json.end_to_end_id}', completed_at = '${json.completed_at}', created_at = '${json.created_at}'`,
    )
  })

  test('every rail says for how long it has been paused', async () => {
    const tron = { ...sandbox, rail: 'tron' }
    expect(figure(await scrape(), 'trilho_rail_paused_seconds', tron)).toBe(0)
    await pauseRail(service.worlds.sandbox, { rail: 'tron', by: 'service', reason: 'odd' })
    expect(figure(await scrape(), 'trilho_rail_paused_seconds', tron)).toBeGreaterThan(0)
    await service.worlds.sandbox.commit(
      resumeRail({ rail: 'tron', by: 'shell', reason: 'seen', proposal_id: null }),
    )
    expect(figure(await scrape(), 'trilho_rail_paused_seconds', tron)).toBe(0)
  })

  test('every wallet that was read says what it holds, what leaves it, how old that is, and what gas cost', async () => {
    const polygon = { ...sandbox, rail: 'polygon' }
    const tell = (read_at: string) =>
      asAdmin(service.database.url, [
        `INSERT INTO sandbox.holdings (rail, wallet, block_height, block_hash, asset_amount, native_amount, read_at)
          VALUES ('polygon', '0xabc', 7, '0xdef', 2500000, 3000000000000000000, ${read_at})
          ON CONFLICT (rail) DO UPDATE SET read_at = excluded.read_at`,
      ])
    expect(await scrape()).not.toMatch(/^trilho_holdings_asset\{/m)
    await tell(`now() - interval '50 seconds'`)
    const text = await scrape()
    expect(figure(text, 'trilho_holdings_asset', polygon)).toBe(2_500_000)
    expect(figure(text, 'trilho_holdings_gas_coin_wei', polygon)).toBe(3e18)
    expect(figure(text, 'trilho_holdings_gas_floor_wei', polygon)).toBe(0)
    expect(figure(text, 'trilho_holdings_leaving', polygon)).toBe(0)
    expect(figure(text, 'trilho_gas_paid_day_wei', polygon)).toBe(0)
    expect(figure(text, 'trilho_holdings_age_seconds', polygon)).toBeGreaterThanOrEqual(50)
    await tell(`now() + interval '1 hour'`)
    expect(await scrape()).toMatch(/^trilho_holdings_age_seconds\{[^}]*polygon[^}]*\} \+?Inf/m)
    await asAdmin(service.database.url, ['DELETE FROM sandbox.holdings'])
  })

  test('exceptions are counted by rail and kind, with their age', async () => {
    const open = `INSERT INTO sandbox.exceptions (id, kind, rail, object_id, details, opened_at) VALUES`
    await asAdmin(service.database.url, [
      `${open} ('exc_1', 'stuck', 'pix', 'po_1', '{}', now() - interval '90 minutes'), ('exc_2', 'stuck', 'pix', 'po_2', '{}', now()),
        ('exc_3', 'late_success', 'tron', 'tr_1', '{}', now())`,
    ])
    const text = await scrape()
    const stuck = { ...sandbox, rail: 'pix', kind: 'stuck' }
    expect(figure(text, 'trilho_exceptions_open', stuck)).toBe(2)
    expect(figure(text, 'trilho_exceptions_oldest_seconds', stuck)).toBeGreaterThan(5390)
    expect(figure(text, 'trilho_exceptions_open', { ...sandbox, rail: 'tron', kind: 'late_success' })).toBe(1)
    await asAdmin(service.database.url, [
      `UPDATE sandbox.exceptions SET closed_at = now(), closed_by = 'a test', closed_reason = 'seen' WHERE closed_at IS NULL`,
    ])
    expect(figure(await scrape(), 'trilho_exceptions_open', stuck)).toBeNaN()
  })

  test('events without a place and trades not in the sums have an age; so do prices', async () => {
    const text = await scrape()
    for (const name of ['trilho_events_oldest_fresh_seconds', 'trilho_trades_oldest_unfolded_seconds'])
      expect(figure(text, name, sandbox)).toBeLessThan(60)
    expect(figure(text, 'trilho_price_age_seconds', { ...sandbox, pair: 'BTC/USDT' })).toBeLessThan(1)
  })

  test('a node says what it is, whether it is ready, and how its connections are used', async () => {
    const text = await scrape()
    expect(text).toContain(
      `trilho_build_info{version="${version}",node="${process.versions.node}",role="all"} 1`,
    )
    expect(text).toMatch(/^trilho_ready 1$/m)
    for (const pool of ['production', 'sandbox', 'shared'])
      expect(figure(text, 'trilho_pool_waiting', { pool })).toBeGreaterThanOrEqual(0)
    await eventually(async () => expect(figure(await scrape(), 'trilho_ledger_waiting', sandbox)).toBe(0))
    expect(figure(text, 'trilho_ledger_connections_opened', sandbox)).toBeGreaterThan(0)
  })
})

test('a database that is silent takes no other figure with it, and no reading hangs', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const hole = await openSilencingProxy(Number(new URL(database.url).port))
  onTestFinished(hole.stop)
  const node = await startNode(hole.urlOf(database.url))
  onTestFinished(async () => {
    hole.restore()
    await node.stop()
  })
  expect(await scrape(node.url)).toMatch(/^trilho_ready 1$/m)
  hole.silence()
  const started = performance.now()
  const texts = await Promise.all([scrape(node.url), scrape(node.url), scrape(node.url)])
  // Two seconds for the questions; the rest is for a busy machine. Statements wait for fifteen.
  expect(performance.now() - started).toBeLessThan(14_000)
  for (const text of texts) {
    expect(text).toContain('trilho_figures_missing{environment="sandbox",question="payments"} 1')
    expect(text).not.toContain('trilho_payments_open{')
    expect(text).toContain('trilho_build_info{')
    expect(text).toContain('trilho_pool_waiting{pool="sandbox"}')
    expect(text).toContain('process_resident_memory_bytes')
  }
  // A write of a moment ago speaks for the database a little longer.
  await until(async () => /^trilho_ready 0$/m.test(await scrape(node.url)), 30_000)
  hole.restore()
  await until(
    async () => (await scrape(node.url)).includes('environment="sandbox",question="payments"} 0'),
    30_000,
  )
})

test('afterwards the books are right', () => expectIntact(service))

test('every table is in the guide, with how it is bounded', async () => {
  const [, section = ''] = read('docs/operate/retention.md').split('## What is kept, and for how long\n')
  const table = section.split(/^## /m)[0]!
  const tables = await asAdmin(service.database.url, [
    `SELECT DISTINCT relname AS name FROM pg_stat_user_tables WHERE schemaname IN ('live', 'sandbox', 'shared')`,
  ])
  expect(tables.map(({ name }) => name as string).filter((name) => !table.includes(`\`${name}\``))).toEqual(
    [],
  )
})
