import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, looks, widths } from '../support/browser.ts'
import { makePerson } from '../support/console.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { asAdmin } from '../support/database.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
  await setPast()
  await until(async () => {
    const rows = await asAdmin(service.database.url, [
      `SELECT FROM sandbox.daily WHERE partner_id = '${stage.partner_id}' AND kind = 'conversions'`,
    ])
    return rows.length > 0
  }, 30_000)
}, 300_000)
afterAll(async () => {
  await stage.stop()
  await service.stop()
})

/** Days before this one: they cannot be made through the API. The stage has rows of yesterday when midnight has just passed. */
const setPast = () =>
  asAdmin(service.database.url, [
    'SELECT setseed(0.42)',
    `INSERT INTO sandbox.daily SELECT '${stage.partner_id}', today - d, k.kind, k.asset, '', n, n / 300, n * k.typical, (n / 300) * k.typical, 0,
       array_fill(0::bigint, ARRAY[k.step]) || n
     FROM (SELECT (now() AT TIME ZONE 'America/Sao_Paulo')::date AS today) t, generate_series(1, 89) d,
       (VALUES ('pix', 'BRL', 14000::bigint, 41, 310), ('tron', 'USDT', 90000000, 63, 36), ('polygon', 'USDT', 70000000, 64, 30), ('bitcoin', 'BTC', 300000, 81, 2))
         AS k (kind, asset, typical, step, daily), LATERAL (SELECT (k.daily * (0.6 + 0.8 * random() * abs(sin(d)) + d * 0))::bigint + 1 AS n) r
     ON CONFLICT DO NOTHING`,
    `INSERT INTO sandbox.daily_balances SELECT '${stage.partner_id}', (now() AT TIME ZONE 'America/Sao_Paulo')::date - d, b.asset,
       (b.held * (1 - d * 0.012 + 0.08 * random()))::bigint, 0, b.customers
     FROM generate_series(1, 29) d, (VALUES ('BRL', 70000000::bigint, 8), ('USDT', 7500000000, 4), ('BTC', 15000000, 3)) AS b (asset, held, customers)
     ON CONFLICT DO NOTHING`,
  ])

const owner = () => stage.people.owner

test('a team with customers and no order sees its next step, and empty lists lead to the playground', async () => {
  const { partner_id, api } = await service.partner()
  const somebody = await makePerson(service, { role: 'owner', partner_id })
  await browse({ url: service.url, as: somebody }, async ({ page, visit, axe }) => {
    await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
    await visit('/sandbox')
    await page.getByRole('heading', { name: 'Next step' }).waitFor()
    await axe()
    const link = page.getByRole('link', { name: 'Try it in the playground' })
    await link.waitFor()
    for (const list of ['payouts', 'transfers', 'quotes', 'trades']) {
      await visit(`/sandbox/${list}`)
      await link.waitFor()
    }
    await link.click()
    await page.waitForURL(/\/sandbox\/playground$/)
  })
})

for (const { theme, place: name, width } of looks)
  test(`${theme}, ${name}: everything is on it, open to everybody`, () =>
    browse(
      { url: service.url, as: owner(), theme, width },
      async ({ page, visit, axe, fits, screenshot }) => {
        await visit('/sandbox')
        for (const heading of [
          'Needs attention',
          'Paid out by Pix',
          'Success by rail',
          'Latest',
          'Limits and usage',
          'Prices',
        ])
          await page.getByRole('heading', { name: heading, exact: true }).waitFor()
        const brl = page.getByRole('region', { name: 'BRL', exact: true })
        await expect.poll(() => brl.textContent()).toContain('held for 8 customers')
        await fits()
        await axe()
        await screenshot(`overview-${theme}-${name}`)
      },
    ))

test('what needs attention leads to where it is mended', () =>
  browse({ url: service.url, as: owner() }, async ({ page, visit }) => {
    await visit('/sandbox')
    const key = page.getByRole('listitem').filter({ hasText: 'treasury-bot' })
    expect(await key.textContent()).toMatch(/was rotated.*still works until/)
    expect(await key.getByRole('link').getAttribute('href')).toMatch(/\/sandbox\/developers\/keys\/key_/)
    await stage.leaveUnanswered()
    await until(async () => {
      await visit('/sandbox')
      return page.getByText('The Pix network has not answered for').isVisible()
    }, 20_000)
    await page.getByRole('link', { name: 'Show', exact: true }).click()
    await page.waitForURL(/\/sandbox\/payouts\?status=no_answer/)
  }))

test('what came in is held at once, and counted a moment later, without loading the page again', async () => {
  const { partner_id, api } = await service.partner()
  const person = await makePerson(service, { role: 'viewer', partner_id })
  const { json } = await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
  const deposit = { customer_id: json.id, asset: 'BRL', amount: '12345' }
  await api.post('/v1/sandbox/deposits', deposit)
  await browse({ url: service.url, as: person }, async ({ page, visit }) => {
    await visit('/sandbox')
    const brl = page.getByRole('region', { name: 'BRL', exact: true })
    await brl.getByText('123.45').first().waitFor()
    await api.post('/v1/sandbox/deposits', deposit)
    await brl.getByText('246.90').first().waitFor()
    await api.post('/v1/pix/payouts', {
      customer_id: json.id,
      amount: '100',
      counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
      idempotency_key: 'counted',
    })
    await page.getByText('1 payout', { exact: false }).first().waitFor()
  })
})

test('the period is in the address, and bars are also a table', () =>
  browse({ url: service.url, as: owner() }, async ({ page, visit, settled, axe }) => {
    await visit('/sandbox')
    await page.getByRole('button', { name: '7 days' }).click()
    await page.waitForURL(/period=7d/)
    await settled()
    await page.getByRole('button', { name: 'As a table' }).click()
    const rows = page.getByRole('region', { name: /Paid out by Pix/ }).getByRole('row')
    // Until the answer comes the days of the former period stand there.
    await expect.poll(() => rows.count()).toBe(8)
    await expect.poll(() => rows.last().textContent()).toMatch(/R\$/)
    await axe()
    await page.getByRole('button', { name: 'Trades' }).click()
    await page.getByText('2 trades').waitFor()
    await visit('/sandbox?period=24h')
    await page.getByText('Each hour').waitFor()
  }))

test('in Portuguese, on a phone', () =>
  browse(
    { url: service.url, as: owner(), language: 'pt-BR', width: widths.phone },
    async ({ page, visit, fits, screenshot }) => {
      await visit('/sandbox')
      await page.getByRole('heading', { name: 'Pede atenção' }).waitFor()
      const brl = page.getByRole('region', { name: 'BRL', exact: true })
      await expect.poll(() => brl.textContent()).toContain('em custódia para 8 clientes')
      await fits()
      await screenshot('overview-pt-phone')
    },
  ))

test('a new partner is told what to do first', async () => {
  const { partner_id } = await service.partner()
  const newcomer = await makePerson(service, { role: 'owner', partner_id, name: 'Nova Pessoa' })
  await browse({ url: service.url, as: newcomer }, async ({ page, visit, axe, fits, screenshot }) => {
    await visit('/sandbox')
    await page.getByRole('heading', { name: 'Nothing has happened here yet' }).waitFor()
    expect(await page.locator('pre').first().textContent()).toContain(`curl ${service.url}/v1/customers`)
    await fits()
    await axe()
    await screenshot('overview-new')
  })
})
