import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, openOwner } from '../../src/db/pool.ts'
import { auditIn } from '../../src/ledger/audit.ts'
import { pauseRail, resumeRail, setRailLimits } from '../../src/money/custody/controls.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { type History, openHistory } from '../support/history.ts'
import { findInPieces } from '../support/pieces.ts'
import { countsIn, noteFact } from '../support/proof.ts'
import { size } from '../support/size.ts'

/**
 * Random corruptions of an honest history, one at a time, each in a transaction that is thrown away: any column of any
 * row that tells of money, rows that are gone, rows that are there twice, values that changed places, movements that
 * never were. The audit must name every single one; what it cannot see is listed, with the reason.
 */
const RUNS = size(3000, 20)

/** The rows that are corrupted. What is not of money, or may rightly be gone, is left alone. */
const tables: Record<string, { key: string; where?: string }> = {
  entries: { key: 'cause_id, movement, line' },
  balances: { key: 'customer_id, asset' },
  payouts: { key: 'id' },
  pix_returns: { key: 'id' },
  transfers: { key: 'id' },
  transactions: { key: 'transfer_id, attempt' },
  wallets: { key: 'id' },
  wallet_gaps: { key: 'wallet_id, first_nonce' },
  coins: { key: 'id', where: 'reserved_by IS NOT NULL' },
  blocks: { key: 'height, network', where: 'height = 101' },
  foreign_spends: { key: 'wallet_id, txid' },
  custody_moves: { key: 'id' },
  sweeps: { key: 'id' },
  sweep_transactions: { key: 'sweep_id, purpose, attempt' },
  rail_controls: { key: 'rail' },
  rail_changes: { key: 'id' },
  deposits: { key: 'id' },
  // A charge that is pending is told nowhere yet.
  pix_charges: { key: 'id', where: `status <> 'pending'` },
  pix_received: { key: 'end_to_end_id', where: 'charge_id IS NOT NULL' },
  deposit_addresses: {
    key: 'id',
    where: 'EXISTS (SELECT FROM deposits d WHERE d.rail = t.network AND d.address = t.address)',
  },
  adjustments: { key: 'id' },
  quotes: { key: 'id', where: 'trade_id IS NOT NULL' },
  trades: { key: 'id' },
  fee_payouts: { key: 'id' },
  positions: { key: 'id' },
  folds: { key: 'n' },
  claims: { key: 'scope, operation, key' },
  refusals: { key: 'scope, operation, key' },
  events: { key: 'id', where: `split_part(object_id, '_', 1) IN ('po', 'tr', 'td', 'dep', 'chg')` },
}

/** Columns of which any value would do, and why. */
const unseen: Record<string, string> = {
  'payouts.request_id': 'which call asked for it: for people, and nothing follows from it',
  'transfers.request_id': 'which call asked for it: for people, and nothing follows from it',
  'quotes.request_id': 'which call asked for it: for people, and nothing follows from it',
  'trades.request_id': 'which call asked for it: for people, and nothing follows from it',
  'payouts.send_id': 'only the rail knows it; a trigger keeps it, and two equal ones are seen',
  'payouts.accepted_at': 'what the rail said; only before the making, or before a send, is it seen',
  'payouts.absent_at':
    'what the rail said; only before the making, or without it a payout never sent, is it seen',
  'payouts.provider': 'which account was to pay; a trigger keeps it',
  'payouts.refusal': 'what the rail said; counts only until the payout is final',
  'pix_returns.return_id': 'as the network has it; two equal ones are seen',
  'pix_returns.created_at': 'for a reader; only after its booking is it seen',
  'payouts.attempts': 'counts tries, no money',
  'payouts.next_attempt_at': 'when to look again: only that it is within two days',
  'transfers.attempts': 'counts tries, no money',
  'transfers.seal': 'the signer checks it, by a key that the audit does not have',
  'transfers.next_attempt_at': 'when to look again: only that it is within two days',
  'transactions.signed': 'opaque bytes; those of the newest payment are compared with the transfer',
  'transactions.terms': 'what was offered to the network; what it took is checked',
  'transactions.created_at':
    'when the first payment was signed; only before its order, after its end, or of a replacement is it seen',
  'transactions.block_height': 'as the network counts; that a block has both is checked',
  'transactions.block_hash': 'as the network counts; that a block has both is checked',
  'transactions.gas_paid_wei': 'as the network charges, in a coin that the ledger does not have',
  'deposits.block_height': 'as the network counts; that a block has both is checked',
  'deposits.block_hash': 'as the network counts; that a block has both is checked',
  'deposits.depth': 'as the network counts; what was credited is told',
  'deposits.next_attempt_at': 'when the chain is asked next: only that it is within two days',
  'pix_charges.request_id': 'which call asked for it: for people, and nothing follows from it',
  'pix_charges.attempts': 'counts tries, no money',
  'pix_charges.next_attempt_at': 'when to look again: only that it is within two days',
  'pix_received.paid_at': 'as the provider tells it; when a charge was paid is told',
  'pix_received.payer_name': 'for a reader',
  'pix_received.payer_document': 'for a reader',
  'pix_received.seen_at': 'for a reader',
  'pix_received.amount_returned':
    'as the provider tells it, of a payment that was never credited: what is given back of a credited one is a return of its own',
  'deposit_addresses.id': 'its name; nothing refers to it',
  'deposit_addresses.address_index': 'held against the key whenever the address is shown',
  'deposit_addresses.made_in': 'decides only which index comes next',
  'deposit_addresses.created_at': 'for a reader; only before its customer is it seen',
  'blocks.height': 'its neighbours have the heights next to it: the primary key refuses them',
  'blocks.is_searched': 'for a trigger, which keeps an older version from storing blocks',
  'coins.amount': 'as the network has it; reconciliation compares the sum with the books',
  'coins.is_coinbase': 'as the network has it',
  'foreign_spends.height': 'where it was first seen; its block may be gone',
  'foreign_spends.seen_at': 'for a reader',
  'sweeps.amount': 'as the network has it; reconciliation compares wallet and addresses with the books',
  'sweeps.wallet': 'as it was configured; the signer knows no other',
  'sweeps.cost_most': 'a bound of the past, in a coin that the ledger does not have',
  'sweeps.fund_wei': 'gas, in a coin that the ledger does not have; that it is below the bound is checked',
  'sweeps.created_at': 'for a reader; only after its transactions is it seen',
  'sweeps.ended_at': 'for a reader; only before its transactions is it seen',
  'sweep_transactions.signed': 'opaque bytes',
  'sweep_transactions.terms': 'what was offered to the network',
  'sweep_transactions.created_at': 'for a reader; only before or after its sweep is it seen',
  'sweep_transactions.block_height': 'as the network counts; that a block has both is checked',
  'sweep_transactions.block_hash': 'as the network counts; that a block has both is checked',
  'sweep_transactions.gas_paid_wei': 'as the network charges, in a coin that the ledger does not have',
  'wallets.created_at': 'for a reader',
  'wallet_gaps.reason': 'for a reader',
  'wallet_gaps.proposal_id': 'the sandbox has none; production is checked against the proposal',
  'wallet_gaps.created_at': 'for a reader',
  'rail_changes.id': 'a number: only the order counts',
  'rail_changes.proposal_id': 'in production, where two operators resume, it is checked',
  'quotes.price_source': 'where a price was seen; the price itself is checked',
  'quotes.metadata': 'texts of the partner; those of the trade are checked',
  'quotes.api_key_id': 'who asked for a price; who executed it is checked',
  'folds.n': 'a number: only the order counts, and trades in one fold may stand for others',
  'folds.folded_at': 'for a reader',
  'claims.claimed_at': 'for a reader; expires_at is what counts',
  'events.id': 'its name; what was told under it is checked',
  'events.position':
    'a place in the log, no money; an index keeps two from one place, and one without a place gets one',
  'events.late': 'follows from its place and its time, for lists by time',
  'claims.fingerprint': 'a digest of a body that is not kept; that of an operator’s reference is checked',
}

/** Columns that are held in some rows only: in which, and why not in the others. */
const seenWhere: Record<string, string> = {
  // Who set a limit, when and why, is a line of the act log.
  'rail_changes.changed_by': `after ->> 'paused_at' IS NOT NULL AND before ->> 'paused_at' IS NULL`,
  'rail_changes.changed_at': `after ->> 'paused_at' IS NOT NULL AND before ->> 'paused_at' IS NULL`,
  'rail_changes.reason': `after ->> 'paused_at' IS NOT NULL AND before ->> 'paused_at' IS NULL`,
  // When a transfer was first broadcast, and a deposit dropped or seen again, is told by this event alone.
  'events.created_at': `type NOT IN ('onchain.transfer.processing', 'deposit.dropped', 'pix.charge.paid') AND NOT (type = 'deposit.pending' AND sequence > 1)`,
  // While a charge can be paid, only its own row says for how long.
  'pix_charges.expires_at': `status <> 'open'`,
  // Beside a body it means nothing.
  'claims.answer_sequence': 'answer_status IS NOT NULL AND answer_body IS NULL',
  // Once what was made under a claim has come to its end, that end is what counts.
  'claims.final': `expires_at IS NULL OR resource_id IN (SELECT id FROM open_payouts UNION ALL SELECT id FROM open_transfers)`,
}

let history: History
let owner: Client
let columns: Map<string, { column_name: string; data_type: string; is_nullable: string }[]>

beforeAll(async () => {
  history = await openHistory()
  const partners = [await history.addPartner(3, 25), await history.addPartner(2, 0)]
  await history.fill(partners, 160)
  await controlRails(history.world)
  await history.stopServer()
  owner = await openOwner(history.database.url, 'test')
  await owner.query(
    `SET search_path = sandbox; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = 0`,
  )
  await dropGuards()
  // The simulated chains know no foreign transactions.
  await owner.query(
    `INSERT INTO wallet_gaps SELECT id, next_nonce, next_nonce + 3, 'a test', NULL, now() FROM wallets; UPDATE wallets SET next_nonce = next_nonce + 3`,
  )
  await spendCoins()
  await sweepDeposits()
  // Every other claim with a stored reference to the response, as the audit accepts it.
  await owner.query(
    `UPDATE claims SET final = true, answer_status = 201, answer_sequence = 3 WHERE answer_status IS NULL AND resource_id IN (
       SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM payouts WHERE completed_at IS NOT NULL) AS ended WHERE n % 2 = 0)`,
  )
  const names = Object.keys(tables)
  const { rows } = await owner.query(
    `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = 'sandbox' AND table_name = ANY($1)`,
    [names],
  )
  columns = new Map(names.map((name) => [name, rows.filter(({ table_name }) => table_name === name)]))
}, 300_000)
afterAll(async () => {
  await owner.end()
  await history.stop()
})

/** Two rails with a history; what is filled in before is not affected. */
async function controlRails(world: History['world']): Promise<void> {
  const by = 'shell'
  for (const rail of ['pix', 'optimism'] as const) {
    await setRailLimits(world, { rail, by, reason: 'first', change: { order_most: 7n, floor: 3n } })
    await pauseRail(world, { rail, by: `service ${rail}`, reason: `wrong on ${rail}` })
    await setRailLimits(world, { rail, by, reason: 'then', change: { day_most: 9n, gas_floor: 10n ** 20n } })
  }
  await world.commit(resumeRail({ rail: 'optimism', by, reason: 'right', proposal_id: null }))
}

/** The simulated chain has no coins: two transfers get two each, of mined blocks, and another program spends a fifth one. */
async function spendCoins(): Promise<void> {
  const hash = (text: string) => `encode(sha256((${text})::text::bytea), 'hex')`
  const reversed = (id: string) =>
    `(SELECT string_agg(substr(${id}, place, 2), '' ORDER BY place DESC) FROM generate_series(1, 63, 2) AS place)`
  const spenders = `(SELECT t.id, t.wallet_id, t.tx_hash, row_number() OVER (ORDER BY t.id) AS n FROM transfers t
    WHERE t.network = 'bitcoin' AND t.status = 'confirmed' AND (SELECT count(*) FROM transactions x WHERE x.transfer_id = t.id) = 1
    ORDER BY t.id LIMIT 2)`
  await owner.query(
    `SET session_replication_role = replica;
     INSERT INTO blocks SELECT 'bitcoin', n, ${hash('n')}, ${hash('n - 1')} FROM generate_series(100, 103) AS n;
     INSERT INTO coins SELECT ${hash("'coin' || t.n")} || ':' || vout, 'bitcoin', t.wallet_id, '0014aa', 1000 * t.n + vout, false, NULL,
       100 + t.n, ${hash('100 + t.n')}, t.id, t.tx_hash, 103 FROM ${spenders} AS t CROSS JOIN generate_series(0, 1) AS vout;
     UPDATE transactions x SET block_height = 103, block_hash = ${hash('103')}, signed = '02000000' || '0001' || '02' ||
       (SELECT string_agg(${reversed('c.id')} || '0' || right(c.id, 1) || '000000' || '00ffffffff', '') FROM coins c WHERE c.reserved_by = x.transfer_id)
       WHERE x.transfer_id IN (SELECT reserved_by FROM coins);
     UPDATE transfers t SET signed_transaction = x.signed FROM transactions x WHERE x.transfer_id = t.id AND t.id IN (SELECT reserved_by FROM coins);
     INSERT INTO coins SELECT ${hash("'free'")} || ':0', 'bitcoin', w.id, '0014aa', 5, true, NULL, 100, ${hash('100')}, NULL, NULL, NULL
       FROM wallets w WHERE network = 'bitcoin';
     INSERT INTO coins SELECT ${hash("'taken'")} || ':0', 'bitcoin', w.id, '0014aa', 5, false, NULL, 100, ${hash('100')}, NULL, ${hash("'foreign'")}, 102
       FROM wallets w WHERE network = 'bitcoin';
     INSERT INTO foreign_spends SELECT wallet_id, spent_by, spent_height, now() FROM coins WHERE reserved_by IS NULL AND spent_by IS NOT NULL;
     SET session_replication_role = origin`,
  )
}

/** The sandbox sweeps nothing: two addresses get a sweep each, one of which is under way. */
async function sweepDeposits(): Promise<void> {
  const hash = (text: string) => `'0x' || encode(sha256((${text})::text::bytea), 'hex')`
  await owner.query(
    `SET session_replication_role = replica;
     INSERT INTO sweeps SELECT 'swp_' || a.n, a.network, a.address, a.address_index, 1000 + a.n, '0xwallet', '0xgas', 1000 + a.n, a.n, 500 + a.n, a.n,
       CASE a.n WHEN 1 THEN 'swept' ELSE 'mined' END, NULL, now() - interval '1 hour', CASE a.n WHEN 1 THEN now() END
       FROM (SELECT network, address, address_index, row_number() OVER (ORDER BY address, network) AS n FROM deposit_addresses
         WHERE network IN ('polygon', 'arbitrum', 'optimism', 'ethereum') ORDER BY address, network LIMIT 2) AS a;
     INSERT INTO sweep_transactions SELECT s.id, p.purpose, 1, s.network, CASE p.purpose WHEN 'fund' THEN s.gas_account ELSE s.address END, s.nonce,
       ${hash('s.id || p.purpose')}, '0x02' || encode(sha256((s.id || p.purpose)::bytea), 'hex'), '{}', s.created_at + interval '1 minute',
       CASE WHEN is_final THEN 7 END, CASE WHEN is_final THEN '0xblock' END, CASE WHEN is_final THEN 21000 END
       FROM sweeps s CROSS JOIN LATERAL (VALUES ('fund', true), ('sweep', s.state = 'swept')) AS p (purpose, is_final);
     SET session_replication_role = origin`,
  )
}

/** Everything but the primary keys that would refuse a corruption: here the audit stands alone. */
async function dropGuards(): Promise<void> {
  const { rows } = await owner.query(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS sql FROM pg_constraint
       WHERE connamespace = 'sandbox'::regnamespace AND contype IN ('c', 'u') AND conrelid <> 0
     UNION ALL
     SELECT format('DROP INDEX %s', i.indexrelid::regclass) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
       WHERE c.relnamespace = 'sandbox'::regnamespace AND i.indisunique AND NOT i.indisprimary
         AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)`,
  )
  for (const { sql } of rows) await owner.query(sql)
}

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!

async function someRow(table: string, more = 'true'): Promise<Record<string, unknown> | undefined> {
  const { where = 'true' } = tables[table]!
  const { rows } = await owner.query(
    `SELECT ctid::text AS ctid, to_json(t)::text AS row FROM ${table} t WHERE (${where}) AND (${more}) ORDER BY random() LIMIT 1`,
  )
  return rows[0]
}

/** Other values of the same kind. */
function mutations(table: string, column: string, type: string, nullable: boolean): string[] {
  const other = `(SELECT o.${column} FROM ${table} o WHERE o.${column}::text IS DISTINCT FROM t.${column}::text ORDER BY random() LIMIT 1)`
  const nothing = nullable ? ['NULL'] : []
  switch (type) {
    case 'bigint':
    case 'integer':
    case 'smallint':
    case 'numeric':
      return [`coalesce(t.${column}, 0) + 1`, `coalesce(t.${column}, 0) - 1`, other, ...nothing]
    case 'timestamp with time zone':
      return [
        `coalesce(t.${column}, now()) + interval '1 ms'`,
        `coalesce(t.${column}, now()) - interval '1 day'`,
        ...nothing,
      ]
    case 'boolean':
      return [`NOT t.${column}`]
    case 'ARRAY':
      return [`t.${column}[2:]`, `t.${column} || t.${column}[1]`]
    case 'json':
      return [other]
    default:
      return [`coalesce(t.${column}, '') || 'x'`, other, ...nothing]
  }
}

/** Statements, and what was done in words. Undefined: there was nothing to corrupt this way. */
type Corruption = { what: string; sql: string[] } | undefined

async function changeColumn(table = pick(Object.keys(tables)), name?: string): Promise<Corruption> {
  const {
    column_name: column,
    data_type,
    is_nullable,
  } = name ? columns.get(table)!.find((one) => one.column_name === name)! : pick(columns.get(table)!)
  if (`${table}.${column}` in unseen) return undefined
  const row = await someRow(table, seenWhere[`${table}.${column}`])
  const value = pick(mutations(table, column, data_type, is_nullable === 'YES'))
  const changed = `t.${column}::text IS DISTINCT FROM (${value})::text`
  return {
    what: `${table}.${column} = ${value} of ${row?.row}`,
    sql: [`UPDATE ${table} t SET ${column} = ${value} WHERE t.ctid = '${row?.ctid}' AND ${changed}`],
  }
}

async function removeRow(): Promise<Corruption> {
  const table = pick(Object.keys(tables))
  const row = await someRow(table)
  // No money hangs on a deposit that is not credited: whoever follows the chain reports it again.
  if (table === 'deposits' && /"status":"(pending|dropped)"/.test(String(row?.row))) return removeRow()
  return { what: `${table} without ${row?.row}`, sql: [`DELETE FROM ${table} WHERE ctid = '${row?.ctid}'`] }
}

async function doubleRow(): Promise<Corruption> {
  const table = pick(Object.keys(tables))
  const row = await someRow(table)
  const names = columns.get(table)!.map(({ column_name }) => column_name)
  const last = tables[table]!.key.split(', ').at(-1)!
  const values = names.map((name) => {
    if (name === 'line' || name === 'attempt') return `${name} + 7`
    if (name === 'n') return 'n + 1000000'
    if (name === 'first_nonce' && table === 'wallet_gaps') return 'first_nonce + 1'
    if (name === 'id' && table === 'rail_changes') return 'id + 1000000'
    if (name === 'sequence' && table === 'events') return 'sequence + 1'
    return name === last || (table === 'balances' && name === 'customer_id') ? `${name} || 'x'` : name
  })
  return {
    what: `${table} twice: ${row?.row}`,
    sql: [
      `INSERT INTO ${table} (${names.join(', ')}) OVERRIDING SYSTEM VALUE SELECT ${values.join(', ')} FROM ${table} WHERE ctid = '${row?.ctid}'`,
    ],
  }
}

/** Two rows exchange what they hold in one column. */
async function exchange(): Promise<Corruption> {
  const [table, column] = pick([
    ['entries', 'amount'],
    ['entries', 'owner'],
    ['entries', 'account'],
    ['entries', 'created_at'],
    ['payouts', 'customer_id'],
    ['payouts', 'amount'],
    ['transfers', 'tx_hash'],
    ['deposits', 'amount'],
    ['trades', 'to_amount'],
    ['claims', 'resource_id'],
    ['claims', 'answer_body'],
    ['positions', 'cost'],
    ['positions', 'amount'],
    ['events', 'data'],
  ] as const)
  const a = await someRow(table)
  const b = await someRow(
    table,
    `t.${column}::text <> (SELECT ${column}::text FROM ${table} WHERE ctid = '${a?.ctid}')`,
  )
  if (!a || !b) return undefined
  return {
    what: `${table}.${column} of ${a.row} and ${b.row} exchanged`,
    sql: [
      `UPDATE ${table} t SET ${column} = o.${column} FROM ${table} o
       WHERE (t.ctid, o.ctid) IN (('${a.ctid}', '${b.ctid}'), ('${b.ctid}', '${a.ctid}'))`,
    ],
  }
}

/** A movement that sums to zero, with a balance that follows it. */
async function inventMovement(): Promise<Corruption> {
  const account = (await someRow('balances', 'balance > 1000'))!
  const { customer_id, asset, partner_id } = JSON.parse(String(account.row))
  const cause = JSON.parse(String((await someRow('entries'))!.row)).cause_id
  const cause_id = pick([cause, 'zz_1', `${String(cause).split('_')[0]}_forged`])
  const movement = pick(['credited', 'returned', 'refunded', 'accepted', 'paid'])
  const other = pick([
    'external:pix',
    'treasury',
    'service_fees',
    'external:sandbox',
    'nowhere',
    'in_transit:pix',
  ])
  const amount = pick([1, 500, -1, -700])
  return {
    what: `${cause_id} ${movement}: ${amount} ${asset} to ${customer_id} from ${other}`,
    sql: [
      `WITH after AS (UPDATE balances SET balance = balance + (${amount}), seq = seq + 1
         WHERE customer_id = '${customer_id}' AND asset = '${asset}' RETURNING balance, seq)
       INSERT INTO entries SELECT '${cause_id}', '${movement}', 20, '${partner_id}', 'customer', '${customer_id}', '${asset}', ${amount}, seq, balance, now() FROM after`,
      `INSERT INTO entries VALUES ('${cause_id}', '${movement}', 21, '${partner_id}', '${other}', '', '${asset}', ${-amount}, NULL, NULL, now())`,
    ],
  }
}

/** True when it was named; undefined when the corruption changed nothing. */
async function isNamed({ sql }: NonNullable<Corruption>): Promise<boolean | undefined> {
  await owner.query('BEGIN')
  try {
    await owner.query('SET LOCAL session_replication_role = replica')
    let changed = 0
    for (const statement of sql) changed += (await owner.query(statement)).rowCount ?? 0
    if (changed === 0) return undefined
    const { ok } = await auditIn(owner, sliceChecks)
    if (ok) return false
    return (await findInPieces(owner, 100_000)).length > 0
  } catch (error) {
    // A primary key, or a value that must not be missing: the database itself refuses.
    if (['23505', '23502'].includes((error as { code?: string }).code ?? '')) return undefined
    throw error
  } finally {
    await owner.query('ROLLBACK')
  }
}

test('an honest history has no findings, at once and in pieces', async () => {
  await owner.query('BEGIN')
  expect((await auditIn(owner, sliceChecks)).findings).toEqual([])
  expect(await findInPieces(owner, 7)).toEqual([])
  await owner.query('ROLLBACK')
})

test('every column of every row that tells of money is held by the audit, or is on the list of those that are not', async () => {
  const missed: string[] = []
  for (const [table, list] of columns) {
    for (const { column_name } of list) {
      if (`${table}.${column_name}` in unseen) continue
      let named: boolean | undefined
      for (let tries = 0; named === undefined && tries < 30; tries++) {
        const corruption = await changeColumn(table, column_name)
        if (!corruption) break
        named = await isNamed(corruption)
        if (named === false) missed.push(corruption.what)
      }
      if (named === undefined) missed.push(`${table}.${column_name}: nothing to corrupt`)
    }
  }
  expect(missed).toEqual([])
}, 900_000)

test('every single corruption is named', async () => {
  const ways = [changeColumn, changeColumn, changeColumn, removeRow, doubleRow, exchange, inventMovement]
  const missed: string[] = []
  const counts: Record<string, number> = {}
  let tried = 0
  while (tried < RUNS) {
    const way = pick(ways)
    const corruption = await way()
    const named = corruption && (await isNamed(corruption))
    if (named === undefined) continue
    tried++
    counts[way.name] = (counts[way.name] ?? 0) + 1
    if (!named) missed.push(corruption!.what)
  }
  noteFact(
    `${tried} random corruptions, one at a time (${countsIn(counts)}): the audit found ${tried - missed.length}`,
  )
  expect(missed).toEqual([])
}, 3_600_000)
