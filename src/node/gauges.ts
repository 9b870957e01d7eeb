import { Gauge, type Registry } from 'prom-client'

/**
 * Metrics that are queried whenever the metrics are read, instead of counted. A query that fails or takes too long leaves
 * out its own samples and says so in `trilho_figures_missing`; other samples are not affected, and no scrape hangs.
 */
const declared = {
  trilho_ready: { help: '1 when this node may get traffic, as /readyz says', labels: [] },
  trilho_payments_open: {
    help: 'Payouts and transfers that have not come to their end',
    labels: ['environment', 'rail', 'state'],
  },
  trilho_payments_oldest_seconds: {
    help: 'Age of the oldest payout or transfer that has not come to its end',
    labels: ['environment', 'rail', 'state'],
  },
  trilho_exceptions_open: {
    help: 'What may be wrong with money and was not looked at by a person yet',
    labels: ['environment', 'rail', 'kind'],
  },
  trilho_exceptions_oldest_seconds: {
    help: 'For how long the oldest of them has been open',
    labels: ['environment', 'rail', 'kind'],
  },
  trilho_audit_age_seconds: {
    help: 'Since the audit in the background last ended a whole pass, or first began one',
    labels: ['environment'],
  },
  trilho_audit_findings: { help: 'What the audit found that must not exist', labels: ['environment'] },
  trilho_log_seq: {
    help: 'The number of the newest line in the log of what operators did; it never falls',
    labels: ['environment'],
  },
  trilho_price_age_seconds: {
    help: 'How long ago the market was seen at the price that is quoted from',
    labels: ['environment', 'pair'],
  },
  trilho_trades_oldest_unfolded_seconds: {
    help: 'Age of the oldest trade that is not in the sums of the treasury yet',
    labels: ['environment'],
  },
  trilho_events_fresh: { help: 'Events that have no place in the log yet', labels: ['environment'] },
  trilho_events_oldest_fresh_seconds: {
    help: 'Age of the oldest event that has no place in the log yet',
    labels: ['environment'],
  },
  trilho_webhook_pending: {
    help: 'Webhooks that wait to be delivered, now or later',
    labels: ['environment'],
  },
  trilho_webhook_oldest_due_seconds: {
    help: 'For how long the oldest webhook has been due',
    labels: ['environment'],
  },
  trilho_ledger_waiting: {
    help: 'Commands that wait for their turn at the one door for money, or for its answer',
    labels: ['environment'],
  },
  trilho_ledger_connections_opened: {
    help: 'Connections that the door has opened since the start: a few a day are renewals, more are losses',
    labels: ['environment'],
  },
  trilho_pool_connections: { help: 'Connections of a pool', labels: ['pool', 'state'] },
  trilho_pool_waiting: { help: 'Callers that wait for a connection of a pool', labels: ['pool'] },
  trilho_figures_missing: {
    help: '1 when a question behind these figures got no answer at this reading',
    labels: ['environment', 'question'],
  },
} as const satisfies Record<string, { help: string; labels: readonly string[] }>

type GaugeName = keyof typeof declared

export type Sample = readonly [gauge: GaugeName, labels: Readonly<Record<string, string>>, value: number]

export type Question = {
  readonly name: string
  /** The environment of a world, or a name for the node itself. */
  readonly environment: string
  ask(): Promise<readonly Sample[]>
}

/** For one query. Prometheus gives up after ten seconds, and then has no sample at all. */
const ANSWER_MS = 2000

export function openQuestions(registry: Registry): (question: Question) => void {
  const questions: (() => Promise<readonly Sample[]>)[] = []
  const gauges = new Map<string, Gauge>()
  for (const [name, { help, labels }] of Object.entries(declared))
    gauges.set(name, new Gauge({ name, help, labelNames: [...labels], registers: [registry], collect: look }))

  let looking: Promise<void> | undefined
  /** All gauges are collected at once: one round of queries serves them all. */
  function look(): Promise<void> {
    looking ??= fill().finally(() => {
      looking = undefined
    })
    return looking
  }
  async function fill(): Promise<void> {
    const answers = await Promise.all(questions.map((ask) => ask()))
    for (const gauge of gauges.values()) gauge.reset()
    for (const [name, labels, value] of answers.flat()) gauges.get(name)!.set({ ...labels }, value)
  }
  return (question) => void questions.push(patient(question))
}

/** Waits ANSWER_MS at most. While a query is still running, it is not started a second time. */
function patient({ name, environment, ask }: Question): () => Promise<readonly Sample[]> {
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
