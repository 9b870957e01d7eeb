import { type Db, type Pool, transaction } from '../../db/pool.ts'
import {
  type AuditReport,
  audit,
  type Check,
  checkNames,
  type Finding,
  type OnCheck,
  sumsIn,
} from '../../ledger/audit.ts'
import { openFindings } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import type { EndedPass } from './progress.ts'

/** The stored result of an audit: of each whole pass in the background, and of each audit on request. */
export type AuditProof = {
  readonly id: string
  /** `auditor` for the background audit, or who requested it. */
  readonly by: string
  readonly started_at: Date
  readonly finished_at: Date
  readonly entries: bigint
  readonly customers: bigint
  /** The names of all checks that ran. */
  readonly checks: readonly string[]
  readonly sums: ProofSums
  /** The number of findings; `findings` has a few examples of each check. */
  readonly found: number
  readonly findings: readonly Finding[]
}

/** Per asset and kind of account (customer, in_transit, treasury, …, external), signed as in the ledger: each sums to zero. */
type ProofSums = Readonly<Record<string, Readonly<Record<string, bigint>>>>

export const AUDITOR = 'auditor'

const COLUMNS = 'n, by, started_at, finished_at, entries, customers, checks, sums, found, findings'

/** Newest first. */
export async function latestProofs(db: Db, limit = 48): Promise<AuditProof[]> {
  const { rows } = await db.query({
    name: 'latest proofs',
    text: `SELECT ${COLUMNS} FROM proofs ORDER BY n DESC LIMIT $1`,
    values: [limit],
  })
  return rows.map(({ n, sums, ...proof }) => ({ ...proof, id: String(n), sums: readSums(sums) }))
}

/** Returns the id of the proof. */
async function recordProof(db: Db, proof: Omit<AuditProof, 'id'>): Promise<string> {
  const { by, started_at, finished_at, entries, customers, checks, sums, found, findings } = proof
  const { rows } = await db.query(
    `INSERT INTO proofs (by, started_at, finished_at, entries, customers, checks, sums, found, findings)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING n`,
    [by, started_at, finished_at, entries, customers, checks, toJson(sums), found, toJson(findings)],
  )
  return String(rows[0].n)
}

/** Runs the whole audit over one snapshot and stores it as a proof. A failure to store it does not change the report. */
export async function prove(
  world: World,
  {
    checks,
    by,
    onCheck,
  }: { readonly checks: readonly Check[]; readonly by: string; readonly onCheck?: OnCheck },
): Promise<AuditReport> {
  const started_at = new Date(world.clock.now())
  const report = await audit(world.reads, checks, onCheck)
  const { entries, customers, assets: sums, findings } = report
  const found = findings.reduce((sum, finding) => sum + finding.found, 0)
  const names = checkNames(checks)
  const proof = { by, started_at, finished_at: new Date(world.clock.now()), entries, customers, sums }
  await recordProof(world.db, { ...proof, checks: names, found, findings }).catch(() => {})
  return report
}

/** Stores a background pass as a proof. Its findings are the open exceptions; its sums are those at its end. */
export async function proveByPass(db: Pool, ended: EndedPass, checks: readonly string[]): Promise<void> {
  const { entries, customers, assets } = await transaction(db, async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await tx.query('SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on')
    return sumsIn(tx)
  })
  const open = ended.found === 0 ? [] : await openFindings(db)
  const findings = open.map(({ check, found, examples }) => ({
    check,
    found,
    examples: examples.map((object_id) => ({ object_id })),
  }))
  await recordProof(db, { ...ended, by: AUDITOR, entries, customers, checks, sums: assets, findings })
}

const toJson = (value: unknown) =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part))

const readSums = (sums: Record<string, Record<string, string>>): ProofSums =>
  Object.fromEntries(
    Object.entries(sums).map(([asset, of]) => [
      asset,
      Object.fromEntries(Object.entries(of).map(([account, sum]) => [account, BigInt(sum)])),
    ]),
  )

export const forgetProofs = (db: Db, older_than: Date) => db.query('SELECT forget_proofs($1)', [older_than])
