import { type BitcoinNode, startBitcoinNode } from './bitcoin-node.ts'
import { mineCoins, openTestWallet, type TestWallet } from './bitcoin-wallet.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts'

/**
 * One chain on two nodes, which the service reaches through several endpoints. The first node mines, and its mempool is small. The second
 * one prunes, and gets blocks and transactions from the first one, and the other way round, as nodes do that are connected.
 */
export type BitcoinChain = Awaited<ReturnType<typeof openBitcoinChain>>

const MAIN_ARGS = ['-maxmempool=1', '-limitdescendantsize=20', '-limitancestorsize=20']
const SECOND_ARGS = ['-prune=1']
const WITHOUT_MEMPOOL = '-persistmempool=0'

/** Which node is behind each endpoint. */
const PLACES = ['main', 'second', 'main', 'second', 'main'] as const

/** The fillers are coins of a stranger, who fills the mempool with them. */
const FILLERS = 60
const FILLER_OUTPUTS = 550
const FILLER_SATOSHIS = 1000n
const FILLER_VBYTES = 17_200n

export async function openBitcoinChain(wallet: TestWallet, coin_count: number) {
  const [main, second] = await Promise.all([
    startBitcoinNode({ args: MAIN_ARGS }),
    startBitcoinNode({ args: SECOND_ARGS }),
  ])
  // A block of now: the node has left its initial download.
  await main.mine(1)
  const stranger = openTestWallet()
  const coins = await mineCoins(main, wallet.script, coin_count)
  const fillers = await makeFillers(main, stranger)
  await second.copyFrom(main)
  const nodes = { main, second }
  const endpoints: readonly RpcProxy[] = await Promise.all(
    PLACES.map((place) => startRpcProxy(nodes[place].url)),
  )
  let is_apart = false
  let turn: Promise<unknown> = Promise.resolve()
  /** One change of the chain at a time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }
  const connect = async () => {
    if (is_apart) return
    await sendBlocks(main, second)
    await sendTransactions(second, main)
    await sendTransactions(main, second)
  }

  return {
    ...{ main, second, endpoints, inTurn, connect },
    funded: coins.reduce((sum, { amount }) => sum + amount, 0n),
    mine: (blocks = 1) =>
      inTurn(async () => {
        await connect()
        await main.mine(blocks)
        await connect()
      }),
    /** A block with exactly these transactions, whatever the mempools have. */
    mineOnly: (raws: readonly string[]) =>
      inTurn(async () => {
        await main.mineOnly(raws)
        await connect()
      }),
    /** Until `false` the second node gets no blocks and no transactions. */
    keepApart: (apart: boolean) =>
      inTurn(async () => {
        is_apart = apart
        await connect()
      }),
    /** Returns the lowest height that changed. `before` gets the height of the fork. */
    reorganize: (depth: number, is_empty: boolean, before: (fork: number) => Promise<void>) =>
      inTurn(async () => {
        const fork = (await main.head()).height - depth
        await before(fork)
        await replaceBlocks(main, fork, is_empty)
        await connect()
        return fork + 1
      }),
    restart: () => inTurn(() => main.restart()),
    /** Both nodes restart, and neither has a transaction in its mempool. Nothing happens while the first one has none. */
    loseMempools: () =>
      inTurn(async () => {
        const lost = await main.call<string[]>('getrawmempool')
        if (lost.length === 0) return lost
        await Promise.all([
          main.restart([...MAIN_ARGS, WITHOUT_MEMPOOL]),
          second.restart([...SECOND_ARGS, WITHOUT_MEMPOOL]),
        ])
        return lost
      }),
    fill: (rate: bigint) => fill(main, rate, fillers(rate)),
    isInMempool: (txid: string) => isKnown(main, 'getmempoolentry', txid),
    unspentOf: (scripts: readonly string[]) => unspentOf(main, scripts),
    async stop() {
      await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
      await Promise.all([main.stop(), second.stop()])
    },
  }
}

export type Unspent = { readonly txid: string; readonly amount: bigint }

/**
 * Replaces the blocks above the fork by one more of another branch. Its first block has no payments, and the others have none either if
 * `is_empty`.
 */
async function replaceBlocks(node: BitcoinNode, fork: number, is_empty: boolean): Promise<void> {
  const { height } = await node.head()
  await node.invalidate(await node.call<string>('getblockhash', fork + 1))
  // Of another miner: the same block again would be the one that is invalid.
  const { script } = openTestWallet()
  for (let at = fork; at <= height; at++)
    if (at === fork || is_empty) await node.mineOnly([], script)
    else await node.mine(1, script)
}

/** Fills the mempool with large transactions until its least rate is the given one. Both are in satoshis per virtual byte. */
async function fill(node: BitcoinNode, rate: bigint, raws: Iterable<string>): Promise<number> {
  for (const raw of raws) {
    if ((await leastRate(node)) >= Number(rate)) break
    // The full mempool may drop the newest one.
    await node.send(raw).catch(() => {})
  }
  return leastRate(node)
}

/** The unspent outputs of each script, as the node's chain has them. */
async function unspentOf(
  node: BitcoinNode,
  scripts: readonly string[],
): Promise<ReadonlyMap<string, readonly Unspent[]>> {
  const { unspents } = await node.call<{
    unspents: { txid: string; scriptPubKey: string; amount: number }[]
  }>(
    'scantxoutset',
    'start',
    scripts.map((script) => `raw(${script})`),
  )
  const found = new Map<string, Unspent[]>(scripts.map((script) => [script, []]))
  for (const { txid, scriptPubKey, amount } of unspents)
    found.get(scriptPubKey)!.push({ txid, amount: BigInt(Math.round(amount * 10 ** 8)) })
  return found
}

const leastRate = async (node: BitcoinNode): Promise<number> =>
  ((await node.call<{ mempoolminfee: number }>('getmempoolinfo')).mempoolminfee * 10 ** 8) / 1000

const isKnown = (node: BitcoinNode, method: string, hash: string): Promise<boolean> =>
  node.call(method, hash).then(
    () => true,
    () => false,
  )

async function sendBlocks(from: BitcoinNode, to: BitcoinNode): Promise<void> {
  const missing: string[] = []
  let { hash } = await from.head()
  while (!(await isKnown(to, 'getblockheader', hash))) {
    missing.push(hash)
    hash = (await from.call<{ previousblockhash: string }>('getblockheader', hash)).previousblockhash
  }
  for (const block of missing.reverse())
    await to.call('submitblock', await from.call<string>('getblock', block, 0))
}

async function sendTransactions(from: BitcoinNode, to: BitcoinNode): Promise<void> {
  const known = new Set(await to.call<string[]>('getrawmempool'))
  for (const txid of await from.call<string[]>('getrawmempool'))
    if (!known.has(txid))
      // It may be replaced meanwhile, or the other node refuses it.
      await from
        .call<string>('getrawtransaction', txid)
        .then(to.send, () => {})
        .catch(() => {})
}

/** One coin for each filler, in a block. Returns a function that makes large transactions of them. */
async function makeFillers(node: BitcoinNode, stranger: TestWallet) {
  const [coin] = await mineCoins(node, stranger.script)
  const amount = coin!.amount / BigInt(FILLERS + 1)
  const { script } = stranger
  const raw = stranger.spend(
    [coin!],
    Array.from({ length: FILLERS }, () => ({ script, amount })),
  )
  const txid = await node.call<{ txid: string }>('decoderawtransaction', raw).then((found) => found.txid)
  await node.mineOnly([raw])
  const outputs = Array.from({ length: FILLER_OUTPUTS }, () => ({ script, amount: FILLER_SATOSHIS }))
  return function* (rate: bigint): Generator<string> {
    // Each one offers a little more than the one before, so that the mempool keeps the newest ones.
    for (let vout = 0; vout < FILLERS; vout++) {
      const fee = FILLER_VBYTES * (rate + BigInt(vout) / 4n)
      const change = { script, amount: amount - fee - BigInt(FILLER_OUTPUTS) * FILLER_SATOSHIS }
      yield stranger.spend([{ txid, vout, amount, script }], [...outputs, change])
    }
  }
}
