import { readFileSync } from 'node:fs'
import { newId } from '../src/core/ids.ts'
import { type Held, measureRows, type RowsJob, type Run, writeEvent } from './rows.ts'

/** The yardstick: the rows of an executed quote, one transaction per request, statement by statement, without any HTTP. */
const job: RowsJob & { lines: string } = JSON.parse(process.argv[2]!)
const quotes = readFileSync(job.lines, 'utf8').split('\n')
let taken = 0
await measureRows(job, async (run, transaction) => {
  const quote_id = quotes[taken++]
  if (quote_id === undefined) return false
  const trade: Trade = { id: newId('trade', Date.now()), quote_id, created_at: new Date() }
  await transaction(() => execute(run, trade))
  return true
})

type Trade = { readonly id: string; readonly quote_id: string; readonly created_at: Date }

async function execute(run: Run, trade: Trade): Promise<void> {
  const { id, quote_id, created_at } = trade
  await run('key', 'SELECT id FROM api_keys WHERE partner_id = $1 LIMIT 1', [job.partner_id])
  const { rows: found } = await run('lock quote', 'SELECT * FROM quotes WHERE id = $1 FOR NO KEY UPDATE', [
    quote_id,
  ])
  const { customer_id } = found[0]
  const { rows } = await run(
    'lock',
    `SELECT asset, balance, seq FROM balances WHERE customer_id = $1 AND asset IN ('BRL', 'USDT') ORDER BY asset FOR NO KEY UPDATE`,
    [customer_id],
  )
  await run('customer', 'SELECT status FROM customers WHERE id = $1', [customer_id])
  await run('clock', 'SELECT clock_timestamp()', [])
  const [brl, usdt] = rows.map(({ balance, seq }) => ({ balance: BigInt(balance), seq: BigInt(seq) }))
  await run(
    'trade',
    `INSERT INTO trades (id, quote_id, partner_id, customer_id, api_key_id, status, from_asset, to_asset, side, market_price,
       from_amount, to_amount, partner_fee, partner_bps, service_fee, service_bps, worth_brl, quote_expires_at, created_at)
     SELECT $1, id, partner_id, customer_id, api_key_id, 'completed', from_asset, to_asset, side, market_price,
       from_amount, to_amount, partner_fee, partner_bps, service_fee, service_bps, worth_brl, expires_at, $3 FROM quotes WHERE id = $2`,
    [id, quote_id, created_at],
  )
  await run('executed', 'UPDATE quotes SET trade_id = $2 WHERE id = $1', [quote_id, id])
  await book(run, trade, customer_id, { brl: brl!, usdt: usdt! })
  await run('unfolded', 'INSERT INTO unfolded (trade_id) VALUES ($1)', [id])
  await tell(run, trade, customer_id)
}

async function book(
  run: Run,
  { id, created_at }: Trade,
  customer_id: string,
  { brl, usdt }: { brl: Held; usdt: Held },
): Promise<void> {
  await run(
    'entries',
    `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at) VALUES
     ($1, 'traded', 0, $2, 'customer', $3, 'BRL', -1000, $4, $5, $8), ($1, 'traded', 1, $2, 'treasury', '', 'BRL', 985, NULL, NULL, $8),
     ($1, 'traded', 2, $2, 'partner_fees', $2, 'BRL', 10, NULL, NULL, $8), ($1, 'traded', 3, $2, 'service_fees', '', 'BRL', 5, NULL, NULL, $8),
     ($1, 'traded', 4, $2, 'treasury', '', 'USDT', -1824074, NULL, NULL, $8), ($1, 'traded', 5, $2, 'customer', $3, 'USDT', 1824074, $6, $7, $8)`,
    [
      id,
      job.partner_id,
      customer_id,
      brl.seq + 1n,
      brl.balance - 1000n,
      usdt.seq + 1n,
      usdt.balance + 1_824_074n,
      created_at,
    ],
  )
  await run(
    'debit',
    `UPDATE balances SET balance = balance - 1000, seq = seq + 1 WHERE customer_id = $1 AND asset = 'BRL'`,
    [customer_id],
  )
  await run(
    'credit',
    `UPDATE balances SET balance = balance + 1824074, seq = seq + 1 WHERE customer_id = $1 AND asset = 'USDT'`,
    [customer_id],
  )
}

async function tell(run: Run, { id, quote_id, created_at }: Trade, customer_id: string): Promise<void> {
  const data = JSON.stringify({
    id,
    quote_id,
    customer_id,
    status: 'completed',
    from_asset: 'BRL',
    to_asset: 'USDT',
    from_amount: '1000',
    to_amount: '1824074',
    from_decimals: 2,
    to_decimals: 6,
    executed_price: '540',
    fees: { total: '15', total_bps: 150, partner: '10', partner_bps: 100, service: '5', service_bps: 50 },
    failure: null,
    created_at,
    completed_at: created_at,
  })
  await writeEvent(run, job, { type: 'trade.completed', object_id: id, sequence: 1, data, at: created_at })
}
