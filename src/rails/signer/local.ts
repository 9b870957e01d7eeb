import { addr } from 'micro-eth-signer'
import { type Network, networks } from '../../core/networks.ts'
import type { EvmNetwork } from '../chain/evm/network.ts'
import { isEvmAddressForm, isSameAddress, transferData } from '../chain/evm/token.ts'
import { type DecodedTransaction, decodeTransaction, signTransaction } from '../chain/evm/transaction.ts'
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

export type SigningLimits = {
  /** The token's contract, where it is not that of `networks`. */
  readonly contract?: string
  /** The most that one transaction may cost: maximum fee × gas limit. Optimism's fee for data on ethereum comes on top. */
  readonly cost_most_wei: bigint
  readonly per_hour: HourlyLimits
}

type LocalSignerOptions = {
  /** 32 bytes as hex, with or without 0x. */
  readonly key: string
  readonly sealKey: () => Promise<Buffer>
  readonly networks: Partial<Record<EvmNetwork, SigningLimits>>
  /**
   * What earlier processes and other nodes signed within the last hour, so that a restart does not lift the hourly limits. Read
   * once, before the first signature; while it cannot be read, nothing is signed.
   */
  readonly signedBefore?: () => Promise<readonly SignedBefore[]>
  /** Whether exactly this signature was made within the last hour: it is the same one, and counts once. */
  readonly isCounted?: (signature: SignatureName) => boolean
  readonly clock?: { now(): number }
}

/**
 * A signer in this process, for all EVM networks with one key. The key lives in this closure only: no object that leaves it has
 * the key as a property, and no error of a library that saw the key is passed on.
 */
export function localSigner({
  key,
  sealKey,
  signedBefore = async () => [],
  isCounted = () => false,
  clock = { now: Date.now },
  ...options
}: LocalSignerOptions): Signer {
  const secret = secretOf(key)
  const wallet = addr.fromPrivateKey(secret)
  const configured = Object.entries(options.networks) as [EvmNetwork, SigningLimits][]
  const rules = new Map<Network, NetworkRules>(
    configured.map(([network, limits]) => {
      const { chain_id, usdt_contracts } = networks[network]
      const contract = limits.contract ?? usdt_contracts[0]
      return [network, { chain_id, contract, limits }]
    }),
  )
  const limits_per_hour = configured.map(([network, { per_hour }]) => [network, per_hour] as const)
  const countsOnce = openHourlyCounts(limits_per_hour, signedBefore, clock)

  return {
    async addresses() {
      return Object.fromEntries([...rules.keys()].map((network) => [network, wallet]))
    },
    async keepRoom({ transfer_id, network, ...payment }) {
      return (await countsOnce()).get(network)?.keepRoom(transfer_id, payment)
    },
    async sign(request) {
      const own = rules.get(request.intent.network)
      if (!own) throw refusal(request, 'network', `it has no key for ${request.intent.network}.`)
      if (!isSealed(await sealKey(), request.intent))
        throw refusal(request, 'seal', 'the seal does not fit its id, network, destination and amount.')
      const hourly = isCounted(nameOfTransfer(request))
        ? undefined
        : (await countsOnce()).get(request.intent.network)!
      checkTransaction(request, { ...own, hourly }, wallet)
      try {
        return { signed: signTransaction(request.unsigned, secret) }
      } catch {
        throw refusal(request, 'encoding', 'the transaction cannot be signed.')
      }
    },
  }
}

type NetworkRules = {
  readonly chain_id: bigint
  readonly contract: string
  readonly limits: SigningLimits
}

/** The bytes must be exactly what the intent and the reservation give; only the fees are free, below the cap. */
function checkTransaction(
  request: SignRequest,
  own: NetworkRules & { readonly hourly: Hourly | undefined },
  wallet: string,
): void {
  const assertRule = (rule: SignerRule, holds: boolean, problem: string) => {
    if (!holds) throw refusal(request, rule, problem)
  }
  const { purpose, reservation, intent } = request
  const found = decodeTransaction(request.unsigned)
  if (!found)
    throw refusal(request, 'encoding', 'the bytes are no transaction of type 2 without an access list.')
  assertRule('already_signed', !found.is_signed, 'the transaction is signed already.')
  assertRule('chain_id', found.chain_id === own.chain_id, `the chain id is not ${own.chain_id}.`)
  assertRule('wallet', isSameAddress(reservation.wallet, wallet), 'the reservation is of another wallet.')
  const nonce = 'nonce' in reservation ? reservation.nonce : undefined
  assertRule('nonce', found.nonce === nonce, `the nonce is not ${nonce}.`)
  assertRule('value', found.value === 0n, "the transaction carries the network's coin.")
  const cost = checkCost(found, own, assertRule)
  if (purpose === 'pay') checkPayment(request, found, own, assertRule)
  else if (purpose === 'cancel') {
    assertRule('to', isSameAddress(found.to, wallet), 'a cancel must go to the wallet itself.')
    assertRule('data', found.data === '0x', 'a cancel must have no data.')
  } else throw refusal(request, 'purpose', 'the purpose is neither pay nor cancel.')
  const amount = purpose === 'pay' ? intent.amount : 0n
  const exceeded = own.hourly?.take({ spends: found.nonce.toString(), amount, cost }, intent.transfer_id)
  if (exceeded) throw refusal(request, exceeded, hourlyProblems[exceeded])
}

type AssertRule = (rule: SignerRule, holds: boolean, problem: string) => void

function checkCost({ max_fee, gas_limit }: DecodedTransaction, own: NetworkRules, assertRule: AssertRule) {
  const cost = max_fee * gas_limit
  assertRule('fee_cap', cost <= own.limits.cost_most_wei, 'the transaction may cost more than the cap.')
  return cost
}

function checkPayment(
  { intent }: SignRequest,
  found: DecodedTransaction,
  { contract }: NetworkRules,
  assertRule: AssertRule,
): void {
  const { destination_address, amount } = intent
  assertRule('to', isSameAddress(found.to, contract), 'the transaction does not go to the token contract.')
  const is_order = isEvmAddressForm(destination_address) && amount > 0n
  const data = is_order ? transferData(destination_address, amount) : undefined
  assertRule(
    'data',
    found.data === data,
    'the data is not exactly a transfer of the amount to the destination.',
  )
}

const refusal = ({ intent }: SignRequest, rule: SignerRule, problem: string) =>
  new SignatureRefused(rule, intent.transfer_id, problem)
