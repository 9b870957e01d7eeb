import { randomUUID } from 'node:crypto'
import { newId } from '../src/core/ids.ts'
import { customerOf, measureRows, type RowsJob } from './rows.ts'

/** The yardstick: the rows of a payout that completes, in two transactions, statement by statement, without any HTTP. */
const job: RowsJob = JSON.parse(process.argv[2]!)
await measureRows(job, async (run, transaction) => {
  const id = newId('payout', Date.now())
  const key = randomUUID()
  const customer_id = customerOf(job)
  const data = JSON.stringify({
    id,
    customer_id,
    direction: 'outbound',
    amount: '100',
    fee: '0',
    decimals: 2,
    status: 'completed',
    counterparty: { name: 'Customer', document: '***.982.247-**', pix_key: 'ana@example.com' },
    end_to_end_id: null,
    failure: null,
    idempotency_key: key,
    created_at: new Date().toISOString(),
  })
  const event = (type: string, sequence: number) =>
    run(
      'event',
      'INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at) VALUES ($1, $2, $3, $4, $5, $6, now())',
      [newId('event', Date.now()), job.partner_id, type, id, sequence, data],
    )
  const lock = async () => {
    const { rows } = await run(
      'lock',
      `SELECT balance, seq FROM balances WHERE customer_id = $1 AND asset = 'BRL' FOR NO KEY UPDATE`,
      [customer_id],
    )
    return { balance: BigInt(rows[0].balance), seq: BigInt(rows[0].seq) }
  }

  await transaction(async () => {
    await run(
      'claim',
      `INSERT INTO claims (scope, operation, key, fingerprint) VALUES ('bench', 'pix.payout', $1, 'x') ON CONFLICT DO NOTHING`,
      [key],
    )
    await run('key', 'SELECT id FROM api_keys WHERE partner_id = $1 LIMIT 1', [job.partner_id])
    await run('customer', 'SELECT document, status FROM customers WHERE id = $1', [customer_id])
    const held = await lock()
    await run(
      'payout',
      `INSERT INTO payouts (id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty, send_id, attempts, next_attempt_at, sequence, created_at)
     VALUES ($1, $2, $3, 'bench', $4, 100, 0, 'processing', '{"type":"pix_key"}', $5, 1, now() + interval '1 hour', 2, now())`,
      [id, job.partner_id, customer_id, key, key.replaceAll('-', '')],
    )
    await run(
      'accepted',
      `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at)
     VALUES ($1, 'accepted', 0, $2, 'customer', $3, 'BRL', -100, $4, $5, now()), ($1, 'accepted', 1, $2, 'in_transit:pix', $3, 'BRL', 100, NULL, NULL, now())`,
      [id, job.partner_id, customer_id, held.seq + 1n, held.balance - 100n],
    )
    await run(
      'debit',
      `UPDATE balances SET balance = balance - 100, in_transit = in_transit + 100, seq = seq + 1 WHERE customer_id = $1 AND asset = 'BRL'`,
      [customer_id],
    )
    await event('pix.payout.created', 1)
    await event('pix.payout.processing', 2)
    await run(
      'claimed',
      `UPDATE claims SET resource_id = $2, expires_at = now() + interval '1 day' WHERE scope = 'bench' AND operation = 'pix.payout' AND key = $1`,
      [key, id],
    )
  })

  await transaction(async () => {
    await run(
      'find claim',
      `SELECT resource_id FROM claims WHERE scope = 'bench' AND operation = 'pix.payout' AND key = $1 FOR UPDATE`,
      [key],
    )
    await run('find payout', 'SELECT * FROM payouts WHERE id = $1 FOR NO KEY UPDATE', [id])
    await lock()
    await run(
      'complete',
      `UPDATE payouts SET status = 'completed', end_to_end_id = $2, sequence = 3, completed_at = now() WHERE id = $1`,
      [id, key],
    )
    await run(
      'completed',
      `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, created_at)
     VALUES ($1, 'completed', 0, $2, 'in_transit:pix', $3, 'BRL', -100, now()), ($1, 'completed', 1, $2, 'external:pix', '', 'BRL', 100, now())`,
      [id, job.partner_id, customer_id],
    )
    await run(
      'settle',
      `UPDATE balances SET in_transit = in_transit - 100 WHERE customer_id = $1 AND asset = 'BRL'`,
      [customer_id],
    )
    await event('pix.payout.completed', 3)
    await run(
      'answered',
      `UPDATE claims SET final = true, answer_status = 201, answer_body = $2 WHERE scope = 'bench' AND operation = 'pix.payout' AND key = $1`,
      [key, data],
    )
  })
  return true
})
