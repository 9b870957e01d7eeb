/**
 * A large partner with as many rows in every list, and a small one with fifty over the same time. What is rare is also
 * old, so that whoever walks from the newest to it walks over everything.
 */
export type Filled = { readonly rows: number; readonly large: string; readonly small: string }

const SMALL = 50

/** An id that sorts like its number. */
export const idOf = (prefix: string, n: number): string => `${prefix}_${n.toString(16).padStart(26, '0')}`

const id = (prefix: string, n: string) => `'${prefix}_' || lpad(to_hex(${n}), 26, '0')`

/** n is a row's number, `at` its time; `rare` counts the old rows that differ from the rest. */
export function fillLists({ rows, large, small }: Filled): string[] {
  const partner = `CASE WHEN n <= ${rows} THEN '${large}' ELSE '${small}' END`
  // Rows of the small partner are spread over the time of the large one's.
  const at = `timestamptz '2026-01-01T00:00:00Z' + interval '1 second' *
    (CASE WHEN n <= ${rows} THEN n ELSE (n - ${rows}) * ${Math.floor(rows / SMALL)} END)`
  // Five customers have a few hundred rows each, and they are old; customer 0 has all others.
  const customer = `CASE WHEN n > ${rows} THEN ${id('cus', `${rows} + 1 + n % 5`)}
    WHEN n <= 12000 AND n % 10 = 0 THEN ${id('cus', '1 + n / 10 % 5')} ELSE ${id('cus', '0')} END`
  const series = `FROM generate_series(1, ${rows + SMALL}) AS n`
  const status = (done: string) =>
    `CASE WHEN n <= 30 THEN 'failed' WHEN n <= 60 THEN 'processing' WHEN n <= 90 THEN 'pending' ELSE '${done}' END`
  const fails = (code: string) => `CASE WHEN n <= 30 THEN '${code}' END`
  const ends = `CASE WHEN n NOT BETWEEN 31 AND 90 THEN ${at} END`
  const key = `CASE WHEN n % 3 = 0 THEN 'often' ELSE 'key-' || n END`
  const from = `CASE WHEN n <= 30 THEN 'BTC' WHEN n % 2 = 0 THEN 'BRL' ELSE 'USDT' END`
  const to = `CASE WHEN n <= 30 THEN 'BRL' WHEN n <= 60 THEN 'BTC' WHEN n % 2 = 0 THEN 'USDT' ELSE 'BRL' END`
  const asset = `CASE WHEN n <= 30 THEN 'BTC' WHEN n % 2 = 0 THEN 'BRL' ELSE 'USDT' END`
  const terms = `${partner}, ${customer}, 'key', ${from}, ${to}, 'buy', 540000000, 1000, 1000, 0, 0, 0, 0, 1000`
  const termColumns = `partner_id, customer_id, api_key_id, from_asset, to_asset, side, market_price, from_amount, to_amount,
    partner_fee, partner_bps, service_fee, service_bps, worth_brl`
  const type = `CASE WHEN n <= 30 THEN 'trade.failed' ELSE (ARRAY['pix.payout.created', 'pix.payout.processing', 'pix.payout.completed'])[1 + n % 3] END`
  const endpoint = `CASE WHEN n <= ${rows} THEN ${id('whe', '0')} ELSE ${id('whe', '1')} END`
  return [
    `SET search_path = sandbox; SET session_replication_role = replica; SET synchronous_commit = off`,
    `INSERT INTO customers (id, partner_id, name, document, document_type, external_id, status, created_at)
     SELECT ${id('cus', `CASE WHEN n <= ${rows} THEN n - 1 ELSE n END`)}, ${partner}, 'Ana', CASE WHEN n = 7 THEN '52998224725' ELSE 'd' || n END, 'cpf', 'u' || n,
       CASE WHEN n <= 30 THEN 'blocked' ELSE 'active' END, ${at} ${series}`,
    `INSERT INTO payouts (id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty, send_id,
       end_to_end_id, failure_code, attempts, next_attempt_at, sequence, created_at, completed_at)
     SELECT ${id('po', 'n')}, ${partner}, ${customer}, 'key', ${key}, 100, 0, ${status('completed')},
       '{"type":"pix_key","name":"Ana","document":"52998224725","pix_key":"52998224725"}', 's' || n, CASE WHEN n > 90 THEN 'E' || n END, ${fails('rejected')}, 1, ${at}, 3, ${at}, ${ends} ${series}`,
    `INSERT INTO transfers (id, partner_id, customer_id, api_key_id, idempotency_key, asset, network, amount_net, fee, status,
       destination_address, tx_hash, signed_transaction, failure_code, attempts, next_attempt_at, sequence, created_at, completed_at)
     SELECT ${id('tr', 'n')}, ${partner}, ${customer}, 'key', ${key}, CASE WHEN n <= 30 THEN 'BTC' ELSE 'USDT' END,
       CASE WHEN n <= 30 THEN 'bitcoin' WHEN n <= 60 THEN 'tron' ELSE (ARRAY['polygon', 'ethereum'])[1 + n % 2] END, 100, 1, ${status('confirmed')},
       'x', 'hash-' || n, 'signed', ${fails('reverted')}, 1, ${at}, 3, ${at}, ${ends} ${series}`,
    `INSERT INTO quotes (id, ${termColumns}, price_source, created_at, expires_at, trade_id)
     SELECT ${id('qt', 'n')}, ${terms}, 'fixed', ${at}, ${at} + interval '30 seconds',
       CASE WHEN n <= 30 THEN ${id('td', 'n')} END ${series}`,
    `INSERT INTO trades (id, quote_id, ${termColumns}, status, failure_code, quote_expires_at, created_at)
     SELECT ${id('td', 'n')}, ${id('qt', 'n')}, ${terms}, CASE WHEN n <= 30 THEN 'failed' ELSE 'completed' END,
       ${fails('treasury_limit')}, ${at} + interval '30 seconds', ${at} ${series}`,
    `INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, status, created_at)
     SELECT ${id('dep', 'n')}, ${partner}, ${customer}, ${asset}, 100, 'sandbox',
       CASE WHEN n <= 30 THEN 'pending' WHEN n <= 60 THEN 'dropped' ELSE 'completed' END, ${at} ${series}`,
    `INSERT INTO pix_charges (id, partner_id, customer_id, api_key_id, idempotency_key, amount, txid, status, br_code, attempts,
       next_attempt_at, sequence, created_at, expires_at, opened_at)
     SELECT ${id('chg', 'n')}, ${partner}, ${customer}, 'key', ${key}, 100, 't' || n,
       CASE WHEN n <= 30 THEN 'failed' WHEN n <= 60 THEN 'pending' WHEN n <= 90 THEN 'expired' WHEN n % 2 = 0 THEN 'open' ELSE 'paid' END,
       'code', 1, ${at}, 1, ${at}, ${at}, ${at} ${series}`,
    `INSERT INTO fee_payouts (id, partner_id, asset, amount, reason, reference, created_at)
     SELECT ${id('fp', 'n')}, ${partner}, ${asset}, 100, 'fees', 'r' || n, ${at} ${series}`,
    `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at)
     SELECT ${id('dep', 'n')}, 'credited', 1, ${partner}, 'customer', ${id('cus', '0')}, CASE WHEN n <= 30 THEN 'BTC' ELSE 'BRL' END,
       100, CASE WHEN n <= 30 THEN n ELSE n - 30 END, 100, ${at} FROM generate_series(1, ${rows}) AS n`,
    `INSERT INTO balances (customer_id, asset, partner_id, seq)
     VALUES (${id('cus', '0')}, 'BRL', '${large}', ${rows - 30}), (${id('cus', '0')}, 'USDT', '${large}', 0), (${id('cus', '0')}, 'BTC', '${large}', 30)`,
    `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position)
     SELECT *, (extract(epoch FROM created_at) * 1000000)::bigint + row_number() OVER (ORDER BY created_at, id) FROM (
       SELECT ${id('evt', 'n')} AS id, ${partner}, ${type}, ${id('po', 'n / 3')}, n % 3, '{}'::json, ${at} AS created_at ${series}) AS told
     ORDER BY created_at, id`,
    `INSERT INTO webhook_endpoints (id, partner_id, url, events, status, secret, created_at)
     SELECT ${id('whe', 'n')}, CASE WHEN n = 1 THEN '${small}' ELSE '${large}' END, 'https://example.com', '{*}', CASE WHEN n < 20 THEN 'enabled' ELSE 'deleted' END, '', ${at} FROM generate_series(0, 2000) AS n`,
    `INSERT INTO webhook_deliveries (event_id, endpoint_id, status, next_attempt_at, created_at, ended_at)
     SELECT ${id('evt', 'n')}, ${endpoint}, CASE WHEN n <= 30 THEN 'pending' WHEN n <= 60 THEN 'exhausted' ELSE 'delivered' END, ${at}, ${at},
       CASE WHEN n > 30 THEN ${at} END ${series}`,
    `INSERT INTO requests (id, partner_id, api_key_id, method, route, status, error_code, duration_ms, address, created_at)
     SELECT ${id('req', 'n')}, ${partner}, CASE WHEN n <= 30 THEN ${id('key', '9')} ELSE ${id('key', '1')} END, 'GET', '/v1/account',
       CASE WHEN n <= 30 THEN 422 WHEN n % 20 = 0 THEN 400 ELSE 201 END, CASE WHEN n <= 30 THEN 'internal_error' WHEN n % 20 = 0 THEN 'invalid_request' END,
       1, '192.0.2.1', ${at} ${series}`,
    `INSERT INTO acts (seq, at, actor_kind, actor_email, action, object_id, proposal_id, partner_id, previous_hash, hash)
     SELECT n, ${at}, 'person', CASE WHEN n <= 30 THEN 'old@example.com' ELSE 'ana@example.com' END, CASE WHEN n <= 30 THEN 'freeze' ELSE 'sign_in' END,
       ${id('po', 'n')}, CASE WHEN n <= 30 THEN ${id('prp', 'n')} END, ${partner}, '', '' ${series}`,
    `INSERT INTO exceptions (id, kind, rail, object_id, details, opened_at, closed_at, closed_by, closed_reason)
     SELECT ${id('exc', 'n')}, 'stuck', 'pix', ${id('po', 'n')}, '{}', ${at}, CASE WHEN n > 30 THEN ${at} END, CASE WHEN n > 30 THEN 'x' END, CASE WHEN n > 30 THEN 'x' END ${series}`,
    'VACUUM ANALYZE',
  ]
}
