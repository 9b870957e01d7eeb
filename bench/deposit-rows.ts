import { newId } from '../src/core/ids.ts'
import { customerOf, measureRows, type RowsJob } from './rows.ts'

/** The yardstick: the rows of a deposit, written one transaction per request, statement by statement, without any HTTP. */
const job: RowsJob = JSON.parse(process.argv[2]!)
await measureRows(job, async (run, transaction) => {
  const id = newId('deposit', Date.now())
  const customer_id = customerOf(job)
  await transaction(async () => {
    await run('key', 'SELECT id FROM api_keys WHERE partner_id = $1 LIMIT 1', [job.partner_id])
    await run('customer', 'SELECT status FROM customers WHERE id = $1', [customer_id])
    const { rows } = await run(
      'lock',
      `SELECT balance, seq FROM balances WHERE customer_id = $1 AND asset = 'BRL' FOR NO KEY UPDATE`,
      [customer_id],
    )
    const balance = BigInt(rows[0].balance) + 100n
    const seq = BigInt(rows[0].seq) + 1n
    await run(
      'deposit',
      `INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, created_at) VALUES ($1, $2, $3, 'BRL', 100, 'sandbox', now())`,
      [id, job.partner_id, customer_id],
    )
    await run(
      'entries',
      `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at)
     VALUES ($1, 'credited', 0, $2, 'external:sandbox', '', 'BRL', -100, NULL, NULL, now()), ($1, 'credited', 1, $2, 'customer', $3, 'BRL', 100, $4, $5, now())`,
      [id, job.partner_id, customer_id, seq, balance],
    )
    await run(
      'balance',
      `UPDATE balances SET balance = $2, seq = $3 WHERE customer_id = $1 AND asset = 'BRL'`,
      [customer_id, balance, seq],
    )
    const data = JSON.stringify({
      id,
      customer_id,
      asset: 'BRL',
      amount: '100',
      decimals: 2,
      status: 'completed',
      created_at: new Date().toISOString(),
    })
    await run(
      'event',
      `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at) VALUES ($1, $2, 'deposit.completed', $3, 1, $4, now())`,
      [newId('event', Date.now()), job.partner_id, id, data],
    )
  })
  return true
})
