import { Refusal } from '../../core/errors.ts'
import type { Asset } from '../../core/money.ts'
import { countOpen, oldestOpen, sumOpen } from '../../db/due.ts'
import type { Db } from '../../db/pool.ts'
import { assetOfRail } from '../../money/custody/controls.ts'
import {
  freeRail,
  type RailControl,
  type RailName,
  railNames,
  selectControls,
} from '../../money/custody/controls-store.ts'
import { RAIL } from '../../money/pix/settle.ts'
import type { World } from '../../world.ts'

/** A rail as operators see it: whether it accepts orders, what operators allow on it, and what is open. */
export type RailReport = {
  readonly rail: RailName
  readonly asset: Asset
  readonly simulated: boolean
  readonly configured: boolean
  /** Why the rail accepts nothing, apart from a pause; null if it does. */
  readonly message: string | null
  readonly control: RailControl
  readonly pending: number
  readonly processing: number
  /** What is open, with its fees. */
  readonly open_amount: bigint
  readonly oldest_seconds: number
  readonly oldest_id: string | null
  readonly last_failure: LastFailure | null
}

type LastFailure = { readonly id: string; readonly failed_at: Date; readonly code: string }

export async function describeRails(world: World): Promise<RailReport[]> {
  const { reads } = world
  const [payouts, transfers, payout_sums, transfer_sums, oldest, failures, controls] = await Promise.all([
    countOpen(reads, 'payouts', `'${RAIL}'`),
    countOpen(reads, 'transfers', 'network'),
    sumOpen(reads, 'payouts', { rail: `'${RAIL}'`, asset: `'BRL'`, amount: 'amount + fee' }),
    sumOpen(reads, 'transfers', { rail: 'network', asset: 'asset', amount: 'amount_net + fee' }),
    Promise.all([oldestOpen(reads, 'payouts', `'${RAIL}'`), oldestOpen(reads, 'transfers', 'network')]),
    lastFailures(reads),
    selectControls(reads),
  ])
  const open = [...payouts, ...transfers]
  const sums = [...payout_sums, ...transfer_sums]
  return Promise.all(
    railNames.map(async (rail) => {
      const own = open.filter((one) => one.rail === rail)
      const countOf = (status: string) => own.find((one) => one.status === status)?.count ?? 0
      const message = await refusalOf(() =>
        rail === RAIL ? world.pix.ready() : world.chains[rail].feeInputs(),
      )
      return {
        rail,
        asset: assetOfRail(rail),
        simulated: world.environment === 'sandbox',
        configured: message === null,
        message,
        control: controls.find((one) => one.rail === rail) ?? freeRail(rail),
        pending: countOf('pending'),
        processing: countOf('processing'),
        open_amount: sums.find((one) => one.rail === rail)?.amount ?? 0n,
        oldest_seconds: Math.max(0, ...own.map(({ oldest_seconds }) => oldest_seconds)),
        oldest_id: oldest.flat().find((one) => one.rail === rail)?.id ?? null,
        last_failure: failures.get(rail) ?? null,
      }
    }),
  )
}

async function refusalOf(ask: () => Promise<unknown>): Promise<string | null> {
  try {
    await ask()
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.sentence
    throw error
  }
}

/** Among so many of the newest payouts, and transfers. */
const NEWEST = 10_000

async function lastFailures(db: Db): Promise<Map<string, LastFailure>> {
  const newest = (table: 'payouts' | 'transfers', rail: string) =>
    `(SELECT DISTINCT ON (1) ${rail} AS rail, id, completed_at AS failed_at, failure_code AS code
      FROM (SELECT id, ${table === 'payouts' ? '' : 'network, '}completed_at, failure_code FROM ${table} ORDER BY id DESC LIMIT ${NEWEST}) AS newest
      WHERE failure_code IS NOT NULL ORDER BY 1, id DESC)`
  const { rows } = await db.query<LastFailure & { rail: string }>({
    name: 'last failures of rails',
    text: `${newest('payouts', `'${RAIL}'`)} UNION ALL ${newest('transfers', 'network')}`,
  })
  return new Map(rows.map(({ rail, ...failure }) => [rail, failure]))
}
