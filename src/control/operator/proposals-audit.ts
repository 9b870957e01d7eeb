import { type Check, IN_PRODUCTION, type RangeCheck } from '../../ledger/audit.ts'
import type { MoneyActionName } from './actions.ts'

/**
 * In production every act on money was proposed by one operator and approved by another, with the same details as the
 * booking. A booking may have an approved proposal without an end: a node can crash between the two.
 */
const approved = (condition: string) => `EXISTS (SELECT FROM proposals p WHERE ${condition}
  AND p.approved_by <> p.proposed_by AND coalesce(p.ended, 'done') = 'done')`

const says = (field: string, value: string) => `p.details ->> '${field}' IS NOT DISTINCT FROM ${value}`

/**
 * `only` selects rows `r` of the table, `action` is the act that creates them, `facts` are the columns that the
 * proposal's details repeat.
 */
function approvalCheck(options: {
  readonly name: string
  readonly table: string
  readonly prefix: string
  readonly only?: string
  readonly action: MoneyActionName
  readonly facts: readonly string[]
  /** SQL: the partner of a row `r`, for the finding. */
  readonly partner?: string
}): RangeCheck {
  const { name, table, prefix, only = 'true', action, facts, partner = 'r.partner_id' } = options
  const proposal = [
    // Same expression as in the index.
    `p.details ->> 'reference' = r.reference`,
    `p.action = '${action}'`,
    'coalesce(p.resource_id, r.id) = r.id',
    ...facts.map((fact) => says(fact, `r.${fact}::text`)),
  ].join(' AND ')
  return {
    name,
    walk: 'causes',
    prefix,
    sql: (within) => `SELECT r.id AS object_id, ${partner} AS partner_id, r.reference FROM ${table} r
      WHERE ${IN_PRODUCTION} AND ${within('r.id')} AND ${only} AND NOT ${approved(proposal)}`,
  }
}

const booking = ['partner_id', 'customer_id', 'asset', 'amount', 'reason']

export const approvalChecks: readonly Check[] = [
  approvalCheck({
    name: 'every credit in production was proposed by one operator and approved by another',
    table: 'deposits',
    prefix: 'dep',
    only: `r.rail = 'operator'`,
    action: 'credit',
    facts: booking,
  }),
  approvalCheck({
    name: 'every debit in production was proposed by one operator and approved by another',
    table: 'adjustments',
    prefix: 'adj',
    only: `r.kind = 'debit'`,
    action: 'debit',
    facts: booking,
  }),
  approvalCheck({
    name: 'every reversal in production was proposed by one operator and approved by another',
    table: 'adjustments',
    prefix: 'adj',
    only: `r.kind <> 'debit'`,
    action: 'reverse_credit',
    facts: ['deposit_id', 'reason'],
  }),
  approvalCheck({
    name: 'every payment of fees in production was proposed by one operator and approved by another',
    table: 'fee_payouts',
    prefix: 'fp',
    action: 'pay_fees',
    facts: booking,
  }),
  approvalCheck({
    name: 'every custody move in production was proposed by one operator and approved by another',
    table: 'custody_moves',
    prefix: 'cm',
    action: 'move_custody',
    facts: ['rail', 'direction', 'asset', 'amount', 'reason'],
    partner: 'NULL',
  }),
  {
    name: 'every gap in the nonces of a wallet in production was accepted by two operators',
    walk: 'causes',
    // A few rows, checked in the piece whose range contains the name of their table.
    sql: (
      within,
    ) => `SELECT g.wallet_id AS object_id, g.first_nonce, g.next_nonce, g.proposal_id FROM wallet_gaps g
      WHERE ${IN_PRODUCTION} AND ${within(`'wallets'`)} AND NOT ${approved(`p.id = g.proposal_id AND p.action = 'resume_rail'`)}`,
  },
  {
    name: 'every resume of a rail in production was proposed by one operator and approved by another',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT r.rail AS object_id, r.id AS change_id, r.proposal_id, r.changed_by FROM rail_changes r
      WHERE ${IN_PRODUCTION} AND ${within('r.rail')} AND r.before ->> 'paused_at' IS NOT NULL AND r.after ->> 'paused_at' IS NULL
        AND NOT ${approved(
          [
            'p.id = r.proposal_id',
            `p.action = 'resume_rail'`,
            says('rail', 'r.rail'),
            says('reason', 'r.reason'),
            says('paused_at', `r.before ->> 'paused_at'`),
            'p.approved_by = r.changed_by',
          ].join(' AND '),
        )}`,
  },
  {
    name: 'every resolution in production was proposed by one operator and approved by another',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT r.resource_id AS object_id, r.outcome, r.proposal_id, r.resolved_by FROM resolutions r
      WHERE ${IN_PRODUCTION} AND ${within('r.resource_id')} AND NOT ${approved(
        [
          'p.id = r.proposal_id',
          `p.action IN ('resolve_payout', 'resolve_transfer')`,
          `coalesce(p.details ->> 'payout_id', p.details ->> 'transfer_id') = r.resource_id`,
          says('outcome', 'r.outcome'),
          says('evidence', 'r.evidence'),
        ].join(' AND '),
      )}`,
  },
  {
    name: 'every cancel of a transfer in production was proposed by one operator and approved by another',
    walk: 'causes',
    prefix: 'tr',
    // The approval is written in the transaction that requests the cancel, with the same time.
    sql: (within) => `SELECT t.id AS object_id, t.partner_id, t.cancel_requested_at FROM transfers t
      WHERE ${IN_PRODUCTION} AND ${within('t.id')} AND (t.cancel_requested_at IS NOT NULL OR t.failure_code = 'canceled'
        OR EXISTS (SELECT FROM transactions x WHERE x.transfer_id = t.id AND x.purpose = 'cancel'
          AND (t.completed_at IS NULL OR x.created_at <= t.completed_at)))
        AND NOT ${approved(
          [
            `p.action = 'cancel_transfer'`,
            `p.details ->> 'transfer_id' = t.id`,
            'p.approved_at = t.cancel_requested_at',
          ].join(' AND '),
        )}`,
  },
]
