import { setTimeout as sleep } from 'node:timers/promises'
import { type Kind, type Model, makeModels } from './models.ts'
import type { Stage } from './stage.ts'

/**
 * Makes history as if the service had created it within the last day. The service itself creates one object of each kind, and
 * these models are copied in SQL with other ids, keys, times and customers, through the tables' own triggers. So the rows have
 * the form that the service writes, including claimed idempotency keys, and pass every check of the audit. Customers take
 * turns, and each repeats the same round of orders, which leaves its balances unchanged or higher.
 */
const ROUND: readonly Kind[] = [
  'deposit',
  ...Array<Kind>(8).fill('payout'),
  'failed payout',
  'trade',
  'transfer',
  ...Array<Kind>(8).fill('payout'),
]
const HOURS = 22
const AT_ONCE = 40_000

/** Makes at least this many ledger entries for these customers, in whole rounds. Their balances must be untouched. */
export async function makeHistory(
  stage: Stage,
  entries: number,
  customers: readonly string[],
): Promise<void> {
  const models = await makeModels(stage)
  const of = (kind: Kind) => models.find((model) => model.kind === kind)!
  const booked = await stage.sql('SELECT cause_id, count(*)::int AS count FROM entries GROUP BY 1')
  const entriesOf = new Map(booked.map(({ cause_id, count }) => [cause_id, count]))
  const per_round = ROUND.reduce((sum, kind) => sum + entriesOf.get(of(kind).id)!, 0)
  const rounds = Math.ceil(entries / per_round / customers.length)
  const steps = rounds * ROUND.length
  await stage.sql(`SET synchronous_commit = off; SET work_mem = '256MB'`)
  await noteModels(stage, models, customers)
  await noteLines(stage, ROUND.map(of))
  const at_once = Math.max(1, Math.floor(AT_ONCE / customers.length))
  for (let from = 0; from < steps; from += at_once) {
    await plan(stage, { from, to: Math.min(steps, from + at_once), steps, payers: customers.length })
    for (const model of models) await copy(stage, model)
    await tell(stage)
  }
  await creditBalances(stage, rounds)
  await stage.sql('RESET synchronous_commit; RESET work_mem')
  await stage.sql('VACUUM ANALYZE')
  await stage.sql('CHECKPOINT')
  await quietness(stage)
}

/**
 * An id in the format of `newId`: 48 bits of time in base 32, then random digits. Inline SQL, because a function would be too
 * slow for millions of rows.
 */
function newIdSql(prefix: string, at: string): string {
  const alphabet = `'0123456789abcdefghjkmnpqrstvwxyz'`
  const digits = Array.from(
    { length: 10 },
    (_, i) => `substr(${alphabet}, ((ms >> ${45 - i * 5}) & 31)::int + 1, 1)`,
  )
  return `(SELECT ${prefix} || '_' || ${digits.join(' || ')} || right(translate(gen_random_uuid()::text, '-', ''), 16)
    FROM (SELECT (extract(epoch FROM date_trunc('milliseconds', ${at})) * 1000)::bigint AS ms OFFSET 0) AS time)`
}

async function noteModels(
  stage: Stage,
  models: readonly Model[],
  customers: readonly string[],
): Promise<void> {
  await stage.sql(
    `
    CREATE TEMP TABLE slots AS SELECT slot::int - 1 AS slot, kind FROM unnest($1::text[]) WITH ORDINALITY AS round (kind, slot)`,
    [ROUND],
  )
  await stage.sql(
    `
    CREATE TEMP TABLE models AS SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS model (kind, prefix, made_at)`,
    [
      models.map(({ kind }) => kind),
      models.map(({ id }) => id.split('_')[0]),
      models.map(({ created_at }) => created_at),
    ],
  )
  await stage.sql(
    'CREATE TEMP TABLE payers AS SELECT id, n::int - 1 AS n FROM unnest($1::text[]) WITH ORDINALITY AS customer (id, n)',
    [customers],
  )
  await stage.sql('CREATE TEMP TABLE told (LIKE events)')
  await stage.sql(`
    CREATE TEMP TABLE made (g bigint, kind text, slot int, round int, id text, customer_id text, quote_id text, key text, outside text,
      shift interval)`)
}

/** Computes sequence number and balance of each statement line from its position in the round. */
async function noteLines(stage: Stage, round: readonly Model[]): Promise<void> {
  const sums = new Map<string, { seq: number; balance: bigint }>()
  const lines = round.flatMap(({ lines }, slot) =>
    lines.map(({ asset, movement, line, amount }) => {
      const { seq, balance } = sums.get(asset) ?? { seq: 0, balance: 0n }
      sums.set(asset, { seq: seq + 1, balance: balance + amount })
      return { slot, asset, movement, line, seq: seq + 1, balance: String(balance + amount) }
    }),
  )
  await stage.sql(
    `CREATE TEMP TABLE lines AS SELECT * FROM json_to_recordset($1) AS l (slot int, asset text, movement text, line smallint, seq bigint, balance bigint)`,
    [JSON.stringify(lines)],
  )
  await stage.sql(
    `CREATE TEMP TABLE sums AS SELECT * FROM json_to_recordset($1) AS s (asset text, seq bigint, balance bigint)`,
    [
      JSON.stringify(
        [...sums].map(([asset, { seq, balance }]) => ({ asset, seq, balance: String(balance) })),
      ),
    ],
  )
}

/** Assigns the ids of the next steps of all customers. */
async function plan(
  stage: Stage,
  { from, to, steps, payers }: { from: number; to: number; steps: number; payers: number },
): Promise<void> {
  await stage.sql('TRUNCATE made')
  await stage.sql(
    `INSERT INTO made
     SELECT step::bigint * $4 + p.n, kind, slot, step / $5, ${newIdSql('prefix', 'at')}, p.id, CASE kind WHEN 'trade' THEN ${newIdSql(`'qt'`, 'at')} END, gen_random_uuid()::text,
       CASE prefix WHEN 'po' THEN 'E' || upper(left(hash, 31)) ELSE '0x' || hash || hash END, at - made_at
     FROM generate_series($1::int, $2::int - 1) AS step
     JOIN slots ON slot = step % $5 JOIN models USING (kind) CROSS JOIN payers p
     CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now() - interval '5 minutes'
       - interval '1 hour' * ${HOURS} * (1 - (step * $4::int + p.n)::float8 / ($3::float8 * $4))) AS at, translate(gen_random_uuid()::text, '-', '') AS hash) AS time`,
    [from, to, steps, payers, ROUND.length],
  )
  await stage.sql('ANALYZE made')
}

/** Copies every row that belongs to the model, with the ids and times of the copies. */
async function copy(stage: Stage, model: Model): Promise<void> {
  const { kind, table, id, quote_id } = model
  const where = `m.kind = '${kind}'`
  await insert(stage, table, { from: `t.id = '${id}' AND ${where}`, columns: { id: 'm.id' } })
  if (quote_id) {
    const columns = { id: 'm.quote_id', trade_id: 'm.id' }
    await insert(stage, 'quotes', { from: `t.id = '${quote_id}' AND ${where}`, columns })
    await stage.sql(`INSERT INTO unfolded (trade_id) SELECT id FROM made m WHERE ${where}`)
  }
  if (kind === 'transfer') await copyTransactions(stage, model, where)
  if (kind === 'payout') {
    const columns = { payout_id: 'm.id', end_to_end_id: 'm.outside' }
    await insert(stage, 'end_to_end_ids', { from: `t.payout_id = '${id}' AND ${where}`, columns })
  }
  const joins = `LEFT JOIN lines l ON l.slot = m.slot AND t.account = 'customer' AND l.asset = t.asset AND l.movement = t.movement AND l.line = t.line
    LEFT JOIN sums s ON s.asset = l.asset`
  await insert(stage, 'entries', {
    from: `t.cause_id = '${id}' AND ${where}`,
    joins,
    columns: {
      cause_id: 'm.id',
      owner: `CASE t.owner WHEN '${model.customer_id}' THEN m.customer_id ELSE t.owner END`,
      seq: 'm.round * s.seq + l.seq',
      balance_after: 'm.round * s.balance + l.balance',
    },
  })
  const told = replaced(model)
  await insert(stage, 'events', {
    into: 'told',
    from: `t.object_id = '${id}' AND ${where}`,
    columns: {
      id: newIdSql(`'evt'`, 't.created_at + m.shift'),
      object_id: 'm.id',
      data: `(${told('t.data::text')})::json`,
      // The time in microseconds, plus an offset that orders events of one millisecond.
      position:
        '(extract(epoch FROM t.created_at + m.shift) * 1000000)::bigint + m.g % 300 * 3 + t.sequence % 3',
    },
  })
  await insert(stage, 'claims', {
    from: `t.resource_id = '${id}' AND ${where}`,
    columns: { key: 'm.key', resource_id: 'm.id', answer_body: told('t.answer_body') },
  })
}

/** The copies took the next nonces of the wallet; each has the transaction of the model under its own hash. */
async function copyTransactions(stage: Stage, { id }: Model, where: string): Promise<void> {
  const columns = { transfer_id: 'm.id' }
  await insert(stage, 'transactions', { from: `t.transfer_id = '${id}' AND ${where}`, columns })
  await stage.sql(
    `UPDATE wallets SET next_nonce = next_nonce + (SELECT count(*) FROM made m WHERE ${where})
     WHERE id = (SELECT wallet_id FROM transfers WHERE id = '${id}')`,
  )
}

/** Inserts the events of all kinds in log order. */
async function tell(stage: Stage): Promise<void> {
  await stage.sql('INSERT INTO events SELECT * FROM told ORDER BY position')
  await stage.sql('TRUNCATE told')
}

const NAMED: Readonly<Record<string, string>> = {
  customer_id: 'm.customer_id',
  quote_id: 'm.quote_id',
  idempotency_key: 'm.key',
  // The send id is derived from the payout's id.
  send_id: 'replace(t.send_id, substr(t.id, 4), substr(m.id, 4))',
  end_to_end_id: 'CASE WHEN t.end_to_end_id IS NOT NULL THEN m.outside END',
  tx_hash: 'CASE WHEN t.tx_hash IS NOT NULL THEN m.outside END',
  nonce: '(SELECT next_nonce FROM wallets WHERE id = t.wallet_id) - 1 + row_number() OVER (ORDER BY m.g)',
}

type Copying = { from: string; joins?: string; columns: Record<string, string>; into?: string }

/** Columns without ids or times are copied; generated columns are left to the database. */
async function insert(
  stage: Stage,
  table: string,
  { from, joins = '', columns, into = table }: Copying,
): Promise<void> {
  const all = await stage.sql(
    `SELECT attname AS name, atttypid = 'timestamptz'::regtype AS is_time FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = '' AND attgenerated = ''`,
    [`sandbox.${table}`],
  )
  const copyOf = ({ name, is_time }: { name: string; is_time: boolean }) =>
    columns[name] ?? NAMED[name] ?? (is_time ? `t.${name} + m.shift` : `t.${name}`)
  await stage.sql(
    `INSERT INTO ${into} (${all.map(({ name }) => name).join(', ')})
     SELECT ${all.map((column) => copyOf(column as never)).join(', ')} FROM made m CROSS JOIN ${table} t ${joins} WHERE ${from} ORDER BY m.g`,
  )
}

/** Replaces ids and times in a text by those of a copy. */
function replaced({ row, id, customer_id, quote_id }: Model): (text: string) => string {
  const iso = (time: Date) =>
    `to_char(('${time.toISOString()}'::timestamptz + m.shift) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const texts = new Map<string, string>([
    [id, 'm.id'],
    [customer_id, 'm.customer_id'],
  ])
  if (quote_id) texts.set(quote_id, 'm.quote_id')
  if (row.idempotency_key) texts.set(String(row.idempotency_key), 'm.key')
  for (const name of [row.end_to_end_id, row.tx_hash]) if (name) texts.set(String(name), 'm.outside')
  for (const value of Object.values(row))
    if (value instanceof Date) texts.set(value.toISOString(), iso(value))
  return (text) => [...texts].reduce((sql, [from, to]) => `replace(${sql}, '${from}', ${to})`, text)
}

const creditBalances = (stage: Stage, rounds: number) =>
  stage.sql(
    `UPDATE balances b SET balance = s.balance * $1, seq = s.seq * $1 FROM sums s JOIN payers p ON true WHERE b.customer_id = p.id AND b.asset = s.asset`,
    [rounds],
  )

const STILL_CORES = 0.3
const WAIT_S = 900

/** Waits until the background workers (events, trades, sums) have caught up. */
async function quietness(stage: Stage): Promise<void> {
  const used = () => {
    const { server_cpu, database_cpu } = stage.usage()
    return server_cpu + database_cpu
  }
  for (let waited = 0, still = 0; still < 4; waited++) {
    if (waited === WAIT_S) throw new Error('the service is still busy with its history')
    const before = used()
    await sleep(1000)
    still = used() - before < STILL_CORES ? still + 1 : 0
  }
}
