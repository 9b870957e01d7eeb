import { UNITS_MAX } from '../../core/money.ts'
import type { Check } from '../../ledger/audit.ts'
import { onceChecks } from '../../ledger/claims-audit.ts'
import { isoTime, metadataText, missingEventCheck } from '../../records/events/store.ts'
import { CHARGE_OPERATION } from './responses.ts'

/** SQL: whether the charge came into each state. A payment may complete a charge that the provider has not confirmed. */
const reached = (charge: string) =>
  `(${charge}.opened_at IS NOT NULL)::integer + (${charge}.expired_at IS NOT NULL)::integer
    + (${charge}.paid_at IS NOT NULL)::integer + (${charge}.failed_at IS NOT NULL)::integer`

export const chargeChecks: readonly Check[] = [
  {
    name: 'every charge is in a state that can be, of a customer and a key of its partner',
    walk: 'causes',
    prefix: 'chg',
    sql: (
      within,
    ) => `SELECT c.id AS object_id, c.partner_id, c.customer_id, c.api_key_id, c.status, c.sequence FROM pix_charges c
      LEFT JOIN customers o ON o.id = c.customer_id LEFT JOIN api_keys k ON k.id = c.api_key_id
      WHERE ${within('c.id')} AND (o.partner_id IS DISTINCT FROM c.partner_id OR k.partner_id IS DISTINCT FROM c.partner_id
        OR c.txid <> 'TRILHO' || substr(c.id, 5) OR c.amount <= 0 OR c.expires_at < c.created_at
        OR c.sequence <> ${reached('c')} OR (c.opened_at IS NULL) <> (c.br_code IS NULL)
        OR (c.failed_at IS NULL) <> (c.failure_code IS NULL) OR (c.failure_code IS NULL AND c.rail_code IS NOT NULL)
        OR (c.status = 'pending' AND c.next_attempt_at > now() + interval '2 days')
        OR c.expired_at < c.expires_at OR c.opened_at < c.created_at OR c.failed_at < c.created_at
        OR c.status <> CASE WHEN c.failed_at IS NOT NULL THEN 'failed' WHEN c.paid_at IS NOT NULL THEN 'paid'
          WHEN c.expired_at IS NOT NULL THEN 'expired' WHEN c.opened_at IS NOT NULL THEN 'open' ELSE 'pending' END
        OR (c.expired_at IS NOT NULL AND c.opened_at IS NULL) OR (c.failed_at IS NOT NULL AND (c.opened_at, c.paid_at) IS DISTINCT FROM (NULL, NULL)))`,
  },
  {
    name: 'every charge has received the sum of its deposits, and is paid when that is its amount',
    walk: 'causes',
    prefix: 'chg',
    sql: (
      within,
    ) => `SELECT c.id AS object_id, c.partner_id, c.status, c.amount, c.amount_received, d.amount AS deposited FROM pix_charges c
      CROSS JOIN LATERAL (SELECT coalesce(sum(d.amount), 0) AS amount FROM deposits d WHERE d.charge_id = c.id AND d.status = 'completed') AS d
      WHERE ${within('c.id')} AND (c.amount_received <> d.amount
        OR (c.paid_at IS NOT NULL AND NOT EXISTS (SELECT FROM pix_received r WHERE r.charge_id = c.id AND r.paid_at = c.paid_at))
        OR (c.status = 'paid') <> (c.amount_received >= c.amount AND c.status <> 'failed'))`,
  },
  {
    name: 'every deposit by Pix is a payment that came in for its charge, as much as was paid',
    walk: 'causes',
    prefix: 'dep',
    sql: (
      within,
    ) => `SELECT d.id AS object_id, d.partner_id, d.end_to_end_id, d.charge_id, d.amount, r.amount AS received FROM deposits d
      LEFT JOIN pix_received r ON r.end_to_end_id = d.end_to_end_id LEFT JOIN pix_charges c ON c.id = d.charge_id
      WHERE ${within('d.id')} AND d.rail = 'pix' AND ((r.deposit_id, r.charge_id, r.amount) IS DISTINCT FROM (d.id, d.charge_id, d.amount)
        OR (c.partner_id, c.customer_id, c.txid) IS DISTINCT FROM (d.partner_id, d.customer_id, r.txid))`,
  },
  {
    name: 'no Pix payment is credited by the service and by an operator',
    walk: 'causes',
    prefix: 'dep',
    sql: (
      within,
    ) => `SELECT d.id AS object_id, d.partner_id, d.end_to_end_id, o.id AS other_id FROM deposits d
      JOIN deposits o ON o.rail = 'operator' AND o.reference = d.end_to_end_id
      WHERE ${within('d.id')} AND d.rail = 'pix' AND NOT EXISTS (SELECT FROM adjustments a WHERE a.deposit_id = o.id)`,
  },
  {
    name: 'every payment that came in for a charge is credited, or waits for room in the balance',
    walk: 'causes',
    prefix: 'chg',
    sql: (
      within,
    ) => `SELECT c.id AS object_id, c.partner_id, r.end_to_end_id, r.amount, r.deposit_id FROM pix_charges c
      JOIN pix_received r ON r.charge_id = c.id LEFT JOIN deposits d ON d.id = r.deposit_id
      LEFT JOIN balances b ON b.customer_id = c.customer_id AND b.asset = 'BRL'
      WHERE ${within('c.id')} AND (r.txid IS DISTINCT FROM c.txid OR CASE WHEN r.deposit_id IS NULL
        THEN r.seen_at < now() - interval '1 hour' AND greatest(b.balance + b.in_transit, c.amount_received) + r.amount <= ${UNITS_MAX}
        ELSE (d.end_to_end_id, d.charge_id, d.amount) IS DISTINCT FROM (r.end_to_end_id, c.id, r.amount) END)`,
  },
  {
    name: 'no payment without a charge is credited, and none names a charge that does not exist',
    sql: () => `SELECT r.end_to_end_id AS object_id, r.charge_id, r.deposit_id FROM pix_received r
      LEFT JOIN pix_charges c ON c.id = r.charge_id
      WHERE (r.charge_id IS NULL AND r.deposit_id IS NOT NULL) OR (r.charge_id IS NOT NULL AND c.id IS NULL)
        OR r.amount_returned NOT BETWEEN 0 AND r.amount`,
  },
  ...onceChecks({
    table: 'pix_charges',
    prefix: 'chg',
    operation: CHARGE_OPERATION,
    open: `r.status IN ('pending', 'open')`,
    repeats: ['amount', 'txid'],
    statuses: ['pending', 'open', 'paid', 'expired', 'failed'],
    answered: 'later',
    // Responses that equal no event: the charge was still pending, or a payment had come in before the response was made.
    untold: `(strpos(c.answer, '"status":"pending"') > 0 AND strpos(c.answer, '"pix_copia_e_cola":null') > 0
      OR strpos(c.answer, '"amount_received":"0"') = 0 AND strpos(c.answer, '"pix_copia_e_cola":"' || r.br_code || '"') > 0)`,
  }),
  missingEventCheck({
    name: 'every charge was told at each of its states, as it is',
    prefix: 'chg',
    table: 'pix_charges',
    // NULL for a paid charge: `paid_at` is the provider's time, and only the event has the time at which the payment was noted.
    expected: (
      within,
    ) => `SELECT c.id AS object_id, v.sequence, 'pix.charge.' || v.status AS type, c.partner_id, v.at AS created_at, c.created_at AS since,
        ARRAY[c.id, c.customer_id, c.amount::text, v.status, c.txid, c.br_code, c.idempotency_key, ${isoTime('c.created_at')},
          CASE WHEN v.status = 'paid' THEN ${isoTime('c.paid_at')} END, CASE WHEN v.status = 'failed' THEN ${isoTime('c.failed_at')} END,
          CASE WHEN v.status = 'failed' THEN c.failure_code END, CASE WHEN v.status = 'failed' THEN c.rail_code END, CASE WHEN v.status <> 'open' THEN ${isoTime('c.expires_at')} END, c.description] AS facts,
        ${metadataText('c.metadata')} AS metadata
      FROM pix_charges c CROSS JOIN LATERAL (SELECT row_number() OVER (ORDER BY place)::integer AS sequence, status, at FROM (VALUES
        (c.opened_at IS NOT NULL, 1, 'open', c.opened_at), (c.expired_at IS NOT NULL, 2, 'expired', c.expired_at),
        (c.paid_at IS NOT NULL, 3, 'paid', NULL), (c.failed_at IS NOT NULL, 4, 'failed', c.failed_at)) AS s (happened, place, status, at)
        WHERE happened) AS v
      WHERE ${within('c.id')}`,
    fields: `id text, customer_id text, amount text, status text, txid text, pix_copia_e_cola text, idempotency_key text, created_at text,
      expires_at text, paid_at text, failed_at text, failure json, description text, metadata json`,
    facts: `ARRAY[d.id, d.customer_id, d.amount, d.status, d.txid, d.pix_copia_e_cola, d.idempotency_key, d.created_at, d.paid_at, d.failed_at,
      d.failure ->> 'code', d.failure ->> 'rail_code', CASE WHEN d.status <> 'open' THEN d.expires_at END, d.description]`,
    personal: 1,
  }),
]
