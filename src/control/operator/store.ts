import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import { rowSource, updateOf } from '../../ledger/command.ts'
import type { MoneyAction } from './actions.ts'
import type { PeopleAction } from './people.ts'

export type ProposalEnd = 'done' | 'rejected' | 'withdrawn' | 'expired' | 'superseded'

/** Acts that can be proposed: money in production, and acts on people. */
export type Proposable = MoneyAction | PeopleAction

export type Proposal = {
  readonly id: string
  readonly action: Proposable['name']
  readonly details: Proposable['details']
  readonly proposed_by: string
  readonly proposed_at: Date
  /** The last moment at which the proposal can be approved. */
  readonly expires_at: Date
  /** Set in the transaction that moves the money. */
  readonly approved_by: string | null
  readonly approved_at: Date | null
  /** The object that the act created or changed; set when the proposal is done. */
  readonly resource_id: string | null
  readonly ended: ProposalEnd | null
  readonly ended_by: string | null
  readonly ended_reason: string | null
  readonly ended_at: Date | null
}

const COLUMNS = columnsOf('proposals')

export async function insertProposal(
  db: Db,
  proposal: Pick<Proposal, 'id' | 'action' | 'details' | 'proposed_by'>,
): Promise<Proposal> {
  const { rows } = await db.query(
    `INSERT INTO proposals (id, action, details, proposed_by) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
    [proposal.id, proposal.action, JSON.stringify(proposal.details), proposal.proposed_by],
  )
  return rows[0]
}

export async function proposalById(db: Db, id: string): Promise<Proposal | undefined> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM proposals WHERE id = $1`, [id])
  return rows[0]
}

/** Locks the row until the transaction ends. */
export async function lockProposal(tx: Db, id: string): Promise<Proposal | undefined> {
  const { rows } = await tx.query(proposalRows.sql, [[id]])
  return rows[0]
}

/** One batch, in the order of ids. */
export async function proposalsAfter(db: Db, id: string, limit: number): Promise<Proposal[]> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM proposals WHERE id > $1 ORDER BY id LIMIT $2`, [
    id,
    limit,
  ])
  return rows
}

/** Open proposals first, then the newest. */
export async function selectProposals(db: Db, limit: number): Promise<Proposal[]> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM proposals ORDER BY (ended IS NULL) DESC, proposed_at DESC, id DESC LIMIT $1`,
    [limit],
  )
  return rows
}

/** The proposals that hold any of these payouts and transfers. */
export async function openResolutions(db: Db, resources: readonly string[]): Promise<Proposal[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('proposals', 'p')} FROM holds h JOIN proposals p ON p.id = h.proposal_id
     WHERE h.resource_id = ANY($1::text[])`,
    [resources],
  )
  return rows
}

/** Changes when a proposal is made, approved or ended. Pages poll it. */
export async function proposalsMark(db: Db): Promise<string> {
  const { rows } = await db.query({
    name: 'proposals mark',
    text: `SELECT count(*) || ' ' || count(approved_by) || ' ' || coalesce(max(id), '') AS mark
      FROM (SELECT id, approved_by FROM proposals WHERE ended IS NULL LIMIT 1000) AS open`,
  })
  return rows[0].mark
}

export async function overdueProposals(db: Db, limit: number): Promise<string[]> {
  const { rows } = await db.query(
    `SELECT id FROM proposals WHERE ended IS NULL AND approved_by IS NULL AND expires_at <= clock_timestamp()
     ORDER BY expires_at LIMIT $1`,
    [limit],
  )
  return rows.map(({ id }) => id)
}

/** Locked by the command that moves the money, so the proposal cannot be rejected, withdrawn or expired meanwhile. */
export const proposalRows = rowSource<Proposal>(
  'proposals',
  `SELECT ${COLUMNS} FROM proposals WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const approveProposals = updateOf(proposalRows, 'proposals', {
  id: 'text',
  approved_by: 'text',
  approved_at: 'timestamptz',
})

export type ProposalEnding = {
  readonly end: ProposalEnd
  /** Null for an expired proposal. */
  readonly by: string | null
  readonly reason: string | null
  readonly resource_id: string | null
}

/** The states from which each end is allowed; the database evaluates them when it holds the row's lock. */
const allowed: Readonly<Record<ProposalEnd, string>> = {
  done: 'true',
  rejected: 'approved_by IS NULL AND expires_at > clock_timestamp()',
  withdrawn: 'approved_by IS NULL AND expires_at > clock_timestamp()',
  expired: 'approved_by IS NULL AND expires_at <= clock_timestamp()',
  superseded: 'approved_by IS NULL AND expires_at > clock_timestamp()',
}

export async function markEnded(db: Db, id: string, ending: ProposalEnding): Promise<Proposal | undefined> {
  const { end, by, reason, resource_id } = ending
  const { rows } = await db.query(
    `UPDATE proposals SET ended = $2, ended_by = $3, ended_reason = $4, ended_at = clock_timestamp(), resource_id = $5,
       approved_by = CASE WHEN $2 = 'done' THEN coalesce(approved_by, $3) ELSE approved_by END,
       approved_at = CASE WHEN $2 = 'done' THEN coalesce(approved_at, clock_timestamp()) ELSE approved_at END
     WHERE id = $1 AND ended IS NULL AND ${allowed[end]} RETURNING ${COLUMNS}`,
    [id, end, by, reason, resource_id],
  )
  return rows[0]
}
