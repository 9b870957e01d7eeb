import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import { Address, OutScript } from '@scure/btc-signer/payment.js'
import { RawTx } from '@scure/btc-signer/script.js'
import { SigHash, Transaction } from '@scure/btc-signer/transaction.js'
import { hash160 } from '@scure/btc-signer/utils.js'
import type { ChainOrder } from '../rail.ts'
import { readSigned } from './bytes.ts'
import type { Coin, Outpoint } from './rail.ts'

/** A transaction that spends coins of the wallet, before it is signed. Everything else about it is fixed below. */
export type BitcoinDraft = {
  readonly coins: readonly Coin[]
  readonly outputs: readonly BitcoinOutput[]
}
export type BitcoinOutput = { readonly script: string; readonly amount: bigint }

const VERSION = 2
const LOCK_TIME = 0
/** Signals that the transaction may be replaced, and sets no lock. */
const SEQUENCE = 0xfffffffd
/** A hash of a key (P2WPKH): version 0, and 20 bytes. Wallets and deposit addresses have such scripts. */
const KEY_HASH_SCRIPT = /^0014[0-9a-f]{40}$/
/** The first byte of r is below 0x80 in every signature, so signatures of all inputs have the same length, or less. */
const SIGNATURE = { lowR: true } as const

const LOWER_HEX = /^[0-9a-f]+$/

const mainnet = Address()
/**
 * BIP 350 asks senders to accept future witness versions. Anyone can spend the outputs of an undefined version, so only the
 * defined ones are paid.
 */
const payable: readonly string[] = ['pkh', 'sh', 'wpkh', 'wsh', 'tr']

/** The script that pays an address of Bitcoin, in hex; undefined if the text is none, or of a kind that nobody could spend. */
export function scriptOf(address: string): string | undefined {
  try {
    const output = mainnet.decode(address)
    // BIP 341: an output key that is not an x coordinate of the curve can never be spent. Only encoding checks it.
    return payable.includes(output.type) ? hexOf(OutScript.encode(output)) : undefined
  } catch {
    return undefined
  }
}

/** The address of a script that pays a hash of a key; undefined for all others. */
export const addressOfScript = (script: string): string | undefined =>
  KEY_HASH_SCRIPT.test(script)
    ? mainnet.encode({ type: 'wpkh', hash: hexToBytes(script.slice(4)) })
    : undefined

/** The script that pays an order. Its address was checked before the order was accepted. */
export function scriptOfOrder({ id, destination_address }: ChainOrder): string {
  const script = scriptOf(destination_address)
  if (script === undefined) throw new Error(`bitcoin: the destination of ${id} is no address.`)
  return script
}

export const outpointText = ({ txid, vout }: Outpoint): string => `${txid}:${vout}`

/**
 * The first coin by its name. Transactions with the same first coin exclude each other; all transactions of one transfer have it in
 * common.
 */
export const coinThatStandsFor = (coins: readonly Outpoint[]): string =>
  coins.map(outpointText).sort()[0] ?? ''

/**
 * The virtual size with signatures. A signature may be a byte shorter, once in 128 times, so the transaction may turn out smaller,
 * never larger.
 */
export function vsizeOf(coins: number, output_scripts: readonly string[]): number {
  const outputs = output_scripts.reduce((sum, script) => sum + 9 + script.length / 2, 0)
  const stripped = 8 + countBytes(coins) + 41 * coins + countBytes(output_scripts.length) + outputs
  const witnesses = 2 + coins * (3 + SIGNATURE_BYTES + KEY_BYTES)
  return Math.ceil((4 * stripped + witnesses) / 4)
}
const SIGNATURE_BYTES = 71
const KEY_BYTES = 33
const countBytes = (count: number): number => (count < 0xfd ? 1 : 3)

export const amountOf = (parts: readonly { readonly amount: bigint }[]): bigint =>
  parts.reduce((sum, { amount }) => sum + amount, 0n)

export const feeOf = ({ coins, outputs }: BitcoinDraft): bigint => amountOf(coins) - amountOf(outputs)

/** What a signer is asked to sign: a PSBT as hex. */
export const encodePsbt = (draft: BitcoinDraft): string => hexOf(composed(draft).toPSBT(0))

/** Undefined unless the bytes are exactly those that `encodePsbt` makes, so nothing can hide in them. */
export function decodePsbt(psbt: string): BitcoinDraft | undefined {
  try {
    const found = Transaction.fromPSBT(hexToBytes(psbt), TOLERANT)
    const draft = {
      coins: places(found.inputsLength).map((place) => {
        const { txid, index, witnessUtxo } = found.getInput(place)
        const { amount, script } = witnessUtxo!
        return { txid: hexOf(txid!), vout: index!, amount, script: hexOf(script) }
      }),
      outputs: places(found.outputsLength).map((place) => {
        const { script, amount } = found.getOutput(place)
        return { script: hexOf(script!), amount: amount! }
      }),
    }
    return encodePsbt(draft) === psbt ? draft : undefined
  } catch {
    return undefined
  }
}
const TOLERANT = { allowUnknownOutputs: true, allowUnknownInputs: true } as const

/**
 * Signs each input with the key of its coin, by RFC 6979: the same transaction always gets the same bytes, so a crash before they are
 * stored does not lead to a second transaction.
 */
export function signDraftWith(draft: BitcoinDraft, keyAt: (place: number) => Uint8Array): string {
  const transaction = composed(draft)
  for (const place of places(draft.coins.length)) transaction.signIdx(keyAt(place), place, [SigHash.ALL])
  transaction.finalize()
  return transaction.hex
}

function composed({ coins, outputs }: BitcoinDraft): Transaction {
  const transaction = new Transaction({
    ...{ version: VERSION, lockTime: LOCK_TIME, allowUnknownOutputs: true },
    ...SIGNATURE,
  })
  for (const { txid, vout, amount, script } of coins)
    transaction.addInput({
      ...{ txid, index: vout, sequence: SEQUENCE, sighashType: SigHash.ALL },
      witnessUtxo: { amount, script: hexToBytes(script) },
    })
  for (const { script, amount } of outputs) transaction.addOutput({ script: hexToBytes(script), amount })
  return transaction
}

/**
 * Whether the bytes are the draft with a valid signature on each input, by the key of its coin. A signer may be another program; what a node
 * would refuse must not be stored as a payment.
 */
export function isSignedDraft(signed: string, draft: BitcoinDraft): boolean {
  if (!LOWER_HEX.test(signed)) return false
  try {
    const { witnesses = [], ...raw } = RawTx.decode(hexToBytes(signed))
    const same_effect =
      raw.version === VERSION &&
      raw.lockTime === LOCK_TIME &&
      raw.inputs.length === draft.coins.length &&
      raw.inputs.every(({ sequence, finalScriptSig }) => sequence === SEQUENCE && finalScriptSig.length === 0)
    return same_effect && isSame(readSigned(signed), draft) && areValid(witnesses, draft)
  } catch {
    return false
  }
}

function isSame(facts: ReturnType<typeof readSigned>, { coins, outputs }: BitcoinDraft): boolean {
  const textOf = (parts: readonly unknown[], outs: readonly BitcoinOutput[]) =>
    JSON.stringify([parts, outs.map(({ script, amount }) => [script, amount.toString()])])
  return textOf(facts.inputs.map(outpointText), facts.outputs) === textOf(coins.map(outpointText), outputs)
}

function areValid(witnesses: readonly Uint8Array[][], draft: BitcoinDraft): boolean {
  const transaction = composed(draft)
  return draft.coins.every(({ amount, script }, place) => {
    if (!KEY_HASH_SCRIPT.test(script)) return false
    const key_hash = script.slice(4)
    const spent_script = hexToBytes(`76a914${key_hash}88ac`)
    const [signature, key, ...more] = witnesses[place] ?? []
    if (!signature || !key || more.length > 0) return false
    if (signature.at(-1) !== SigHash.ALL || hexOf(hash160(key)) !== key_hash) return false
    const hash = transaction.preimageWitnessV0(place, spent_script, SigHash.ALL, amount)
    return secp256k1.verify(signature.slice(0, -1), hash, key, { prehash: false, format: 'der' })
  })
}

const places = (length: number): number[] => Array.from({ length }, (_, place) => place)
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
