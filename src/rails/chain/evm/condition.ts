import type { Signer } from '../../signer/signer.ts'
import { ChainCheckFailed, type CheckedPart, checkEndpoints } from '../check.ts'
import type { Holdings, WalletState } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { blockAt, hasContract, isSyncing, nativeBalance, newestBlock, transactionCount } from './calls.ts'
import type { EvmPlace, EvmScene } from './network.ts'
import { isSameAddress, readBalance, readToken } from './token.ts'

const DECIMALS = 6n

export const checkChain = (rpc: Rpc, place: EvmPlace): Promise<void> =>
  checkEndpoints(place.network, rpc, (node) => checkNode(node, place))

async function checkNode(node: RpcNode, { network, contract }: EvmPlace): Promise<void> {
  const [syncing, has_code, decimals] = await Promise.all([
    node.ask(isSyncing()),
    node.ask(hasContract(contract)),
    readToken(node, contract, { signature: 'decimals()' }),
  ])
  const fail = (part: CheckedPart, problem: string) =>
    new ChainCheckFailed(part, `${network}: endpoint ${node.endpoint}: ${problem}`)
  if (syncing) throw fail('sync', 'the node is still synchronizing. Wait until it has caught up.')
  if (!has_code)
    throw fail('contract', `there is no contract at ${contract}. Check the address of the token.`)
  if (decimals !== DECIMALS)
    throw fail('decimals', `the token at ${contract} has ${decimals ?? 'no'} decimals, not ${DECIMALS}.`)
}

/** The wallet is the signer's. `expected`, where it is configured, must be the same address. */
export async function walletOf(
  signer: Signer,
  network: EvmScene['network'],
  expected?: string,
): Promise<string> {
  const wallet = (await signer.addresses())[network]
  if (!wallet) throw new ChainCheckFailed('wallet', `${network}: the signer has no key for this network.`)
  if (expected !== undefined && !isSameAddress(wallet, expected))
    throw new ChainCheckFailed('wallet', `${network}: the signer's wallet is ${wallet}, not ${expected}.`)
  return wallet
}

/** How many balances are asked of one endpoint at once. */
const ASKED_AT_ONCE = 20

/** The newest final block: `look` calls a transaction of this block mined, and one of the next block not yet. */
const finalHeight = (head: bigint, confirmations: bigint): bigint =>
  head + 1n > confirmations ? head + 1n - confirmations : 0n

/**
 * What the wallet and the addresses hold at the newest block that is final for every endpoint that answers. `endpoints_disagree`: the
 * endpoints tell different figures of this block, or different blocks. Undefined if the block left the chain while the figures were read.
 */
export async function readHoldings(
  rpc: Rpc,
  scene: EvmScene,
  addresses: readonly string[] = [],
): Promise<Holdings | 'endpoints_disagree' | undefined> {
  const heads = await rpc.all((node) => node.ask(newestBlock()))
  const head = lowestOf(heads.map(({ answer }) => answer.height))
  const height = finalHeight(head, scene.confirmations)
  const views = (await rpc.all((node) => holdingsAt(node, scene, { height, addresses }))).map(
    ({ answer }) => answer,
  )
  const told = views.flatMap((view) => view ?? [])
  const keys = new Set(
    told.map(({ asset, at_addresses, native, block_hash }) =>
      [asset, at_addresses, native, block_hash].join(' '),
    ),
  )
  if (keys.size > 1) return 'endpoints_disagree'
  return told.length === views.length ? told[0] : undefined
}

/** The balances at a block that is still in the chain after they were read. */
async function holdingsAt(
  node: RpcNode,
  { contract, wallet }: EvmScene,
  { height, addresses }: { readonly height: bigint; readonly addresses: readonly string[] },
): Promise<Holdings | undefined> {
  const before = await node.ask(blockAt(height))
  const [asset, native] = await Promise.all([
    readBalance(node, contract, wallet, height),
    node.ask(nativeBalance(wallet, height)),
  ])
  const held_at: { address: string; amount: bigint }[] = []
  for (let i = 0; i < addresses.length; i += ASKED_AT_ONCE) {
    const asked = addresses.slice(i, i + ASKED_AT_ONCE)
    const held = await Promise.all(asked.map((address) => readBalance(node, contract, address, height)))
    for (const [n, amount] of held.entries()) {
      if (amount === undefined) return undefined
      held_at.push({ address: asked[n]!, amount })
    }
  }
  const after = await node.ask(blockAt(height))
  if (asset === undefined || !before || after?.hash !== before.hash) return undefined
  const at_addresses = held_at.reduce((sum, { amount }) => sum + amount, 0n)
  return { wallet, asset, at_addresses, held_at, native, block_height: height, block_hash: before.hash }
}

/**
 * Endpoints may know different mempools. The lowest final and mined nonces are the careful ones. A nonce in `pool` that the database
 * does not know pauses the rail, so one answer alone never decides it: `pool` is the highest nonce that two endpoints know, or
 * that the only endpoint that answers tells twice.
 */
export async function readWallet(
  rpc: Rpc,
  { wallet, confirmations }: Pick<EvmScene, 'wallet' | 'confirmations'>,
): Promise<WalletState> {
  const ask = () =>
    rpc.all(async (node) => {
      const { height: head } = await node.ask(newestBlock())
      const final_height = finalHeight(head, confirmations)
      const [final, mined, pending] = await Promise.all([
        node.ask(transactionCount(wallet, final_height)),
        node.ask(transactionCount(wallet, 'latest')),
        node.ask(transactionCount(wallet, 'pending')),
      ])
      return { final_height, final, mined, known: highestOf([mined, pending]) }
    })
  const first = await ask()
  const again = first.length > 1 ? first : await ask()
  const readings = (again.length > 1 ? again : [...first, ...again]).map(({ answer }) => answer)
  const mined = lowestOf(readings.map((one) => one.mined))
  const known = readings.map((one) => one.known)
  return {
    wallet,
    final: lowestOf([mined, ...readings.map((one) => one.final)]),
    final_height: lowestOf(readings.map((one) => one.final_height)),
    mined,
    pool: highestOf([mined, secondHighestOf(known)]),
    claimed: highestOf(known),
    ...(Math.max(first.length, again.length) < rpc.quorum ? { is_alone: true as const } : {}),
  }
}

const lowestOf = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a < b ? a : b))
/** The highest value that at least two of them reach. */
const secondHighestOf = (values: readonly bigint[]): bigint =>
  [...values].sort((a, b) => (a > b ? -1 : 1))[1]!
const highestOf = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b))
