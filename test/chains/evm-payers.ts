import { randomBytes, randomInt } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { networks } from '../../src/core/networks.ts'
import { hex } from './anvil.ts'
import { type BatchEntry, batchData, deployBatchPayer } from './batch-payer.ts'
import { anyOf, fates, inTurn, noCounts, type PaidIn, type PayersIn } from './payers-in.ts'
import { type ChainPlace, DEPTH } from './production-stage.ts'

/** Each transaction is of another account, so that one that vanishes does not hold up those after it. */
type Payer = { readonly account: ReturnType<typeof privateKeyToAccount>; nonce: number }

type Sent = {
  readonly raw: `0x${string}`
  readonly tx_hash: string
  readonly payer: Payer
  /** It pays somebody more than zero. */
  readonly is_paid: boolean
  readonly block: number
}

const PAYERS = 40
/** More than the contract has: the transaction is mined, and fails. */
const TOO_MUCH = 10n ** 30n
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

async function openScene(place: ChainPlace, addresses: readonly string[]) {
  const { node, token } = place
  const contract = await deployBatchPayer(node, token.contract)
  await token.mint(contract, 10n ** 15n)
  const free: Payer[] = []
  for (let i = 0; i < PAYERS; i++) {
    const account = privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`)
    await node.setBalance(account.address, 10n ** 21n)
    free.push({ account, nonce: 0 })
  }
  await node.mine(2 * DEPTH)
  return {
    ...{ place, addresses, contract, free, counted: noCounts() },
    kind: inTurn(['right', 'right', 'small', 'right', 'zero', 'right', 'right'] as const),
    isFailing: inTurn([false, false, false, false, true]),
    fate: inTurn(fates),
    /** In the mempool. */
    waiting: [] as Sent[],
    /** Nowhere until the next block. */
    returning: [] as Sent[],
    /** In blocks that a reorganisation can still remove. */
    recent: [] as Sent[],
    headNow: async () => Number(await node.call<string>('eth_blockNumber')),
  }
}

type Scene = Awaited<ReturnType<typeof openScene>>

export async function openEvmPayers(place: ChainPlace, addresses: readonly string[]): Promise<PayersIn> {
  const scene = await openScene(place, addresses)
  const { node, network } = place
  const { counted, free } = scene
  return {
    network,
    counted,
    async pay() {
      for (const payer of free.splice(0, 1 + randomInt(3))) await send(scene, payer)
      await mine(scene)
    },
    async inNewest(depth) {
      const head = await scene.headNow()
      const newest = scene.recent.filter(({ block, is_paid }) => is_paid && block > head - depth)
      return newest.map(({ tx_hash }) => tx_hash)
    },
    reorganize: (depth) => reorganize(scene, depth),
    async settle() {
      await mine(scene)
      await node.mine(2 * networks[network].confirmations)
    },
    payments: () => paymentsIn(place, addresses),
  }
}

function someEntry({ place, addresses, counted, kind }: Scene): BatchEntry {
  const { deposit_least } = networks[place.network]
  const address = anyOf(addresses)
  const one = kind()
  if (one !== 'right') counted[one]++
  if (one === 'zero') return { address, amount: 0n }
  if (one === 'small') return { address, amount: BigInt(1 + randomInt(Number(deposit_least) - 1)) }
  return { address, amount: deposit_least + BigInt(randomInt(5_000_000)) }
}

async function send(scene: Scene, payer: Payer): Promise<void> {
  const { place, contract, counted, waiting } = scene
  const entries = Array.from({ length: 1 + randomInt(5) }, () => someEntry(scene))
  const is_failing = scene.isFailing()
  const too_much = { address: entries[0]!.address, amount: TOO_MUCH }
  const raw = await payer.account.signTransaction({
    ...{ chainId: place.node.chain_id, nonce: payer.nonce, to: contract as `0x${string}`, gas: 800_000n },
    ...{ maxFeePerGas: 900n * 10n ** 9n, maxPriorityFeePerGas: 2n * 10n ** 9n },
    data: batchData(is_failing ? [...entries, too_much] : entries),
  })
  const tx_hash = await place.node.call<string>('eth_sendRawTransaction', raw)
  const paid = is_failing ? 0 : entries.filter(({ amount }) => amount > 0n).length
  waiting.push({ raw, tx_hash, payer, is_paid: paid > 0, block: 0 })
  counted.transactions++
  counted.sent += paid
  if (is_failing) counted.failed++
}

async function mined({ place: { node, network } }: Scene, sent: Sent): Promise<Sent> {
  const receipt = await node.call<{ blockNumber: string } | null>('eth_getTransactionReceipt', sent.tx_hash)
  if (!receipt) throw new Error(`${network}: ${sent.tx_hash} was not mined`)
  return { ...sent, block: Number(receipt.blockNumber) }
}

async function mine(scene: Scene): Promise<void> {
  const { node } = scene.place
  for (const sent of scene.returning.splice(0)) {
    await node.call('eth_sendRawTransaction', sent.raw)
    scene.waiting.push(sent)
  }
  await node.mine()
  for (const sent of scene.waiting.splice(0)) scene.recent.push(await mined(scene, sent))
  const head = await scene.headNow()
  for (const { payer } of scene.recent.filter(({ block }) => block <= head - DEPTH)) {
    payer.nonce++
    scene.free.push(payer)
  }
  scene.recent = scene.recent.filter(({ block }) => block > head - DEPTH)
}

async function reorganize(scene: Scene, depth: number): Promise<void> {
  const { counted, free, returning, place } = scene
  const head = await scene.headNow()
  const removed = scene.recent.filter(({ block }) => block > head - depth)
  const ends = removed.map((sent) => ({ sent, end: scene.fate() }))
  const moved = ends.flatMap(({ sent, end }) => (end === 'moved' ? [sent] : []))
  await place.node.reorganize(
    depth,
    moved.map(({ raw }) => [raw, randomInt(depth)] as const),
  )
  scene.recent = scene.recent.filter(({ block }) => block <= head - depth)
  for (const sent of moved) scene.recent.push(await mined(scene, sent))
  for (const { sent, end } of ends) {
    if (sent.is_paid) counted[end]++
    if (end === 'never') free.push(sent.payer)
    if (end === 'later') returning.push(sent)
  }
  if (removed.some(({ is_paid }) => is_paid)) counted.reorganizations[depth - 1]!++
}

async function paymentsIn({ node, token }: ChainPlace, addresses: readonly string[]): Promise<PaidIn[]> {
  const range = { fromBlock: hex(0), toBlock: 'latest', address: token.contract, topics: [TRANSFER_TOPIC] }
  const logs = await node.call<{ topics: string[]; data: string; transactionHash: string }[]>(
    'eth_getLogs',
    range,
  )
  const places = new Map<string, number>()
  const known = new Map(addresses.map((address) => [BigInt(address), address]))
  return logs.flatMap(({ topics, data, transactionHash: tx_hash }) => {
    const output_index = places.get(tx_hash) ?? 0
    places.set(tx_hash, output_index + 1)
    const address = known.get(BigInt(topics[2]!))
    const amount = BigInt(data)
    return address !== undefined && amount > 0n ? [{ tx_hash, output_index, address, amount }] : []
  })
}
