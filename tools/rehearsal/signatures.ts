import type { SignatureLine } from '../../src/rails/signer/log.ts'
import { mustEqual } from './narrator.ts'
import { evmNetworks, transferNetworks } from './outside.ts'
import type { Stage } from './stage.ts'

/**
 * The log of the signer against the chains, in both directions: every transaction that spends what the signer's keys hold has a line,
 * and every line is a transaction on its chain or an older version of one.
 */
export type Signatures = {
  readonly lines: number
  /** Signatures whose transaction is on its chain. */
  readonly mined: number
  /** Signatures of versions that another one took the place of, with a higher fee. */
  readonly replaced: number
}

type Signed = Extract<SignatureLine, { kind: 'transfer' | 'sweep' }>

export async function compareSignatures(stage: Stage): Promise<Signatures> {
  const lines = await stage.signer.lines()
  const signed = lines.filter((line): line is Signed => line.kind === 'transfer' || line.kind === 'sweep')
  const mined = [
    ...(await minedOnEvm(stage, signed)),
    ...(await minedOnBitcoin(stage, signed)),
    ...minedOnTron(stage, signed),
  ]
  checkPayments(stage, mined)
  return { lines: lines.length, mined: mined.length, replaced: signed.length - mined.length }
}

/** A sender's nonces are those of its signatures, without a gap and without another one. */
async function minedOnEvm({ chainOf, customers, keys }: Stage, signed: readonly Signed[]): Promise<Signed[]> {
  const found: Signed[] = []
  for (const network of evmNetworks) {
    const { node } = chainOf(network)
    const on_network = signed.filter((line) => line.network === network)
    const deposits = customers.map(({ addresses }) => addresses.get(network)!)
    for (const sender of [keys.wallet, keys.gas_account, ...deposits]) {
      const lines = on_network.filter((line) => senderOf(line).toLowerCase() === sender.toLowerCase())
      const receipts = await Promise.all(
        lines.map(({ tx_hash }) => node.call('eth_getTransactionReceipt', tx_hash)),
      )
      const mined = lines.filter((_, index) => receipts[index] !== null)
      const count = Number(await node.call<string>('eth_getTransactionCount', sender, 'latest'))
      const nonces = Array.from({ length: count }, (_, nonce) => `${nonce}`)
      const sorted = (some: readonly Signed[]) => [...new Set(some.map(nonceOf))].toSorted((a, b) => +a - +b)
      mustEqual(`nonces of ${sender} on ${network} with a signature on the chain`, sorted(mined), nonces)
      mustEqual(`nonces of ${sender} on ${network} in the log of the signer`, sorted(lines), nonces)
      found.push(...mined)
    }
  }
  return found
}

const senderOf = (line: Signed): string => (line.kind === 'transfer' ? line.wallet : line.sender)
const nonceOf = (line: Signed): string => line.nonce ?? ''

type Block = {
  readonly tx: readonly {
    readonly txid: string
    readonly vin: readonly { readonly txid?: string; readonly vout?: number }[]
    readonly vout: readonly { readonly n: number; readonly scriptPubKey: { readonly hex: string } }[]
  }[]
}

/** Every transaction that spends a coin of the wallet or of a deposit address has a line, and every line has spent coins. */
async function minedOnBitcoin(stage: Stage, signed: readonly Signed[]): Promise<Signed[]> {
  const lines = signed.filter((line) => line.network === 'bitcoin')
  const { spent, spending } = await spentCoins(stage)
  const mined = lines.filter(({ tx_hash }) => spending.has(tx_hash))
  mustEqual(
    'transactions on Bitcoin that spend what the signer has the keys of, and have no line in its log',
    [...spending].filter((txid) => !lines.some(({ tx_hash }) => tx_hash === txid)),
    [],
  )
  mustEqual(
    'signatures on Bitcoin whose coins nothing has spent',
    lines.filter((line) => line.kind === 'transfer' && !line.coins?.some(({ id }) => spent.has(id))),
    [],
  )
  return mined
}

const BLOCKS_AT_ONCE = 16

async function* blocksOf({ bitcoin: { node } }: Stage): AsyncGenerator<Block> {
  const { height } = await node.head()
  for (let from = 0; from <= height; from += BLOCKS_AT_ONCE) {
    const count = Math.min(BLOCKS_AT_ONCE, height + 1 - from)
    yield* await Promise.all(
      Array.from({ length: count }, async (_, at) =>
        node.call<Block>('getblock', await node.call<string>('getblockhash', from + at), 2),
      ),
    )
  }
}

async function spentCoins(stage: Stage) {
  const { bitcoin, customers, keys } = stage
  const addresses = customers.map(({ addresses }) => addresses.get('bitcoin')!)
  const scripts = new Set(bitcoin.scriptsOf([keys.bitcoin_wallet.address, ...addresses]))
  const held = new Set<string>()
  const spent = new Set<string>()
  const spending = new Set<string>()
  for await (const { tx } of blocksOf(stage))
    for (const { txid, vin, vout } of tx) {
      for (const coin of vin.map((input) => `${input.txid}:${input.vout}`))
        if (held.has(coin)) {
          spent.add(coin)
          spending.add(txid)
        }
      for (const { n, scriptPubKey } of vout) if (scripts.has(scriptPubKey.hex)) held.add(`${txid}:${n}`)
    }
  return { spent, spending }
}

/** No payment of the day was lost, so that none was signed again: the log and the chain have the same transactions. */
function minedOnTron({ tron, keys }: Stage, signed: readonly Signed[]): Signed[] {
  const lines = signed.filter((line) => line.network === 'tron')
  const spending = tron.stub.mined().filter(({ owner }) => owner === keys.tron_wallet)
  mustEqual(
    'transactions of the wallet on Tron, in the log of the signer and on the chain',
    lines.map(({ tx_hash }) => tx_hash).toSorted(),
    spending.map(({ id }) => id).toSorted(),
  )
  return lines
}

/** The signed payments on each chain are what the partner's customers were told that was paid out. */
function checkPayments({ book }: Stage, mined: readonly Signed[]): void {
  for (const network of transferNetworks) {
    const paid = mined.filter(
      (line) => line.network === network && line.kind === 'transfer' && line.purpose === 'pay',
    )
    mustEqual(
      `what the signer’s payments on ${network} come to`,
      paid.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
      book.paidOut(network),
    )
  }
}
