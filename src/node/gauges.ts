import { Gauge, type Registry } from 'prom-client'

/**
 * Metrics that are queried whenever the metrics are read, instead of counted. A query that fails or takes too long leaves
 * out its own samples and says so in `trilho_figures_missing`; other samples are not affected, and no scrape hangs.
 */
const declared = {
  trilho_ready: { help: '1 when this node may get traffic, as /readyz says', labels: [] },
  trilho_payments_open: {
    help: 'Payouts and transfers without a final status',
    labels: ['environment', 'rail', 'state'],
  },
  trilho_payments_oldest_seconds: {
    help: 'Age of the oldest payout or transfer without a final status',
    labels: ['environment', 'rail', 'state'],
  },
  trilho_rail_paused_seconds: {
    help: 'For how long a rail has been paused; 0 when it is not',
    labels: ['environment', 'rail'],
  },
  trilho_exceptions_open: {
    help: 'Open exceptions: cases about money that a person must check',
    labels: ['environment', 'rail', 'kind'],
  },
  trilho_exceptions_oldest_seconds: {
    help: 'Age of the oldest open exception',
    labels: ['environment', 'rail', 'kind'],
  },
  trilho_audit_age_seconds: {
    help: 'Time since the background audit finished a full pass; before the first pass ends, since it began',
    labels: ['environment'],
  },
  trilho_audit_findings: { help: 'Findings of the background audit', labels: ['environment'] },
  trilho_reconciliation_difference: {
    help: 'What the wallet of a rail holds beyond the books, in smallest units, at the newest reconciliation',
    labels: ['environment', 'rail'],
  },
  trilho_reconciliation_age_seconds: {
    help: 'Time since the newest reconciliation of a rail',
    labels: ['environment', 'rail'],
  },
  trilho_holdings_asset: {
    help: 'What the wallet of a rail holds at its newest final block that was read, in smallest units of the asset',
    labels: ['environment', 'rail'],
  },
  trilho_holdings_gas_coin_wei: {
    help: 'What the wallet of a rail holds of the coin that pays for gas, in wei; on tron in sun',
    labels: ['environment', 'rail'],
  },
  trilho_holdings_gas_floor_wei: {
    help: 'The gas floor of a rail with a wallet, in wei (on tron in sun): below it no transfers are accepted; 0 without a floor',
    labels: ['environment', 'rail'],
  },
  trilho_holdings_leaving: {
    help: 'What open transfers, and those that are booked and not yet in the holdings, take from the wallet of a rail, in smallest units',
    labels: ['environment', 'rail'],
  },
  trilho_holdings_age_seconds: {
    help: 'Time since the wallet of a rail was read; after a minute no transfers are accepted. +Inf if it was read in the future',
    labels: ['environment', 'rail'],
  },
  trilho_deposit_scan_height: {
    help: 'The newest block of a network that was read for deposits',
    labels: ['environment', 'rail'],
  },
  trilho_deposit_scan_age_seconds: {
    help: 'Time since the blocks of a network were read to the end for deposits, the final ones by as many endpoints as must agree; of pix, since the list of the payment provider was',
    labels: ['environment', 'rail'],
  },
  trilho_gas_paid_day_wei: {
    help: 'What a network charged for the final transactions that were signed in the last 24 hours, in wei (on tron in sun), as far as nodes told it',
    labels: ['environment', 'rail'],
  },
  trilho_sweeps_open: {
    help: 'Sweeps of deposits into the wallet of a rail that have not ended',
    labels: ['environment', 'rail'],
  },
  trilho_sweeps_oldest_seconds: {
    help: 'Age of the oldest sweep of a rail that has not ended; 0 without one',
    labels: ['environment', 'rail'],
  },
  trilho_sweeps_unswept: {
    help: 'What was credited at the deposit addresses of a rail and is not swept for good, in smallest units of the asset',
    labels: ['environment', 'rail'],
  },
  trilho_gas_account_wei: {
    help: 'What the account has that pays the gas of sweeps, in wei',
    labels: ['environment', 'rail'],
  },
  trilho_gas_account_floor_wei: {
    help: 'What five sweeps of a rail may cost by its rule, in wei; 0 without a rule',
    labels: ['environment', 'rail'],
  },
  trilho_signer_up: {
    help: '1 when the signer in a process of its own answers this node and is the configured one; absent without SIGNER_URL',
    labels: ['environment'],
  },
  trilho_signer_log_lines: {
    help: 'Lines of the signer’s log, as it last told this node; the number never falls',
    labels: ['environment'],
  },
  trilho_log_seq: {
    help: 'Sequence number of the newest line of the audit log; it never falls',
    labels: ['environment'],
  },
  trilho_price_age_seconds: {
    help: 'Age of the market price that is quoted',
    labels: ['environment', 'pair'],
  },
  trilho_price_refused: {
    help: '1 when this node quotes no price of the pair; the guard says why: too_few good sources, or a jump. Only with PRICES_FROM=exchanges',
    labels: ['environment', 'pair', 'guard'],
  },
  trilho_price_source_state: {
    help: 'Always 1; the state is good, the guard that refuses the source, or why its last answer failed',
    labels: ['environment', 'pair', 'source', 'state'],
  },
  trilho_price_source_price: {
    help: 'The middle of the best bid and ask of a source; absent while its last answer failed',
    labels: ['environment', 'pair', 'source'],
  },
  trilho_price_source_age_seconds: {
    help: 'Time since this node asked for the last answer of a source; absent while its last answer failed',
    labels: ['environment', 'pair', 'source'],
  },
  trilho_trades_oldest_unfolded_seconds: {
    help: 'Age of the oldest trade that is not in the sums of the treasury yet',
    labels: ['environment'],
  },
  trilho_events_fresh: { help: 'Events without a position in the event log', labels: ['environment'] },
  trilho_events_oldest_fresh_seconds: {
    help: 'Age of the oldest event without a position in the event log',
    labels: ['environment'],
  },
  trilho_webhook_pending: {
    help: 'Pending webhook deliveries, due now or later',
    labels: ['environment'],
  },
  trilho_webhook_oldest_due_seconds: {
    help: 'How long the oldest due webhook delivery has been waiting',
    labels: ['environment'],
  },
  trilho_mails_waiting: { help: 'Mails with notifications that are not sent yet', labels: [] },
  trilho_mails_oldest_seconds: { help: 'Age of the oldest mail that is not sent yet', labels: [] },
  trilho_mails_given_up: { help: 'Mails that were given up in the last seven days', labels: [] },
  trilho_ledger_waiting: {
    help: 'Ledger commands that are queued or in a batch that is not committed yet',
    labels: ['environment'],
  },
  trilho_ledger_connections_opened: {
    help: 'Database connections that the ledger opened since the start: one renewal per connection every half hour, more means that connections break',
    labels: ['environment'],
  },
  trilho_pool_connections: { help: 'Connections of a pool', labels: ['pool', 'state'] },
  trilho_pool_waiting: { help: 'Callers that wait for a connection of a pool', labels: ['pool'] },
  trilho_figures_missing: {
    help: '1 when the database query for these metrics failed or took too long at this scrape',
    labels: ['environment', 'question'],
  },
} as const satisfies Record<string, { help: string; labels: readonly string[] }>

type GaugeName = keyof typeof declared

export type Sample = readonly [gauge: GaugeName, labels: Readonly<Record<string, string>>, value: number]

export type MetricQuery = {
  readonly name: string
  /** The environment of a world, or a name for the node itself. */
  readonly environment: string
  ask(): Promise<readonly Sample[]>
}

/** For one query. Prometheus gives up after ten seconds, and then has no sample at all. */
const ANSWER_MS = 2000

export function openMetricQueries(registry: Registry): (question: MetricQuery) => void {
  const questions: (() => Promise<readonly Sample[]>)[] = []
  const gauges = new Map<string, Gauge>()
  for (const [name, { help, labels }] of Object.entries(declared))
    gauges.set(
      name,
      new Gauge({ name, help, labelNames: [...labels], registers: [registry], collect: refresh }),
    )

  let refreshing: Promise<void> | undefined
  /** All gauges are collected at once: one round of queries serves them all. */
  function refresh(): Promise<void> {
    refreshing ??= fill().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }
  async function fill(): Promise<void> {
    const answers = await Promise.all(questions.map((ask) => ask()))
    for (const gauge of gauges.values()) gauge.reset()
    for (const [name, labels, value] of answers.flat()) gauges.get(name)!.set({ ...labels }, value)
  }
  return (question) => void questions.push(patient(question))
}

/** Waits ANSWER_MS at most. While a query is still running, it is not started a second time. */
function patient({ name, environment, ask }: MetricQuery): () => Promise<readonly Sample[]> {
  let open: Promise<readonly Sample[]> | undefined
  const missing = (value: number): Sample => [
    'trilho_figures_missing',
    { environment, question: name },
    value,
  ]
  return async () => {
    open ??= ask().finally(() => {
      open = undefined
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, ANSWER_MS, undefined)
    })
    const samples = await Promise.race([open.catch(() => undefined), late])
    clearTimeout(timer)
    return samples ? [...samples, missing(0)] : [missing(1)]
  }
}
