import { Refusal } from '../../core/errors.ts'
import type { Asset } from '../../core/money.ts'
import { type Network, type NetworkRow, networks } from '../../core/networks.ts'
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
import { holdingsProblem } from '../../money/custody/holdings.ts'
import {
  holdingsOfRail,
  newestPixReconciliation,
  newestReconciliations,
  type Reconciliation,
  type StoredHoldings,
} from '../../money/custody/store.ts'
import {
  countUnknownTokens,
  newestUnknownTokens,
  type UnknownToken,
} from '../../money/deposits/unknown-tokens-store.ts'
import { RAIL } from '../../money/pix/settle.ts'
import { type SweepFigures, sweepFigures, sweepsUnderWay } from '../../money/sweeps/store.ts'
import type { EndpointFacts } from '../../rails/chain/rpc-health.ts'
import { unavailablePix } from '../../rails/pix/unavailable.ts'
import type { World } from '../../world.ts'

/** A rail as operators see it: whether it accepts orders, what operators allow on it, and what is open. */
export type RailReport = {
  readonly rail: RailName
  readonly asset: Asset
  readonly simulated: boolean
  /** A provider, or nodes of the network, are in the settings of this node. */
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
  /** Null for a rail without a wallet on a real chain, and without an account at a Pix provider. */
  readonly custody: RailCustody | null
}

export type RailCustody = {
  readonly gas_coin: string
  /** Null until a worker has asked the chain. */
  readonly held: StoredHoldings | null
  readonly reconciled:
    | (Pick<Reconciliation, 'difference' | 'at'> & { readonly block_height: bigint | null })
    | null
  /** As this node sees them. */
  readonly endpoints: readonly EndpointFacts[]
  /** Null where no deposits are swept, and until a worker has asked the chain. */
  readonly sweeps: RailSweeps | null
  /** Other tokens than the asset at deposit addresses; null where there are none. */
  readonly unknown_tokens: RailUnknownTokens | null
}

export type RailUnknownTokens = {
  /** At most UNKNOWN_TOKENS_KEPT. */
  readonly count: number
  readonly newest: readonly UnknownToken[]
}

/** The USDT at the deposit addresses of a network, and the sweeps that are under way to the wallet. */
export type RailSweeps = SweepFigures & {
  readonly read_at: Date
  readonly under_way: number
  readonly under_way_amount: bigint
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
      const control = controls.find((one) => one.rail === rail) ?? freeRail(rail)
      const message =
        (await refusalOf(() => (rail === RAIL ? world.pix.ready() : world.chains[rail].feeInputs()))) ??
        (rail === RAIL ? undefined : await holdingsProblem(world, rail, control)) ??
        null
      return {
        rail,
        asset: assetOfRail(rail),
        simulated: world.environment === 'sandbox',
        configured:
          rail === RAIL ? world.pix.provider !== unavailablePix.provider : world.chains[rail].is_configured,
        message,
        control,
        pending: countOf('pending'),
        processing: countOf('processing'),
        open_amount: sums.find((one) => one.rail === rail)?.amount ?? 0n,
        oldest_seconds: Math.max(0, ...own.map(({ oldest_seconds }) => oldest_seconds)),
        oldest_id: oldest.flat().find((one) => one.rail === rail)?.id ?? null,
        last_failure: failures.get(rail) ?? null,
        custody: await (rail === RAIL ? custodyOfPix(world) : custodyOf(world, rail)),
      }
    }),
  )
}

async function custodyOf({ chains, reads }: World, network: Network): Promise<RailCustody | null> {
  const { has_wallet, endpoints } = chains[network]
  if (!has_wallet) return null
  const [held, [reconciled], sweeps, unknown_tokens] = await Promise.all([
    holdingsOfRail(reads, network),
    newestReconciliations(reads, network, 1),
    sweepsOf(reads, network),
    unknownTokensOf(reads, network),
  ])
  const facts: NetworkRow = networks[network]
  return {
    gas_coin: facts.kind === 'bitcoin' ? '' : facts.gas_coin,
    held: held ?? null,
    reconciled: reconciled ?? null,
    endpoints: endpoints(),
    sweeps,
    unknown_tokens,
  }
}

/** The account at the Pix provider has no gas, no block and no stored holdings: only its comparison with the books. */
async function custodyOfPix({ pix, reads }: World): Promise<RailCustody | null> {
  if (!pix.account) return null
  const reconciled = (await newestPixReconciliation(reads)) ?? null
  return { gas_coin: '', held: null, reconciled, endpoints: [], sweeps: null, unknown_tokens: null }
}

const NEWEST_TOKENS = 3

async function unknownTokensOf(db: Db, network: Network): Promise<RailUnknownTokens | null> {
  const newest = await newestUnknownTokens(db, network, NEWEST_TOKENS)
  return newest.length === 0 ? null : { count: await countUnknownTokens(db, network), newest }
}

async function sweepsOf(db: Db, network: Network): Promise<RailSweeps | null> {
  const figures = (await sweepFigures(db)).find((one) => one.network === network)
  if (!figures) return null
  const open = (await sweepsUnderWay(db)).find((one) => one.network === network)
  return { ...figures, under_way: open?.count ?? 0, under_way_amount: open?.amount ?? 0n }
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

/** Only this many of the newest payouts, and of the newest transfers, are searched. */
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
