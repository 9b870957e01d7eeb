import { readFile } from 'node:fs/promises'
import { openRpc, type Rpc, type RpcOptions } from '../rpc.ts'
import { blockHash, chainInfo } from './calls.ts'
import { parseExact } from './exact-json.ts'

/** Block 0 of Bitcoin: no other chain has it. */
export const BITCOIN_GENESIS = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'

export type BitcoinRpcOptions = {
  readonly urls: readonly string[]
  /** Block 0 of another chain. */
  readonly genesis?: string
  /** Where a node on this machine writes its credentials at each start. For endpoints whose URL has no user. */
  readonly cookie_file?: string
} & Partial<Omit<RpcOptions, 'network' | 'urls' | 'chain' | 'inspect' | 'dialect'>>

/** A block of 4 MB is twice as long in hex. */
const ANSWER_MOST_BYTES = 12 * 1024 * 1024
const TIMEOUT_MS = 20_000
/** Two blocks at once happen; nodes that are further apart are not in touch with the same network. */
const BEHIND_MOST = 2n
/** Two hours without a block happen about once a year; older nodes tell a time that is an hour older than that of the block. */
const HEAD_AGE_MOST_MS = 6 * 3_600_000
/** Nodes answer an error with 500, an unknown method with 404 and an invalid request with 400, each with the usual body. */
const ANSWER_STATUSES = [500, 404, 400]

export function openBitcoinRpc({ cookie_file, genesis, ...options }: BitcoinRpcOptions): Rpc {
  return openRpc({
    behind_most: BEHIND_MOST,
    head_age_most_ms: HEAD_AGE_MOST_MS,
    timeout_ms: TIMEOUT_MS,
    answer_most_bytes: ANSWER_MOST_BYTES,
    ...options,
    network: 'bitcoin',
    chain: genesis ?? BITCOIN_GENESIS,
    dialect: {
      answer_statuses: ANSWER_STATUSES,
      parse: parseExact,
      ...(cookie_file !== undefined && { readCredentials: () => readCookie(cookie_file) }),
    },
    async inspect(node) {
      const [chain, { height, at_ms }] = await Promise.all([node.ask(blockHash(0n)), node.ask(chainInfo())])
      return { chain: chain ?? 'none', height, at_ms }
    },
  })
}

const readCookie = async (path: string): Promise<string> => (await readFile(path, 'utf8')).trim()
