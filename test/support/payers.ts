import { setTimeout as sleep } from 'node:timers/promises'
import { openApi } from './api.ts'
import { isCut, retryUntilAnswered } from './retry.ts'

/** One request and what came of it; 0 for one whose connection broke. */
export type Ask = {
  readonly node: number
  readonly status: number
  readonly ms: number
  readonly ended_at: number
}

type Order = {
  readonly customer_id: string
  readonly amount: string
  readonly counterparty: { readonly type: 'pix_key'; readonly pix_key: string }
  readonly idempotency_key: string
}

export type Acknowledged = { readonly order: Order; readonly body: string; readonly id: string }

export type Payers = {
  readonly asks: readonly Ask[]
  readonly acknowledged: readonly Acknowledged[]
  /** The same order once more: the bytes of its answer. */
  replay(order: Order, node: number): Promise<string>
  /** Lets every payer finish what it began. */
  stop(): Promise<void>
}

/**
 * Callers that do what every guide asks of them: payouts under keys of their own, the same one again, on whatever node,
 * until it is answered.
 */
export function openPayers(options: {
  nodes: readonly string[]
  key: string
  customer_id: string
  pix_key: string
  payers: number
  pause_ms: number
  /** Tells the keys of several crowds apart. */
  prefix?: string
}): Payers {
  const apis = options.nodes.map((url) => openApi(url, options.key))
  const asks: Ask[] = []
  const acknowledged: Acknowledged[] = []
  let stopped = false
  let made = 0

  async function ask(order: Order, node: number): Promise<string | undefined> {
    const started = performance.now()
    const reply = await apis[node]!.post('/v1/pix/payouts', order).catch((error: unknown) => {
      if (!isCut(error)) throw error
    })
    const ended_at = performance.now()
    asks.push({ node, status: reply?.status ?? 0, ms: ended_at - started, ended_at })
    return reply?.status === 201 ? reply.text : undefined
  }

  async function pay(payer: number): Promise<void> {
    while (!stopped) {
      const order: Order = {
        customer_id: options.customer_id,
        amount: '100',
        counterparty: { type: 'pix_key', pix_key: options.pix_key },
        idempotency_key: `${options.prefix ?? 'pay'}-${++made}`,
      }
      for (let tries = payer; ; tries++) {
        const body = await ask(order, tries % apis.length)
        if (body !== undefined) {
          acknowledged.push({ order, body, id: JSON.parse(body).id })
          break
        }
        await sleep(100)
      }
      await sleep(Math.random() * 2 * options.pause_ms)
    }
  }

  const running = Array.from({ length: options.payers }, (_, payer) => pay(payer))
  return {
    asks,
    acknowledged,
    replay: async (order, node) =>
      (await retryUntilAnswered(() => apis[node]!.post('/v1/pix/payouts', order), { cut: 0, unavailable: 0 }))
        .text,
    async stop() {
      stopped = true
      await Promise.all(running)
    },
  }
}
