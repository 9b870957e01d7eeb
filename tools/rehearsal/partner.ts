import { openApi, type Reply } from '../../test/support/api.ts'
import { retryUntilAnswered, type Trouble } from '../../test/support/retry.ts'
import { mustEqual } from './narrator.ts'

/** A partner's program: it asks one node and then the other until there is an answer, as the guides tell partners to. */
export type Partner = ReturnType<typeof openPartner>

const PATIENCE_MS = 120_000

export function openPartner(key: string, urls: () => readonly string[]) {
  const trouble: Trouble = { cut: 0, unavailable: 0 }
  const counted = { orders: 0, repeated: 0 }
  let turn = 0

  const ask = (call: (api: ReturnType<typeof openApi>) => Promise<Reply>, first = turn++): Promise<Reply> =>
    retryUntilAnswered(
      (tries) => call(openApi(urls()[(first + tries) % urls().length]!, key)),
      trouble,
      PATIENCE_MS,
    )
  const get = async (path: string) => {
    const { status, json, text } = await ask((api) => api.get(path))
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`)
    return json
  }
  const post = async (path: string, body?: object, first?: number) => {
    const reply = await ask((api) => api.post(path, body), first)
    if (reply.status >= 400) throw new Error(`POST ${path}: ${reply.status} ${reply.text}`)
    return reply
  }

  return {
    ...{ trouble, counted, get },
    post: async (path: string, body?: object, first?: number) => (await post(path, body, first)).json,
    /** Sends the order, and the same order again to the other node: the answers are the same to the byte. */
    async order(path: string, body?: object, first = turn++) {
      const answer = await post(path, body, first)
      const again = await post(path, body, first + 1)
      mustEqual(`${path}, the same order again`, again.text, answer.text)
      counted.orders++
      counted.repeated++
      return answer.json
    },
    /** As `order`, and returns the text, for a later repetition. */
    async orderOnce(path: string, body: object, first: number) {
      const { json, text } = await post(path, body, first)
      counted.orders++
      return { json, text }
    },
    async repeat(path: string, body: object, text: string): Promise<void> {
      for (const first of [0, 1])
        mustEqual(`${path}, the same order again`, (await post(path, body, first)).text, text)
      counted.repeated += 2
    },
    async available(customer_id: string): Promise<Readonly<Record<string, bigint>>> {
      const { data } = await get(`/v1/customers/${customer_id}/balances`)
      return Object.fromEntries(
        data.map(({ asset, available }: { asset: string; available: string }) => [asset, BigInt(available)]),
      )
    },
    async inTransit(customer_id: string): Promise<Readonly<Record<string, bigint>>> {
      const { data } = await get(`/v1/customers/${customer_id}/balances`)
      return Object.fromEntries(
        data.map(({ asset, in_transit }: { asset: string; in_transit: string }) => [
          asset,
          BigInt(in_transit),
        ]),
      )
    },
  }
}
