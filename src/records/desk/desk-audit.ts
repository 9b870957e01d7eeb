import type { RangeCheck } from '../../ledger/audit.ts'

const subjectOf = (proposal: string) =>
  `coalesce(${proposal}.details ->> 'payout_id', ${proposal}.details ->> 'transfer_id')`

const OF_DESK = `('resolve_payout', 'resolve_transfer', 'cancel_transfer')`

/** Failure code of an order that an operator resolved as failed. */
const BY_OPERATOR = `'resolved_by_operator'`

const resolvedWithout = (
  table: string,
  within: string,
) => `SELECT r.id AS object_id, r.partner_id, r.status, r.failure_code AS outcome FROM ${table} r
  WHERE ${within} AND ${BY_OPERATOR} IN (r.failure_code, r.rail_code)
    AND NOT EXISTS (SELECT FROM resolutions o WHERE o.resource_id = r.id AND o.outcome = 'failed')`

/** Holds and resolutions must match their proposals, payouts and transfers. */
export const deskChecks: readonly RangeCheck[] = [
  {
    name: 'every hold has an open proposal, and every open proposal about a payout or transfer has a hold',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT h.resource_id AS object_id, h.proposal_id, p.ended FROM holds h LEFT JOIN proposals p ON p.id = h.proposal_id
      WHERE ${within('h.resource_id')} AND (p.id IS NULL OR p.ended IS NOT NULL OR p.action NOT IN ${OF_DESK}
        OR ${subjectOf('p')} IS DISTINCT FROM h.resource_id)
      UNION ALL
      SELECT ${subjectOf('p')}, p.id, p.ended FROM proposals p LEFT JOIN holds h ON h.resource_id = ${subjectOf('p')}
      WHERE ${within('p.id')} AND p.ended IS NULL AND p.action IN ${OF_DESK} AND h.resource_id IS NULL`,
  },
  {
    name: 'every resolution agrees with its payout or transfer, and every end by an operator has one',
    walk: 'causes',
    // The resolution is written in the transaction that books the end, with the same time.
    sql: (within) => `SELECT o.resource_id AS object_id, coalesce(p.partner_id, t.partner_id) AS partner_id,
        coalesce(p.status, t.status) AS status, o.outcome
      FROM resolutions o LEFT JOIN payouts p ON p.id = o.resource_id LEFT JOIN transfers t ON t.id = o.resource_id
      WHERE ${within('o.resource_id')} AND (coalesce(p.status, t.status) IS DISTINCT FROM o.outcome
        OR coalesce(p.completed_at, t.completed_at) IS DISTINCT FROM o.resolved_at)
      UNION ALL ${resolvedWithout('payouts', within('r.id'))}
      UNION ALL ${resolvedWithout('transfers', within('r.id'))}`,
  },
  {
    name: 'every follow-up belongs to a resolution, a payout that was never sent or a mined transfer, and every repeated send to a payout or transfer',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT f.resource_id AS object_id, 'follow_ups' AS found_in FROM follow_ups f WHERE ${within('f.resource_id')}
        AND NOT EXISTS (SELECT FROM resolutions o WHERE o.resource_id = f.resource_id
          AND starts_with(f.resource_id, CASE f.kind WHEN 'payout' THEN 'po_' ELSE 'tr_' END))
        AND NOT (f.kind = 'payout' AND EXISTS (SELECT FROM payouts p WHERE p.id = f.resource_id AND p.failure_code = 'never_sent'))
        AND NOT (f.kind = 'transfer' AND EXISTS (SELECT FROM transactions x JOIN transfers t ON t.id = x.transfer_id
          WHERE x.transfer_id = f.resource_id AND x.block_hash IS NOT NULL AND t.completed_at IS NOT NULL))
      UNION ALL SELECT s.resource_id, 'sends' FROM sends s WHERE ${within('s.resource_id')}
        AND NOT EXISTS (SELECT FROM payouts p WHERE p.id = s.resource_id)
        AND NOT EXISTS (SELECT FROM transfers t WHERE t.id = s.resource_id)`,
  },
]
