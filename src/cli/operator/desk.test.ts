import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApi } from '../../../test/support/api.ts'
import type { Ran } from '../../../test/support/cli.ts'
import { type CliStage, isMistake, openCliStage } from '../../../test/support/cli-stage.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { until } from '../../../test/support/wait.ts'

let stage: CliStage
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

test('orders that stay open on a rail are listed, and settled by hand with evidence', async () => {
  const api = openApi(stage.url, stage.demo.key)
  const payout = await api.post('/v1/pix/payouts', {
    customer_id: stage.demo.customer_id,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key: 'unknown@sandbox.test' },
    idempotency_key: 'open',
  })
  const transfer = await api.post('/v1/onchain/transfers', {
    customer_id: stage.demo.customer_id,
    asset: 'USDT',
    network: 'polygon',
    amount: '1009003',
    destination_address: '0x52908400098527886e0f7030069857d2e4169ee7',
    idempotency_key: 'open',
  })
  const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
  const [payouts, transfers, vague] = await Promise.all([
    stage.json('payouts', 'unknown', '--older-than', '0'),
    stage.json('transfers', 'unknown', '--older-than', '0'),
    stage.trilho('payouts', 'resolve', payout.json.id, '--outcome', 'maybe', '--evidence', 'x'),
  ])
  expect(ids(payouts)).toEqual([payout.json.id])
  expect(ids(transfers)).toEqual([transfer.json.id])
  isMistake(vague, /--outcome must be completed or failed/)
  const evidence = ['--evidence', 'Statement of today']
  const failed = ['--outcome', 'failed', ...evidence]
  const resolving = ['payouts', 'resolve', payout.json.id, ...failed, '--json']
  let of_payout: Ran | undefined
  // Refused while the node that accepted the payout may still be sending it.
  await until(async () => {
    of_payout = await stage.run(resolving, { RAIL_TIMEOUT_MS: '500' })
    return of_payout.code === 0
  }, 60_000)
  expect(JSON.parse(of_payout!.out)).toMatchObject({ id: payout.json.id, status: 'failed' })
  // After signing, only the chain can fail a transfer.
  await until(
    async () => (await api.get(`/v1/onchain/transfers/${transfer.json.id}`)).json.status === 'processing',
    60_000,
  )
  const [signed, of_transfer] = [
    await stage.trilho('transfers', 'resolve', transfer.json.id, ...failed),
    await stage.json('transfers', 'resolve', transfer.json.id, '--outcome', 'confirmed', ...evidence),
  ]
  expect(signed).toMatchObject({ code: 1, err: expect.stringContaining('was signed') })
  expect(of_transfer).toMatchObject({ id: transfer.json.id, status: 'confirmed' })
  expect((await api.get(`/v1/pix/payouts/${payout.json.id}`)).json.status).toBe('failed')
  expect((await api.get(`/v1/onchain/transfers/${transfer.json.id}`)).json.status).toBe('confirmed')
  expect(await stage.balance('sandbox', stage.demo.customer_id, 'USDT')).toBe(2_000_000_000 - 2_009_003)
})

test('exceptions are listed, shown and closed with a reason', async () => {
  const seen = (schema: string, id: string) =>
    `INSERT INTO ${schema}.exceptions (id, kind, rail, object_id, details, opened_at)
     VALUES ('${id}', 'contradiction', 'pix', 'po_${id}', '{"booked":"failed","actOutput":"settled"}', clock_timestamp())`
  await asAdmin(stage.database_url, [seen('live', 'exc_live'), seen('sandbox', 'exc_sandbox')])
  const { ana: operator } = await stage.operators()
  const ids = async (...more: string[]) =>
    (await stage.json('exceptions', 'list', ...more)).data.map(({ id }: { id: string }) => id)
  const close = ['exceptions', 'close', 'exc_live', '--reason', 'Paid once; the rail was asked']
  const [both, one, shown, nobody, absent] = await Promise.all([
    ids(),
    ids('--environment', 'sandbox'),
    stage.trilho('exceptions', 'show', 'exc_live'),
    stage.as(undefined, close),
    stage.trilho('exceptions', 'show', 'exc_none'),
  ])
  expect([both, one]).toEqual([['exc_live', 'exc_sandbox'], ['exc_sandbox']])
  expect(shown.out).toMatch(/details +\{"booked":"failed","actOutput":"settled"\}/)
  isMistake(nobody, /takes an operator who is signed in/)
  isMistake(absent, /No exception exc_none/)
  const closed = await stage.run([...close, '--operator', operator.email, '--json'], {
    OPERATOR_PASSWORD: operator.password,
  })
  expect(closed.json).toMatchObject({
    id: 'exc_live',
    closed_by: operator.email,
    closed_reason: 'Paid once; the rail was asked',
  })
  const [again, sandbox] = await Promise.all([
    stage.run([...close, '--operator', operator.email], {
      OPERATOR_PASSWORD: operator.password,
    }),
    stage.as(undefined, ['exceptions', 'close', 'exc_sandbox', '--reason', 'A test', '--json']),
  ])
  isMistake(again, /was closed by ana@operator\.example before/)
  expect(sandbox.json.closed_by).toBe('command line')
  expect([await ids(), await ids('--all')]).toEqual([[], ['exc_live', 'exc_sandbox']])
})

test('the treasury is shown and limited, and a partner is paid the fees it earned, once', async () => {
  const { partner_id, customer_id, key } = stage.demo
  const api = openApi(stage.url, key)
  const order = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '10000', partner_fee_bps: 100 }
  const { id } = (await api.post('/v1/quotes', order)).json
  expect((await api.post(`/v1/quotes/${id}/execute`)).json.status).toBe('completed')

  const { data } = await stage.json('treasury', 'show', '--environment', 'sandbox')
  expect(data[0]).toMatchObject({ asset: 'BRL', position: '9850', cost: '9850', unrealised: '0' })
  expect(data[1]).toMatchObject({ asset: 'USDT', position: '-18240740', price: '5.4' })
  expect((await stage.json('treasury', 'show')).data[1]).toMatchObject({ position: '0', price: null })

  const limits = ['--lowest=-500', '--highest', '900']
  expect(await stage.json('treasury', 'set-limits', 'BTC', ...limits)).toMatchObject({
    asset: 'BTC',
    lowest: '-500',
    highest: '900',
  })
  expect(await stage.json('treasury', 'set-limits', 'BTC', '--lowest', 'none')).toMatchObject({
    lowest: null,
    highest: '900',
  })
  isMistake(await stage.trilho('treasury', 'set-limits', 'BTC', '--lowest', '901'), /must not be above/)
  isMistake(
    await stage.trilho('treasury', 'set-limits', 'ETH', '--lowest', '1'),
    /must be one of BRL, USDT, BTC/,
  )
  isMistake(await stage.trilho('treasury', 'set-limits', 'BTC'), /at least one of/)

  const sandbox = ['--environment', 'sandbox']
  expect(await stage.json('partners', 'fees', partner_id, ...sandbox)).toEqual({
    data: [{ asset: 'BRL', amount: '100' }],
  })
  const pay = (...more: string[]) =>
    stage.trilho(
      'partners',
      'pay-fees',
      partner_id,
      ...sandbox,
      '--asset',
      'BRL',
      '--reason',
      'October',
      ...more,
    )
  const toCustomer = ['--amount', '60', '--customer', customer_id, '--reference', 'fees-1']
  const first = await pay(...toCustomer, '--json')
  expect(first.json).toMatchObject({ status: 'completed' })
  expect((await pay(...toCustomer)).out).toMatch(/had been paid before/)
  isMistake(await pay('--amount', '41', '--reference', 'fees-2'), /have come to 0\.40 BRL, not to 0\.41 BRL/)
  isMistake(await pay('--amount', '1', '--customer', 'cus_x', '--reference', 'fees-3'), /No customer cus_x/)
  expect((await pay('--amount', '40', '--reference', 'wire-77')).out).toMatch(/^fp_\w+ paid\.\nLine /)
  expect((await stage.run(['audit', '--json'])).json.ok).toBe(true)
})
