import { setTimeout as sleep } from 'node:timers/promises'
import { type HttpJob, post } from './http.ts'
import type { Measure } from './load.ts'
import type { Stage } from './stage.ts'

/** Payouts over HTTP from create to the response `completed`: debit, simulated rail, settlement, two commits each. */
export function payouts(
  stage: Stage,
  options: { connections: number; seconds: number; customers?: readonly string[] },
): Promise<Measure> {
  const { connections, seconds, customers = stage.customers } = options
  const bodies = customers.map((customer_id) =>
    JSON.stringify({
      customer_id,
      amount: '100',
      counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
      idempotency_key: '{{unique}}',
    }),
  )
  const { url, key } = stage
  const job: HttpJob = { url, path: '/v1/pix/payouts', key, connections, seconds, bodies, expect: 201 }
  return post(job)
}

/** Writes after the response, such as the request log and the sums, follow within this time. */
const BEHIND_MS = 3500
export const settle = () => sleep(BEHIND_MS)
