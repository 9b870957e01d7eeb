import { randomUUID } from 'node:crypto'
import { newId } from '../src/core/ids.ts'
import {
  customerOf,
  type Held,
  lockBalance,
  measureRows,
  type RowsJob,
  type Run,
  writeEvent,
} from './rows.ts'

/** The yardstick: the rows of a payout that completes, in two transactions, statement by statement, without any HTTP. */
const job: RowsJob = JSON.parse(process.argv[2]!)
await measureRows(job, async (run, transaction) => {
  const order: Order = {
    id: newId('payout', Date.now()),
    key: randomUUID(),
    customer_id: customerOf(job),
    created_at: new Date(),
  }
  await transaction(() => accept(run, order))
  await transaction(() => complete(run, order))
  return true
})

type Order = {
  readonly id: string
  /** Idempotency key and end-to-end id in one. */
  readonly key: string
  readonly customer_id: string
  readonly created_at: Date
}

async function accept(run: Run, order: Order): Promise<void> {
  const { id, key, customer_id, created_at } = order
  await run(
    'claim',
    `INSERT INTO claims (scope, operation, key, fingerprint) VALUES ($1, 'pix.payout', $2, 'x') ON CONFLICT DO NOTHING`,
    [job.api_key_id, key],
  )
  await run('key', 'SELECT id FROM api_keys WHERE partner_id = $1 LIMIT 1', [job.partner_id])
  await run('customer', 'SELECT document, status FROM customers WHERE id = $1', [customer_id])
  const held = await lockBalance(run, customer_id)
  await run(
    'payout',
    `INSERT INTO payouts (id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty, send_id, attempts, next_attempt_at, sequence, created_at)
     VALUES ($1, $2, $3, $4, $5, 100, 0, 'processing', $6, $7, 1, now() + interval '1 hour', 2, $8)`,
    [
      id,
      job.partner_id,
      customer_id,
      job.api_key_id,
      key,
      '{"type":"pix_key","name":"Customer","document":"52998224725","pix_key":"ana@example.com"}',
      key.replaceAll('-', ''),
      created_at,
    ],
  )
  await debit(run, order, held)
  await tell(run, order, { status: 'pending', type: 'created', sequence: 1, at: created_at })
  await tell(run, order, { status: 'processing', type: 'processing', sequence: 2, at: created_at })
  await run(
    'claimed',
    `UPDATE claims SET resource_id = $3, expires_at = $4::timestamptz + interval '24 hours' WHERE scope = $1 AND operation = 'pix.payout' AND key = $2`,
    [job.api_key_id, key, id, created_at],
  )
}

async function debit(run: Run, { id, customer_id, created_at }: Order, held: Held): Promise<void> {
  await run(
    'accepted',
    `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at)
     VALUES ($1, 'accepted', 0, $2, 'customer', $3, 'BRL', -100, $4, $5, $6), ($1, 'accepted', 1, $2, 'in_transit:pix', $3, 'BRL', 100, NULL, NULL, $6)`,
    [id, job.partner_id, customer_id, held.seq + 1n, held.balance - 100n, created_at],
  )
  await run(
    'debit',
    `UPDATE balances SET balance = balance - 100, in_transit = in_transit + 100, seq = seq + 1 WHERE customer_id = $1 AND asset = 'BRL'`,
    [customer_id],
  )
}

async function complete(run: Run, order: Order): Promise<void> {
  const { id, key, customer_id } = order
  const completed_at = new Date()
  await run(
    'find claim',
    `SELECT resource_id FROM claims WHERE scope = $1 AND operation = 'pix.payout' AND key = $2 FOR UPDATE`,
    [job.api_key_id, key],
  )
  await run('find payout', 'SELECT * FROM payouts WHERE id = $1 FOR NO KEY UPDATE', [id])
  await lockBalance(run, customer_id)
  await run(
    'complete',
    `UPDATE payouts SET status = 'completed', end_to_end_id = $2, sequence = 3, completed_at = $3 WHERE id = $1`,
    [id, key, completed_at],
  )
  await run(
    'completed',
    `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, created_at)
     VALUES ($1, 'completed', 0, $2, 'in_transit:pix', $3, 'BRL', -100, $4), ($1, 'completed', 1, $2, 'external:pix', '', 'BRL', 100, $4)`,
    [id, job.partner_id, customer_id, completed_at],
  )
  await run(
    'settle',
    `UPDATE balances SET in_transit = in_transit - 100 WHERE customer_id = $1 AND asset = 'BRL'`,
    [customer_id],
  )
  const told = { status: 'completed', type: 'completed', sequence: 3, at: completed_at }
  const answer = await tell(run, order, told, { end_to_end_id: key, completed_at })
  await run(
    'answered',
    `UPDATE claims SET final = true, answer_status = 201, answer_body = $3 WHERE scope = $1 AND operation = 'pix.payout' AND key = $2`,
    [job.api_key_id, key, answer],
  )
}

type Told = {
  readonly status: string
  readonly type: string
  readonly sequence: number
  readonly at: Date
}

/** Writes the event of a state, and returns the payout as the event shows it. */
async function tell(
  run: Run,
  { id, key, customer_id, created_at }: Order,
  { status, type, sequence, at }: Told,
  end: { end_to_end_id: string | null; completed_at?: Date } = { end_to_end_id: null },
): Promise<string> {
  const { end_to_end_id, ...ended } = end
  const data = JSON.stringify({
    id,
    customer_id,
    direction: 'outbound',
    amount: '100',
    fee: '0',
    decimals: 2,
    status,
    counterparty: { name: 'Customer', document: '***.982.247-**', pix_key: 'ana@example.com' },
    end_to_end_id,
    failure: null,
    idempotency_key: key,
    created_at,
    ...ended,
  })
  await writeEvent(run, job, { type: `pix.payout.${type}`, object_id: id, sequence, data, at })
  return data
}
