import { parseExact } from '../bitcoin/exact-json.ts'
import { openRpc, type Rpc, type RpcOptions } from '../rpc.ts'
import { newestTronBlock, tronBlockAt } from './calls.ts'

/** The id of block 0 of Tron: no other chain has it. */
export const TRON_GENESIS = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'

export type TronRpcOptions = {
  readonly urls: readonly string[]
  /** Block 0 of another chain. */
  readonly genesis?: string
} & Partial<Omit<RpcOptions, 'network' | 'urls' | 'chain' | 'inspect' | 'dialect'>>

/** A block takes three seconds. */
const BEHIND_MOST = 10n
const HEAD_AGE_MOST_MS = 120_000
/** The newest solidified block is about a minute older than the head. */
const SOLID_AGE_MOST_MS = HEAD_AGE_MOST_MS + 60_000

/** Full nodes over their HTTP API. A key of TronGrid is the user of the URL: https://KEY@api.trongrid.io. */
export function openTronRpc({ genesis, ...options }: TronRpcOptions): Rpc {
  return openRpc({
    behind_most: BEHIND_MOST,
    head_age_most_ms: HEAD_AGE_MOST_MS,
    final_age_most_ms: SOLID_AGE_MOST_MS,
    ...options,
    network: 'tron',
    chain: genesis ?? TRON_GENESIS,
    dialect: { is_rest: true, parse: parseExact, key_header: 'TRON-PRO-API-KEY' },
    async inspect(node) {
      const [first, { height, at_ms }, solid] = await Promise.all([
        node.ask(tronBlockAt('wallet', 0n)),
        node.ask(newestTronBlock('wallet')),
        node.ask(newestTronBlock('walletsolidity')),
      ])
      return { chain: first?.hash ?? 'none', height, at_ms, final_at_ms: solid.at_ms }
    },
  })
}
