import { newId } from '../src/core/ids.ts'
import { customerOf, measureRows, type RowsJob } from './rows.ts'

/** The yardstick: the row of a quote, written one transaction per request, statement by statement, without any HTTP. */
const job: RowsJob = JSON.parse(process.argv[2]!)
await measureRows(job, async (run, transaction) => {
  const id = newId('quote', Date.now())
  const customer_id = customerOf(job)
  await transaction(async () => {
    await run('key', 'SELECT id FROM api_keys WHERE partner_id = $1 LIMIT 1', [job.partner_id])
    await run('customer', 'SELECT status FROM customers WHERE id = $1', [customer_id])
    await run('prices', 'SELECT price FROM sandbox_prices WHERE id = ANY($1::text[])', [
      [`${job.partner_id} USDT/BRL`, `${job.partner_id} BTC/USDT`],
    ])
    await run(
      'quote',
      `INSERT INTO quotes (id, partner_id, customer_id, api_key_id, from_asset, to_asset, side, market_price, price_source,
       from_amount, to_amount, partner_fee, partner_bps, service_fee, service_bps, worth_brl, created_at, expires_at)
     VALUES ($1, $2, $3, $4, 'BRL', 'USDT', 'buy', 540000000, 'fixed', 1000, 1824074, 10, 100, 5, 50, 985, now(), now() + interval '30 seconds')`,
      [id, job.partner_id, customer_id, job.api_key_id],
    )
  })
  return true
})
