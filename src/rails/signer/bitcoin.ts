import { p2wpkh } from '@scure/btc-signer/payment.js'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { type BitcoinCaps, isWithinCaps } from '../chain/bitcoin/fees.ts'
import type { Coin } from '../chain/bitcoin/rail.ts'
import {
  type BitcoinDraft,
  type BitcoinOutput,
  coinThatStandsFor,
  decodePsbt,
  feeOf,
  outpointText,
  scriptOf,
  signDraftWith,
  vsizeOf,
} from '../chain/bitcoin/transaction.ts'
import type { DepositKeys } from './deposit-keys.ts'
import {
  type Hourly,
  type HourlyLimits,
  hourlyProblems,
  openHourlyCounts,
  type SignatureName,
  type SignedBefore,
} from './hourly.ts'
import { isSealed } from './seal.ts'
import { nameOfTransfer, SignatureRefused, type Signer, type SignerRule, type SignRequest } from './signer.ts'
import { secretOf } from './wallet-key.ts'

export type BitcoinSignerOptions = {
  /** 32 bytes as hex, with or without 0x. */
  readonly key: string
  /** The keys of deposit addresses. Without them only coins of the wallet itself are signed for. */
  readonly deposit_keys?: Pick<DepositKeys, 'secretAt'>
  readonly sealKey: () => Promise<Buffer>
  readonly caps: BitcoinCaps
  readonly per_hour: HourlyLimits
  readonly signedBefore?: () => Promise<readonly SignedBefore[]>
  /** Whether exactly this signature was made within the last hour: it is the same one, and counts once. */
  readonly isCounted?: (signature: SignatureName) => boolean
  readonly clock?: { now(): number }
}

type Wallet = { readonly address: string; readonly script: string }

/**
 * A signer in this process for bitcoin: one key, whose hash is the wallet (P2WPKH), and the keys of deposit addresses, if it has
 * them. As in `local.ts` the keys live in this closure only.
 */
export function localBitcoinSigner(options: BitcoinSignerOptions): Signer {
  const { key, sealKey, caps, per_hour, signedBefore = async () => [], clock = { now: Date.now } } = options
  const secret = secretOf(key)
  const wallet = walletOf(secret)
  const countsOnce = openHourlyCounts([['bitcoin', per_hour]], signedBefore, clock)
  const amounts = new Map<string, bigint>()
  const keyOf = ({ address_index }: Coin): Uint8Array | undefined => {
    if (address_index === undefined) return secret
    try {
      return options.deposit_keys?.secretAt(address_index)
    } catch {
      return undefined
    }
  }

  return {
    addresses: async () => ({ bitcoin: wallet.address }),
    async keepRoom({ transfer_id, network, ...payment }) {
      return (await countsOnce()).get(network)?.keepRoom(transfer_id, payment)
    },
    async sign(request) {
      if (request.intent.network !== 'bitcoin')
        throw refusal(request, 'network', `it has no key for ${request.intent.network}.`)
      if (!isSealed(await sealKey(), request.intent))
        throw refusal(request, 'seal', 'the seal does not fit its id, network, destination and amount.')
      const is_counted = options.isCounted?.(nameOfTransfer(request))
      const hourly = is_counted ? undefined : (await countsOnce()).get('bitcoin')!
      const { draft, keys } = checkDraft(request, { wallet, keyOf, caps, hourly, amounts })
      for (const coin of draft.coins) amounts.set(outpointText(coin), coin.amount)
      try {
        return { signed: signDraftWith(draft, (place) => keys[place]!) }
      } catch {
        throw refusal(request, 'encoding', 'the transaction cannot be signed.')
      }
    },
  }
}

function walletOf(secret: Uint8Array): Wallet {
  const { address, script } = p2wpkh(pubECDSA(secret))
  return { address: address!, script: Buffer.from(script).toString('hex') }
}

type BitcoinRules = {
  readonly wallet: Wallet
  /** The key that spends a coin, by what the request says of it. Undefined: the signer has none. */
  readonly keyOf: (coin: Coin) => Uint8Array | undefined
  readonly caps: BitcoinCaps
  readonly hourly: Hourly | undefined
  /** The amount of each coin that was signed for, as the request told it. */
  readonly amounts: ReadonlyMap<string, bigint>
}

/** The PSBT must be exactly what the intent and the reservation give; only the fee is free, below the caps. */
function checkDraft(
  request: SignRequest,
  { wallet, keyOf, caps, hourly, amounts }: BitcoinRules,
): { readonly draft: BitcoinDraft; readonly keys: readonly Uint8Array[] } {
  const assertRule = (rule: SignerRule, holds: boolean, problem: string) => {
    if (!holds) throw refusal(request, rule, problem)
  }
  const { purpose, reservation, intent } = request
  const draft = decodePsbt(request.unsigned)
  if (!draft) throw refusal(request, 'encoding', 'the bytes are no PSBT of the form that it signs.')
  const { coins } = draft
  assertRule('wallet', reservation.wallet === wallet.address, 'the reservation is of another wallet.')
  const reserved = 'coins' in reservation ? reservation.coins : []
  assertRule('coins', coins.length > 0, 'nothing is spent.')
  assertRule('coins', namesOf(coins) === namesOf(reserved), 'the inputs are not exactly the reserved coins.')
  // The PSBT does not tell which key is whose: the reservation does, and the script of the coin must be that of the key.
  const keys = reserved.flatMap((coin) => keyOf(coin) ?? [])
  assertRule('wallet', keys.length === coins.length, 'it has no key for the deposit address of an input.')
  assertRule(
    'wallet',
    coins.every(({ script }, place) => script === walletOf(keys[place]!).script),
    'an input spends neither a coin of the wallet nor one of the deposit address with this index.',
  )
  assertRule('coins', new Set(coins.map(outpointText)).size === coins.length, 'a coin is spent twice.')
  assertRule('coins', areAmountsAsBefore(coins, amounts), 'a coin had another amount before.')
  checkOutputs(request, draft.outputs, wallet, assertRule)
  const fee = feeOf(draft)
  const vsize = vsizeOf(
    coins.length,
    draft.outputs.map(({ script }) => script),
  )
  assertRule('value', fee > 0n, 'the outputs are worth more than the coins.')
  assertRule('fee_cap', isWithinCaps({ fee, vsize }, caps), 'the fee is above a cap.')
  const amount = purpose === 'pay' ? intent.amount : 0n
  const exceeded = hourly?.take({ spends: coinThatStandsFor(coins), amount, cost: fee }, intent.transfer_id)
  if (exceeded) throw refusal(request, exceeded, hourlyProblems[exceeded])
  return { draft, keys }
}

type AssertRule = (rule: SignerRule, holds: boolean, problem: string) => void

/** The payment is the first output. At most one more goes back to the wallet. */
function checkOutputs(
  { intent, purpose }: SignRequest,
  outputs: readonly BitcoinOutput[],
  wallet: Wallet,
  assertRule: AssertRule,
): void {
  assertRule('purpose', purpose === 'pay' || purpose === 'cancel', 'the purpose is neither pay nor cancel.')
  const [paid, back] = purpose === 'pay' ? [outputs.slice(0, 1), outputs.slice(1)] : [[], outputs]
  const destination = scriptOf(intent.destination_address)
  for (const { script, amount } of paid) {
    assertRule('to', script === destination, 'the first output does not pay the destination.')
    assertRule('value', amount === intent.amount && amount > 0n, 'the first output is not the amount.')
  }
  assertRule(
    'to',
    back.every(({ script }) => script === wallet.script),
    'an output pays neither the destination nor the wallet.',
  )
  assertRule('to', outputs.length > 0 && back.length <= 1, 'there are too many outputs, or none.')
}

/** With amount and script: the book compares the amounts of the reservation with the log, and the signature commits to those of the PSBT. */
const namesOf = (coins: BitcoinDraft['coins']): string =>
  coins.map((coin) => `${outpointText(coin)} ${coin.amount} ${coin.script}`).join()

/**
 * A signature on a P2WPKH input commits to the amount of that input alone. Two requests with the same coins and different wrong
 * amounts would give signatures that together are valid and hide a large fee, so an amount never changes.
 */
const areAmountsAsBefore = (coins: BitcoinDraft['coins'], amounts: ReadonlyMap<string, bigint>): boolean =>
  coins.every((coin) => (amounts.get(outpointText(coin)) ?? coin.amount) === coin.amount)

const refusal = ({ intent }: SignRequest, rule: SignerRule, problem: string) =>
  new SignatureRefused(rule, intent.transfer_id, problem)
