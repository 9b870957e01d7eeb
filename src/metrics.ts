import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Environment } from './core/environment.ts'

export type Metrics = {
  readonly registry: Registry
  answered(answer: { method: string; route: string; status: number; seconds: number }): void
  committed(environment: Environment, batch: { commands: number; seconds: number }): void
  /** An attempt to deliver a webhook; `lag_seconds` from the event to its first attempt. */
  attempted(environment: Environment, attempt: { outcome: string; lag_seconds: number | null }): void
  /** Asks, whenever the metrics are read, how much waits to be delivered. */
  watchWebhooks(environment: Environment, ask: () => Promise<WebhookQueue>): void
}

export type WebhookQueue = {
  readonly fresh: number
  readonly pending: number
  readonly oldest_due_seconds: number
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'trilho_http_request_seconds',
    help: 'Time to answer a request',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  const commands = new Counter({
    name: 'trilho_ledger_commands_total',
    help: 'Commands that went through the one door for money',
    labelNames: ['environment'],
    registers: [registry],
  })
  const batches = new Histogram({
    name: 'trilho_ledger_batch_seconds',
    help: 'Time of one money transaction, from the first lock to COMMIT',
    labelNames: ['environment'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    registers: [registry],
  })
  const attempts = new Counter({
    name: 'trilho_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by outcome',
    labelNames: ['environment', 'outcome'],
    registers: [registry],
  })
  const lag = new Histogram({
    name: 'trilho_webhook_lag_seconds',
    help: 'Time from an event to the first attempt to deliver it',
    labelNames: ['environment'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
    registers: [registry],
  })
  const queues = new Map<Environment, () => Promise<WebhookQueue>>()
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['environment'], registers: [registry], collect: () => look() })
  const gauges: Readonly<Record<keyof WebhookQueue, Gauge>> = {
    fresh: gauge('trilho_events_fresh', 'Events that have no place in the log yet'),
    pending: gauge('trilho_webhook_pending', 'Webhooks that wait to be delivered, now or later'),
    oldest_due_seconds: gauge(
      'trilho_webhook_oldest_due_seconds',
      'For how long the oldest webhook has been due',
    ),
  }
  let looking: Promise<void> | undefined
  /** All gauges are read at once: one look serves them all. */
  function look(): Promise<void> {
    looking ??= fill().finally(() => {
      looking = undefined
    })
    return looking
  }
  async function fill(): Promise<void> {
    for (const [environment, ask] of queues) {
      // A database that is away must not take the other figures with it.
      const queue = await ask().catch(() => undefined)
      for (const [field, own] of Object.entries(gauges) as [keyof WebhookQueue, Gauge][]) {
        if (queue) own.set({ environment }, queue[field])
        else own.remove({ environment })
      }
    }
  }
  return {
    registry,
    attempted(environment, { outcome, lag_seconds }) {
      attempts.inc({ environment, outcome })
      if (lag_seconds !== null) lag.observe({ environment }, Math.max(0, lag_seconds))
    },
    watchWebhooks: (environment, ask) => void queues.set(environment, ask),
    answered: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    committed(environment, batch) {
      commands.inc({ environment }, batch.commands)
      batches.observe({ environment }, batch.seconds)
    },
  }
}
