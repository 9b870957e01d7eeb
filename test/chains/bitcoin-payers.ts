import { randomInt } from 'node:crypto'
import { networks } from '../../src/core/networks.ts'
import type { BitcoinNode } from './bitcoin-node.ts'
import { mineCoins, openTestWallet } from './bitcoin-wallet.ts'
import { anyOf, fates, inTurn, noCounts, type PaidIn, type PayersIn } from './payers-in.ts'
import { DEPTH } from './production-stage.ts'

type Sent = {
  readonly raw: string
  readonly tx_hash: string
  /** Spends the same coin, and pays no customer. */
  readonly conflict: string
  /** It was in one block only. Two blocks credit a deposit, so only such a transaction may vanish for good. */
  readonly is_new: boolean
  readonly height: number
}

type Place = { readonly address: string; readonly script: string }
type Output = { readonly script: string; readonly amount: bigint }

const COIN = 3_000_000n
const CHARGE = 10_000n
const SATOSHIS = 10 ** 8
const { deposit_least } = networks.bitcoin

/** Each transaction spends a coin of its own, so that one that vanishes takes no other one with it. */
async function openScene(node: BitcoinNode, places: readonly Place[], coins_most: number) {
  const payer = openTestWallet()
  const [reward] = await mineCoins(node, payer.script, 1)
  const pieces = Array.from({ length: coins_most }, () => ({ script: payer.script, amount: COIN }))
  const block = await node.mineOnly([payer.spend([reward!], pieces)])
  const { tx } = await node.call<{ tx: string[] }>('getblock', block)
  const { height: first_height } = await node.head()
  await node.mine(DEPTH)
  return {
    ...{ node, places, payer, first_height, counted: noCounts() },
    coins: pieces.map((piece, vout) => ({ ...piece, txid: tx[1]!, vout })),
    kind: inTurn(['right', 'right', 'small', 'right', 'right'] as const),
    fate: inTurn(fates),
    fateOfOld: inTurn(['moved', 'later', 'moved'] as const),
    /** In the mempool. */
    waiting: [] as Sent[],
    /** In blocks that a reorganisation can still remove. */
    recent: [] as Sent[],
    reorganized: 0,
  }
}

type Scene = Awaited<ReturnType<typeof openScene>>

export async function openBitcoinPayers(
  node: BitcoinNode,
  places: readonly Place[],
  coins_most: number,
): Promise<PayersIn> {
  const scene = await openScene(node, places, coins_most)
  await payNothing(scene)
  return {
    network: 'bitcoin',
    counted: scene.counted,
    async pay() {
      for (let i = 1 + randomInt(3); i > 0; i--) await send(scene)
      await mine(scene)
    },
    async inNewest(depth) {
      const head = await node.head()
      return scene.recent.filter(({ height }) => height > head.height - depth).map(({ tx_hash }) => tx_hash)
    },
    reorganize: (depth) => reorganize(scene, depth),
    async settle() {
      await mine(scene)
      await node.mine(2 * DEPTH)
    },
    payments: () => paymentsIn(scene),
  }
}

/** Undefined when all coins are spent. */
function spendCoin({ coins, payer }: Scene, outputs: readonly Output[]) {
  const coin = coins.pop()
  if (!coin) return undefined
  const rest = outputs.reduce((left, { amount }) => left - amount, COIN - CHARGE)
  const conflict = payer.spend([coin], [{ script: payer.script, amount: COIN - 3n * CHARGE }])
  return { raw: payer.spend([coin], [...outputs, { script: payer.script, amount: rest }]), conflict }
}

/** An output of zero is valid in a block, and no node relays it. */
async function payNothing(scene: Scene): Promise<void> {
  const { node, places, counted } = scene
  await node.mineOnly([spendCoin(scene, [{ script: places[0]!.script, amount: 0n }])!.raw])
  counted.zero++
  await node.mine(DEPTH)
}

function someOutput({ places, kind, counted }: Scene): Output {
  const { script } = anyOf(places)
  if (kind() === 'right') return { script, amount: deposit_least + BigInt(randomInt(300_000)) }
  counted.small++
  return { script, amount: BigInt(1000 + randomInt(Number(deposit_least) - 1000)) }
}

async function send(scene: Scene): Promise<void> {
  const { node, counted, waiting } = scene
  const outputs = Array.from({ length: 1 + randomInt(5) }, () => someOutput(scene))
  const spent = spendCoin(scene, outputs)
  if (!spent) return
  waiting.push({ ...spent, tx_hash: await node.send(spent.raw), is_new: true, height: 0 })
  counted.transactions++
  counted.sent += outputs.length
}

async function mine(scene: Scene): Promise<void> {
  await scene.node.mine()
  const { height } = await scene.node.head()
  scene.recent.push(...scene.waiting.splice(0).map((sent) => ({ ...sent, height })))
  scene.recent = scene.recent.filter((sent) => sent.height > height - DEPTH)
}

/** The new branch is one block longer: nodes of this kind follow the most work. */
async function reorganize(scene: Scene, depth: number): Promise<void> {
  const { node, counted, waiting } = scene
  const head = await node.head()
  const below = head.height - depth
  const removed = scene.recent.filter(({ height }) => height > below)
  const ends = removed.map((sent) => ({
    sent: { ...sent, is_new: false },
    end: sent.is_new && sent.height === head.height ? scene.fate() : scene.fateOfOld(),
    at: randomInt(depth + 1),
  }))
  await node.invalidate(await node.call<string>('getblockhash', below + 1))
  // A block with the same content and time would be the block that was removed: the script of its reward differs.
  const reward = (0x52 + (scene.reorganized++ % 14)).toString(16)
  for (let i = 0; i <= depth; i++) {
    const put = ends.flatMap(({ sent, end, at }) => {
      if (end === 'never') return i === 0 ? [sent.conflict] : []
      return end === 'moved' && at === i ? [sent.raw] : []
    })
    await node.mineOnly(put, reward)
  }
  scene.recent = scene.recent.filter(({ height }) => height <= below)
  for (const { sent, end, at } of ends) {
    counted[end]++
    if (end === 'moved') scene.recent.push({ ...sent, height: below + 1 + at })
    // In the mempool, until the next block that takes from it.
    if (end === 'later') waiting.push(sent)
  }
  if (removed.length > 0) counted.reorganizations[depth - 1]!++
}

type ShownBlock = {
  readonly tx: readonly {
    readonly txid: string
    readonly vout: readonly { readonly value: number; readonly scriptPubKey: { readonly hex: string } }[]
  }[]
}

async function paymentsIn({ node, places, first_height }: Scene): Promise<PaidIn[]> {
  const { height } = await node.head()
  const known = new Map(places.map(({ script, address }) => [script, address]))
  const found: PaidIn[] = []
  for (let at = first_height; at <= height; at++) {
    const block = await node.call<ShownBlock>('getblock', await node.call<string>('getblockhash', at), 2)
    for (const { txid: tx_hash, vout } of block.tx)
      vout.forEach(({ value, scriptPubKey }, output_index) => {
        const address = known.get(scriptPubKey.hex)
        const amount = BigInt(Math.round(value * SATOSHIS))
        if (address !== undefined && amount > 0n) found.push({ tx_hash, output_index, address, amount })
      })
  }
  return found
}
