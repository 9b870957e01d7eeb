import type { Db } from '../../db/pool.ts'
import type { FindingRow, SearchCheck } from '../../ledger/audit.ts'
import { emptyHolding, type Holding } from './average-cost.ts'
import type { Position, UnfoldedTrade } from './store.ts'
import { foldIntoPositions } from './treasury.ts'

/**
 * Folds all trades again, in their recorded order, and compares the result with the stored positions: amount, cost and realised
 * gain, to the centavo. Can stop after any step and continue later.
 */
type Replay = {
  /** Number of the last fold in this replay. */
  readonly n: bigint
  readonly positions: ReadonlyMap<string, Position>
  readonly missing: readonly string[]
}

const FOLDS_AT_ONCE = 200
const TRADES_AT_ONCE = 5000

export const emptyReplay: Replay = { n: 0n, positions: new Map(), missing: [] }

/** Replays the next folds; `done` if there are no more now. */
export async function stepReplay(db: Db, replay: Replay): Promise<Replay & { done: boolean }> {
  const { rows } = await db.query('SELECT n, trade_ids FROM folds WHERE n > $1 ORDER BY n LIMIT $2', [
    replay.n,
    FOLDS_AT_ONCE,
  ])
  const ids: string[] = rows.flatMap(({ trade_ids }) => trade_ids)
  let positions = replay.positions
  const missing: string[] = [...replay.missing]
  for (let from = 0; from < ids.length; from += TRADES_AT_ONCE) {
    const part = ids.slice(from, from + TRADES_AT_ONCE)
    const trades = await tradesById(db, part)
    const found = part.flatMap((id) => trades.get(id) ?? [])
    missing.push(...part.filter((id) => !trades.has(id)))
    positions = new Map([
      ...positions,
      ...foldIntoPositions([...positions.values()], found).map((p) => [p.id, p] as const),
    ])
  }
  return { n: rows.at(-1)?.n ?? replay.n, positions, missing, done: rows.length < FOLDS_AT_ONCE }
}

async function tradesById(db: Db, ids: readonly string[]): Promise<Map<string, UnfoldedTrade>> {
  const { rows } = await db.query(
    `SELECT id, partner_id, from_asset, to_asset, from_amount, to_amount, partner_fee, service_fee, worth_brl
     FROM trades WHERE id = ANY($1::text[]) AND status = 'completed'`,
    [ids],
  )
  return new Map(rows.map((row: UnfoldedTrade) => [row.id, row]))
}

/** Positions that differ from the replay. Must run in one snapshot with the last step. */
export async function compareReplay(db: Db, { positions, missing }: Replay): Promise<FindingRow[]> {
  const stored = await db.query('SELECT id, account, owner, asset, amount, cost, realised FROM positions')
  // Fee payouts reduce the positions without a fold.
  const paid = await db.query(
    `SELECT 'partner_fees ' || partner_id || ' ' || asset AS id, sum(amount) AS amount FROM fee_payouts GROUP BY partner_id, asset`,
  )
  const expected = new Map<string, Holding>(
    [...positions].map(([id, { amount, cost, realised }]) => [id, { amount, cost, realised }]),
  )
  for (const { id, amount } of paid.rows) {
    const before = expected.get(id) ?? emptyHolding
    expected.set(id, { ...before, amount: before.amount - amount })
  }
  const actual = new Map(stored.rows.map((row) => [row.id as string, row]))
  const wrong: FindingRow[] = missing.map((id) => ({ object_id: id, folded: true, completed: false }))
  for (const id of new Set([...expected.keys(), ...actual.keys()])) {
    const want = expected.get(id) ?? emptyHolding
    const have = actual.get(id) ?? { ...emptyHolding, account: id.split(' ')[0] }
    const named = `${have.account} ${have.owner ?? id.split(' ')[1]} ${have.asset ?? id.split(' ')[2]}`
    if (
      named === id &&
      want.amount === have.amount &&
      want.cost === have.cost &&
      want.realised === have.realised
    )
      continue
    const { amount, cost, realised } = have
    wrong.push({ object_id: id, amount, cost, realised, expected: want })
  }
  return wrong
}

export const REPLAY_NAME = 'every position has the amount, the cost and the result that its trades make'

/** The whole replay at once, in the caller's snapshot. */
export const replayCheck: SearchCheck = {
  name: REPLAY_NAME,
  async find(db) {
    let replay = { ...emptyReplay, done: false }
    while (!replay.done) replay = await stepReplay(db, replay)
    return compareReplay(db, replay)
  },
}

/** As JSON, to be stored between two steps. */
export const packReplay = ({ n, positions, missing }: Replay): unknown => ({
  n: n.toString(),
  positions: [...positions.values()].map((position) => ({
    ...position,
    amount: position.amount.toString(),
    cost: position.cost.toString(),
    realised: position.realised.toString(),
  })),
  missing: missing.slice(0, 100),
})

export function unpackReplay(packed: unknown): Replay {
  const { n, positions, missing } = packed as {
    n: string
    positions: Record<string, string>[]
    missing: string[]
  }
  const holdings = positions.map((p) => ({
    ...p,
    amount: BigInt(p.amount!),
    cost: BigInt(p.cost!),
    realised: BigInt(p.realised!),
  })) as unknown as Position[]
  return { n: BigInt(n), positions: new Map(holdings.map((p) => [p.id, p])), missing }
}
