import type { Signer } from '../../signer/signer.ts'
import type { Holdings, WalletState } from '../rail.ts'
import { EndpointsUnavailable, type Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { blockAt, hasContract, isSyncing, nativeBalance, newestBlock, transactionCount } from './calls.ts'
import type { EvmPlace, EvmScene } from './network.ts'
import { isSameAddress, readBalance, readToken } from './token.ts'

/** Part of the set-up that a check found to be wrong. */
export type CheckedPart = 'endpoint' | 'chain' | 'sync' | 'contract' | 'decimals' | 'wallet'

/** The message says which part of which endpoint is wrong, and never has its URL. */
export class ChainCheckFailed extends Error {
  readonly part: CheckedPart

  constructor(part: CheckedPart, problem: string) {
    super(problem)
    this.part = part
  }
}

const DECIMALS = 6n

/** An endpoint that is down for now is tolerated while another one answers; one that is wrong never is. */
export async function checkChain(rpc: Rpc, place: EvmPlace): Promise<void> {
  const { network } = place
  const inspected = await rpc.inspect()
  const failures = inspected.flatMap(({ failure }) => failure ?? [])
  const wrong = failures.find(({ kind }) => kind === 'wrong_chain')
  if (wrong) throw new ChainCheckFailed('chain', `${network}: ${wrong.message}.`)
  if (failures.length === inspected.length)
    throw new ChainCheckFailed('endpoint', `${network}: no endpoint is usable. ${failures[0]!.message}.`)
  try {
    await rpc.all((node) => checkNode(node, place))
  } catch (error) {
    if (error instanceof EndpointsUnavailable) throw new ChainCheckFailed('endpoint', `${error.message}.`)
    throw error
  }
}

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

/** The newest final block: `look` calls a transaction of this block mined, and one of the next block not yet. */
async function finalHeight(node: RpcNode, confirmations: bigint): Promise<bigint> {
  const { height: head } = await node.ask(newestBlock())
  return head + 1n > confirmations ? head + 1n - confirmations : 0n
}

/** Both balances at the newest block that is final, which is still in the chain after they were read. */
export async function readHoldings(
  node: RpcNode,
  { contract, wallet, confirmations }: EvmScene,
): Promise<Holdings | undefined> {
  const height = await finalHeight(node, confirmations)
  const before = await node.ask(blockAt(height))
  const [asset, native, after] = await Promise.all([
    readBalance(node, contract, wallet, height),
    node.ask(nativeBalance(wallet, height)),
    node.ask(blockAt(height)),
  ])
  if (asset === undefined || !before || after?.hash !== before.hash) return undefined
  return { wallet, asset, native, block_height: height, block_hash: before.hash }
}

/** Endpoints may know different mempools. The lowest final and mined and the highest pending nonce are the careful ones. */
export async function readWallet(
  rpc: Rpc,
  { wallet, confirmations }: Pick<EvmScene, 'wallet' | 'confirmations'>,
): Promise<WalletState> {
  const answers = await rpc.all(async (node) => {
    const final_height = await finalHeight(node, confirmations)
    const [final, mined, pending] = await Promise.all([
      node.ask(transactionCount(wallet, final_height)),
      node.ask(transactionCount(wallet, 'latest')),
      node.ask(transactionCount(wallet, 'pending')),
    ])
    return { final_height, final, mined, pending }
  })
  const each = answers.map(({ answer }) => answer)
  const mined = lowestOf(each.map((one) => one.mined))
  return {
    wallet,
    final: lowestOf([mined, ...each.map((one) => one.final)]),
    final_height: lowestOf(each.map((one) => one.final_height)),
    mined,
    pool: highestOf(each.flatMap((one) => [one.mined, one.pending])),
  }
}

const lowestOf = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a < b ? a : b))
const highestOf = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b))
