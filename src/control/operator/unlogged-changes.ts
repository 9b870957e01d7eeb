import { IN_PRODUCTION } from '../../ledger/audit.ts'

/**
 * Queries for keys and customers that no act accounts for. An event that tells of the change is not enough: the role of
 * a world can write the row and the event together, and has no key to sign a line of the act log (decision 0029).
 */

/** The sandbox key of the demo has no line, so a key without lines is a finding in production only. */
export const keysWithoutAct = `SELECT k.id AS object_id, 'a value of a key that nobody made' AS wrong FROM api_keys k
  CROSS JOIN LATERAL (SELECT count(*) AS made, max(last_four) FILTER (WHERE valid_until IS NULL) AS last_four
    FROM api_key_values WHERE api_key_id = k.id) AS v
  CROSS JOIN LATERAL (SELECT count(*) AS lines, count(*) FILTER (WHERE a.action = 'create_key') AS created,
      (array_agg(a.after::json ->> 'last_four' ORDER BY a.seq DESC))[1] AS last_four
    FROM acts a WHERE a.object_id = k.id AND a.action IN ('create_key', 'rotate_key')) AS said
  WHERE CASE WHEN said.created > 0 THEN v.made <> said.lines OR v.last_four <> said.last_four
    ELSE ${IN_PRODUCTION} END`

/** Partners change names, e-mails and metadata; only operators block customers or allow payouts to others. */
export const customersWithoutAct = `SELECT c.id AS object_id, 'a customer whom nobody blocked, unblocked or let pay others' AS wrong
  FROM customers c LEFT JOIN LATERAL (SELECT a.after::json AS after FROM acts a WHERE a.object_id = c.id
    AND a.action IN ('block_customer', 'unblock_customer', 'allow_third_party') ORDER BY a.seq DESC LIMIT 1) AS line ON true
  WHERE CASE WHEN line.after IS NOT NULL THEN line.after ->> 'status' IS DISTINCT FROM c.status
      OR line.after ->> 'third_party_payouts' IS DISTINCT FROM c.third_party_payouts::text
    ELSE (c.status <> 'active' OR c.third_party_payouts) AND ${IN_PRODUCTION} END`
