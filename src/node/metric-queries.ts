import { auditState } from '../control/audit/state.ts'
import type { Office } from '../control/operator/office.ts'
import { networkNames, networks } from '../core/networks.ts'
import { formatPrice } from '../core/price.ts'
import { countOpen } from '../db/due.ts'
import type { Pool } from '../db/pool.ts'
import type { DoorFacts } from '../ledger/commit.ts'
import { receivedScanAge } from '../money/charges/store.ts'
import { railNames, selectControls } from '../money/custody/controls-store.ts'
import { gasPaidInADay, holdingsStates, reconciliationStates } from '../money/custody/store.ts'
import { scanFacts } from '../money/deposits/scans-store.ts'
import { sweepFigures, sweepsUnderWay } from '../money/sweeps/store.ts'
import { oldestUnfolded } from '../money/treasury/store.ts'
import { mailState } from '../notifications/mail-store.ts'
import type { MarketFacts } from '../rails/prices/feed.ts'
import type { MarketGuard } from '../rails/prices/guards.ts'
import type { RemoteSigner } from '../rails/signer/remote.ts'
import { logPlaces } from '../records/acts/line.ts'
import { readHead } from '../records/acts/store.ts'
import { countOpenExceptions } from '../records/exceptions/store.ts'
import { queueState } from '../webhooks/queue.ts'
import type { World } from '../world.ts'
import type { MetricQuery, Sample } from './gauges.ts'

/**
 * The queries behind the metrics of payments that are stuck, and of the causes. Every query reads a bounded number of rows
 * by an index, because it runs every few seconds.
 */
export function worldMetricQueries(world: World): MetricQuery[] {
  const { environment } = world
  return [
    { name: 'prices', environment, ask: () => priceAges(world) },
    ...inTurn([
      { name: 'payments', environment, ask: () => openPayments(world) },
      { name: 'rails', environment, ask: () => pausedRails(world) },
      { name: 'exceptions', environment, ask: () => openExceptions(world) },
      { name: 'audit', environment, ask: () => auditFigures(world) },
      { name: 'treasury', environment, ask: () => unfoldedAge(world) },
      { name: 'reconciliation', environment, ask: () => reconciliations(world) },
      { name: 'holdings', environment, ask: () => holdings(world) },
      { name: 'sweeps', environment, ask: () => sweeps(world) },
      { name: 'deposits', environment, ask: () => depositScans(world) },
      { name: 'webhooks', environment, ask: () => webhookQueue(world) },
    ]),
  ]
}

/** Runs the queries one after the other: a scrape of the metrics must not take the connections that requests need. */
function inTurn(questions: readonly MetricQuery[]): MetricQuery[] {
  let last: Promise<unknown> = Promise.resolve()
  return questions.map((question) => ({
    ...question,
    ask() {
      const turn = last.then(question.ask)
      last = turn.catch(() => {})
      return turn
    },
  }))
}

const OPEN_STATES = ['pending', 'processing']

/** Every rail and state has a sample, also when nothing is open there: an absent sample means that the query failed. */
async function openPayments({ db, environment }: World): Promise<Sample[]> {
  const payouts = await countOpen(db, 'payouts', `'pix'`)
  const transfers = await countOpen(db, 'transfers', 'network')
  const found = new Map([...payouts, ...transfers].map((one) => [`${one.rail} ${one.status}`, one]))
  return ['pix', ...networkNames].flatMap((rail) =>
    OPEN_STATES.flatMap((state): Sample[] => {
      const { count, oldest_seconds } = found.get(`${rail} ${state}`) ?? { count: 0, oldest_seconds: 0 }
      const labels = { environment, rail, state }
      return [
        ['trilho_payments_open', labels, count],
        ['trilho_payments_oldest_seconds', labels, oldest_seconds],
      ]
    }),
  )
}

/** Every rail has a sample, also one that was never paused. */
async function pausedRails({ db, clock, environment }: World): Promise<Sample[]> {
  const controls = new Map((await selectControls(db)).map((control) => [control.rail, control]))
  return railNames.map((rail): Sample => {
    const paused_at = controls.get(rail)?.paused_at ?? null
    // At least a moment: zero means that the rail is not paused.
    const seconds = paused_at === null ? 0 : Math.max(0.001, (clock.now() - paused_at.getTime()) / 1000)
    return ['trilho_rail_paused_seconds', { environment, rail }, seconds]
  })
}

async function openExceptions({ db, environment }: World): Promise<Sample[]> {
  const groups = await countOpenExceptions(db)
  return groups.flatMap(({ rail, kind, count, oldest_seconds }): Sample[] => [
    ['trilho_exceptions_open', { environment, rail, kind }, count],
    ['trilho_exceptions_oldest_seconds', { environment, rail, kind }, oldest_seconds],
  ])
}

async function auditFigures(world: World): Promise<Sample[]> {
  const { environment } = world
  const { age_seconds, findings } = await auditState(world)
  return [
    ['trilho_audit_findings', { environment }, findings],
    ...(age_seconds === null ? [] : [['trilho_audit_age_seconds', { environment }, age_seconds] as const]),
  ]
}

async function priceAges({ prices, clock, environment }: World): Promise<Sample[]> {
  const fed = await prices.latest()
  const ages = Object.entries(fed).map(
    ([pair, { at }]): Sample => [
      'trilho_price_age_seconds',
      { environment, pair },
      (clock.now() - at.getTime()) / 1000,
    ],
  )
  return [...ages, ...(prices.markets?.() ?? []).flatMap((market) => marketFigures(environment, market))]
}

const marketGuards: readonly MarketGuard[] = ['too_few', 'jump']

function marketFigures(environment: string, { pair, state, sources }: MarketFacts): Sample[] {
  const of_pair = { environment, pair }
  return [
    ...marketGuards.map(
      (guard): Sample => ['trilho_price_refused', { ...of_pair, guard }, state === guard ? 1 : 0],
    ),
    ...sources.flatMap(({ source, state, price, age_ms }): Sample[] => {
      const labels = { ...of_pair, source }
      return [
        ['trilho_price_source_state', { ...labels, state }, 1],
        ...(price === undefined
          ? []
          : [['trilho_price_source_price', labels, Number(formatPrice(price))] as const]),
        ...(age_ms === undefined
          ? []
          : [['trilho_price_source_age_seconds', labels, age_ms / 1000] as const]),
      ]
    }),
  ]
}

async function unfoldedAge({ db, environment }: World): Promise<Sample[]> {
  return [['trilho_trades_oldest_unfolded_seconds', { environment }, await oldestUnfolded(db)]]
}

/** A rail that was never compared has no sample. */
async function reconciliations({ db, environment }: World): Promise<Sample[]> {
  const states = await reconciliationStates(db)
  return states.flatMap(({ rail, difference, age_seconds }): Sample[] => [
    ['trilho_reconciliation_difference', { environment, rail }, Number(difference)],
    ['trilho_reconciliation_age_seconds', { environment, rail }, age_seconds],
  ])
}

/** A rail without a wallet, or whose wallet was never read, has no sample. */
async function holdings({ db, environment }: World): Promise<Sample[]> {
  const states = await holdingsStates(db)
  const gas = await gasPaidInADay(db)
  return states.flatMap(({ rail, age_seconds, ...held }): Sample[] => {
    const labels = { environment, rail }
    const of_gas: Sample[] = [
      ['trilho_holdings_gas_coin_wei', labels, Number(held.native_amount)],
      ['trilho_holdings_gas_floor_wei', labels, Number(held.gas_floor)],
      ['trilho_gas_paid_day_wei', labels, Number(gas.find((one) => one.rail === rail)?.wei ?? 0n)],
    ]
    return [
      ['trilho_holdings_asset', labels, Number(held.asset_amount)],
      ['trilho_holdings_leaving', labels, Number(held.leaving)],
      ['trilho_holdings_age_seconds', labels, age_seconds ?? Number.POSITIVE_INFINITY],
      // Bitcoin has no gas: miners are paid from the coins themselves.
      ...(networks[rail].kind !== 'bitcoin' ? of_gas : []),
    ]
  })
}

/** The alert fires while the gas account can pay fewer sweeps. */
const FLOOR_SWEEPS = 5n

/** A rail whose gas account was never read has no sample. */
async function sweeps({ db, environment }: World): Promise<Sample[]> {
  const figures = await sweepFigures(db)
  if (figures.length === 0) return []
  const open = await sweepsUnderWay(db)
  const controls = await selectControls(db)
  return figures.flatMap(({ network: rail, gas_wei, unswept }): Sample[] => {
    const labels = { environment, rail }
    const { count = 0, oldest_seconds = 0 } = open.find(({ network }) => network === rail) ?? {}
    const rule = controls.find((one) => one.rail === rail)
    const most = rule?.sweep_from == null ? 0n : (rule.sweep_fee_max ?? 0n)
    return [
      ['trilho_sweeps_open', labels, count],
      ['trilho_sweeps_oldest_seconds', labels, oldest_seconds],
      ['trilho_sweeps_unswept', labels, Number(unswept)],
      ['trilho_gas_account_wei', labels, Number(gas_wei)],
      ['trilho_gas_account_floor_wei', labels, Number(FLOOR_SWEEPS * most)],
    ]
  })
}

/** Only networks on which deposits are found here: what a network that is no longer configured was read up to is no news. */
async function depositScans({ db, environment, chains, pix }: World): Promise<Sample[]> {
  const read = (await scanFacts(db)).filter(({ network }) => chains[network].payments)
  const is_read = pix.charges !== undefined && !pix.charges.is_played
  const age = is_read ? await receivedScanAge(db, pix.provider) : undefined
  return [
    ...read.flatMap(({ network: rail, height, age_seconds }): Sample[] => [
      ['trilho_deposit_scan_height', { environment, rail }, Number(height)],
      ['trilho_deposit_scan_age_seconds', { environment, rail }, age_seconds],
    ]),
    ...(age === undefined
      ? []
      : [['trilho_deposit_scan_age_seconds', { environment, rail: 'pix' }, age] satisfies Sample]),
  ]
}

async function webhookQueue({ db, environment }: World): Promise<Sample[]> {
  const { fresh, oldest_fresh_seconds, pending, oldest_due_seconds } = await queueState(db)
  return [
    ['trilho_events_fresh', { environment }, fresh],
    ['trilho_events_oldest_fresh_seconds', { environment }, oldest_fresh_seconds],
    ['trilho_webhook_pending', { environment }, pending],
    ['trilho_webhook_oldest_due_seconds', { environment }, oldest_due_seconds],
  ]
}

/** The sequence numbers of the newest lines in the logs of operators' acts. */
export function logMetricQueries(office: Office): MetricQuery[] {
  return logPlaces.map((environment) => ({
    name: 'log',
    environment,
    async ask() {
      const { seq } = await readHead(office.log.pools[environment])
      return [['trilho_log_seq', { environment }, Number(seq)]]
    },
  }))
}

/** Mails that wait, and whether mail works; all zero where no node has SMTP_URL. */
export const mailMetricQuery = (shared: Pool): MetricQuery => ({
  name: 'mail',
  environment: 'shared',
  async ask() {
    const { waiting, oldest_waiting_seconds, given_up } = await mailState(shared)
    return [
      ['trilho_mails_waiting', {}, waiting],
      ['trilho_mails_oldest_seconds', {}, oldest_waiting_seconds],
      ['trilho_mails_given_up', {}, given_up],
    ]
  },
})

/** What this node knows of its signer, which it asks every ten seconds anyway. */
export const signerMetricQuery = (signer: Pick<RemoteSigner, 'state'>): MetricQuery => ({
  name: 'signer',
  environment: 'production',
  async ask() {
    const state = signer.state()
    const labels = { environment: 'production' }
    const lines: Sample[] = state?.log ? [['trilho_signer_log_lines', labels, state.log.lines]] : []
    return state ? [['trilho_signer_up', labels, state.problem === undefined ? 1 : 0], ...lines] : []
  },
})

/** Facts of this node alone: whether it may get traffic, and whether its callers wait for connections. */
export function nodeMetricQueries(parts: {
  ready: () => Promise<boolean>
  pools: Readonly<Record<string, Pool>>
  doors: Readonly<Record<string, () => DoorFacts>>
}): MetricQuery[] {
  return [
    {
      name: 'doors',
      environment: 'node',
      ask: async () =>
        Object.entries(parts.doors).flatMap(([environment, facts]): Sample[] => {
          const { waiting, connections_opened } = facts()
          return [
            ['trilho_ledger_waiting', { environment }, waiting],
            ['trilho_ledger_connections_opened', { environment }, connections_opened],
          ]
        }),
    },
    {
      name: 'pools',
      environment: 'node',
      ask: async () =>
        Object.entries(parts.pools).flatMap(([pool, { totalCount, idleCount, waitingCount }]): Sample[] => [
          ['trilho_pool_connections', { pool, state: 'busy' }, totalCount - idleCount],
          ['trilho_pool_connections', { pool, state: 'idle' }, idleCount],
          ['trilho_pool_waiting', { pool }, waitingCount],
        ]),
    },
    // Last, because it takes a connection itself.
    {
      name: 'ready',
      environment: 'node',
      ask: async () => [['trilho_ready', {}, (await parts.ready()) ? 1 : 0]],
    },
  ]
}
