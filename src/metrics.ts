import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { Environment } from './core/environment.ts'

export type Metrics = {
  readonly registry: Registry
  answered(answer: { method: string; route: string; status: number; seconds: number }): void
  committed(environment: Environment, batch: { commands: number; seconds: number }): void
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
  return {
    registry,
    answered: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    committed(environment, batch) {
      commands.inc({ environment }, batch.commands)
      batches.observe({ environment }, batch.seconds)
    },
  }
}
