import { newId } from '../src/core/ids.ts'
import { customerOf, lockBalance, measureRows, type RowsJob, writeEvent } from './rows.ts'

/** The yardstick: the rows of a deposit, written one transaction per request, statement by statement, without any HTTP. */
const job: RowsJob = JSON.parse(process.argv[2]!)
await measureRows(job, async (run, transaction) => {
  const id = newId('deposit', Date.now())
  const customer_id = customerOf(job)
  const created_at = new Date()
  await transaction(async () => {
    await run('key', 'SELECT id FROM api_keys WHERE partner_id = $1 LIMIT 1', [job.partner_id])
    await run('customer', 'SELECT status FROM customers WHERE id = $1', [customer_id])
    const held = await lockBalance(run, customer_id)
    await run(
      'deposit',
      `INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, created_at) VALUES ($1, $2, $3, 'BRL', 100, 'sandbox', $4)`,
      [id, job.partner_id, customer_id, created_at],
    )
    await run(
      'entries',
      `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at)
     VALUES ($1, 'credited', 0, $2, 'external:sandbox', '', 'BRL', -100, NULL, NULL, $6), ($1, 'credited', 1, $2, 'customer', $3, 'BRL', 100, $4, $5, $6)`,
      [id, job.partner_id, customer_id, held.seq + 1n, held.balance + 100n, created_at],
    )
    await run(
      'balance',
      `UPDATE balances SET balance = $2, seq = $3 WHERE customer_id = $1 AND asset = 'BRL'`,
      [customer_id, held.balance + 100n, held.seq + 1n],
    )
    const data = JSON.stringify({
      id,
      customer_id,
      asset: 'BRL',
      amount: '100',
      decimals: 2,
      status: 'completed',
      created_at,
    })
    await writeEvent(run, job, {
      type: 'deposit.completed',
      object_id: id,
      sequence: 1,
      data,
      at: created_at,
    })
  })
  return true
})
