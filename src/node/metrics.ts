import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Environment } from '../core/environment.ts'
import type { ChoreOutcome } from '../db/chore.ts'
import type { MailOutcome } from '../notifications/sender.ts'
import type { SignerCall } from '../rails/signer/remote.ts'
import { type MetricQuery, openMetricQueries } from './gauges.ts'
import type { Role } from './role.ts'
import { version } from './version.ts'

export type Metrics = {
  readonly registry: Registry
  answered(answer: { method: string; route: string; status: number; seconds: number }): void
  committed(environment: Environment, batch: { commands: number; seconds: number }): void
  /** An attempt to deliver a webhook; `lag_seconds` from the event to its first attempt. */
  attempted(environment: Environment, attempt: { outcome: string; lag_seconds: number | null }): void
  /** The result of an attempt was lost, or stored without the receiver's response. */
  unrecorded(environment: Environment, loss: { kept: boolean }): void
  /** Requests that were left out of the log of requests. */
  unlogged(environment: Environment, reason: string, count: number): void
  /** Exchanges with rails that were not recorded. */
  stepsLost(environment: Environment, count: number): void
  /** A question to the signer in a process of its own. */
  signerAsked(call: SignerCall): void
  /** An attempt to send a mail. */
  mailed(outcome: MailOutcome): void
  /** A chore ran. The environment is that of a world, or `shared`. */
  kept(environment: string, chore: string, outcome: ChoreOutcome): void
  /** Adds a query that runs whenever the metrics are read. */
  watch(question: MetricQuery): void
}

export function createMetrics({ role }: { readonly role: Role }): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const { requests, commands, batches, attempts, lag, chores, unrecorded, unlogged, stepsLost, mails } =
    countersOf([registry])
  const { signer, signerRefusals } = signerCountersOf([registry])
  new Gauge({
    name: 'trilho_build_info',
    help: 'Always 1; the labels say what is running',
    labelNames: ['version', 'node', 'role'],
    registers: [registry],
  }).set({ version, node: process.versions.node, role }, 1)
  return {
    registry,
    attempted(environment, { outcome, lag_seconds }) {
      attempts.inc({ environment, outcome })
      if (lag_seconds !== null) lag.observe({ environment }, Math.max(0, lag_seconds))
    },
    unrecorded: (environment, { kept }) => unrecorded.inc({ environment, kept: kept ? 'in part' : 'no' }),
    unlogged: (environment, reason, count) => unlogged.inc({ environment, reason }, count),
    stepsLost: (environment, count) => stepsLost.inc({ environment }, count),
    signerAsked({ call, outcome, rule, seconds }) {
      signer.observe({ call, outcome }, seconds)
      if (rule !== undefined) signerRefusals.inc({ rule })
    },
    mailed: (outcome) => mails.inc({ outcome }),
    kept: (environment, chore, outcome) => chores.inc({ environment, chore, outcome }),
    watch: openMetricQueries(registry),
    answered: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    committed(environment, batch) {
      commands.inc({ environment }, batch.commands)
      batches.observe({ environment }, batch.seconds)
    },
  }
}

const signerCountersOf = (registers: Registry[]) => ({
  signer: new Histogram({
    name: 'trilho_signer_request_seconds',
    help: 'Time that the signer in a process of its own took, by call and outcome: answered, refused by a rule, or unavailable',
    labelNames: ['call', 'outcome'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  }),
  signerRefusals: new Counter({
    name: 'trilho_signer_refusals_total',
    help: 'Requests that the signer in a process of its own refused, by the rule that they break',
    labelNames: ['rule'],
    registers,
  }),
})

const countersOf = (registers: Registry[]) => ({
  requests: new Histogram({
    name: 'trilho_http_request_seconds',
    help: 'Time to answer a request',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  }),
  commands: new Counter({
    name: 'trilho_ledger_commands_total',
    help: 'Ledger commands in committed batches',
    labelNames: ['environment'],
    registers,
  }),
  batches: new Histogram({
    name: 'trilho_ledger_batch_seconds',
    help: 'Time of one money transaction, from the first lock to COMMIT',
    labelNames: ['environment'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    registers,
  }),
  attempts: new Counter({
    name: 'trilho_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by outcome',
    labelNames: ['environment', 'outcome'],
    registers,
  }),
  lag: new Histogram({
    name: 'trilho_webhook_lag_seconds',
    help: 'Time from an event to the first attempt to deliver it',
    labelNames: ['environment'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
    registers,
  }),
  chores: new Counter({
    name: 'trilho_housekeeping_runs_total',
    help: 'Housekeeping runs, by outcome',
    labelNames: ['environment', 'chore', 'outcome'],
    registers,
  }),
  unrecorded: new Counter({
    name: 'trilho_webhook_unrecorded_total',
    help: 'Webhook attempts whose result could not be stored, or only in part',
    labelNames: ['environment', 'kept'],
    registers,
  }),
  unlogged: new Counter({
    name: 'trilho_requests_unlogged_total',
    help: 'Requests that are missing in the request log, by reason: over the partner’s share, over the memory limit, or not stored by the database',
    labelNames: ['environment', 'reason'],
    registers,
  }),
  stepsLost: new Counter({
    name: 'trilho_steps_lost_total',
    help: 'Exchanges with rails that were not stored for the console: over the memory limit, or not stored by the database',
    labelNames: ['environment'],
    registers,
  }),
  mails: new Counter({
    name: 'trilho_mails_total',
    help: 'Attempts to send a mail, by outcome: sent, failed and tried again later, or given up',
    labelNames: ['outcome'],
    registers,
  }),
})
