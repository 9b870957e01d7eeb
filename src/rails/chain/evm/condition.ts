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

/** Both balances at the newest block that is final, which is still in the chain after they were read. */
export async function readHoldings(
  node: RpcNode,
  { contract, wallet, confirmations }: EvmScene,
): Promise<Holdings | undefined> {
  const { height: head } = await node.ask(newestBlock())
  // `look` calls a transaction of this block mined, and one of the next block not yet.
  const height = head + 1n > confirmations ? head + 1n - confirmations : 0n
  const before = await node.ask(blockAt(height))
  const [asset, native, after] = await Promise.all([
    readBalance(node, contract, wallet, height),
    node.ask(nativeBalance(wallet, height)),
    node.ask(blockAt(height)),
  ])
  if (asset === undefined || !before || after?.hash !== before.hash) return undefined
  return { wallet, asset, native, block_height: height, block_hash: before.hash }
}

/** Endpoints may know different mempools. The lowest mined and the highest pending nonce are the careful ones. */
export async function readNonces(rpc: Rpc, wallet: string): Promise<Pick<WalletState, 'mined' | 'pool'>> {
  const answers = await rpc.all((node) =>
    Promise.all([
      node.ask(transactionCount(wallet, 'latest')),
      node.ask(transactionCount(wallet, 'pending')),
    ]),
  )
  const mined = answers.map(({ answer }) => answer[0])
  const known = answers.flatMap(({ answer }) => answer)
  return { mined: lowestOf(mined), pool: highestOf(known) }
}

const lowestOf = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a < b ? a : b))
const highestOf = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b))
