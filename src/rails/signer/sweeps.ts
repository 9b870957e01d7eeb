import { addr } from 'micro-eth-signer'
import { type Network, networks } from '../../core/networks.ts'
import type { EvmNetwork } from '../chain/evm/network.ts'
import { isSameAddress, transferData } from '../chain/evm/token.ts'
import { type DecodedTransaction, decodeTransaction, signTransaction } from '../chain/evm/transaction.ts'
import type { DepositKeys } from './deposit-keys.ts'
import {
  type Hourly,
  hourlyProblems,
  openHourlyCounts,
  type SignatureName,
  type SignedBefore,
} from './hourly.ts'
import type { SignerRule } from './signer.ts'

/** `fund`: the gas account sends a deposit address what its sweep costs. `sweep`: the address sends its tokens to the wallet. */
export type SweepPurpose = 'fund' | 'sweep'

export type SweepSignRequest = {
  readonly sweep_id: string
  readonly network: Network
  readonly purpose: SweepPurpose
  /** The deposit address `m/0/index`. The signer derives the address itself. */
  readonly address_index: number
  /** As hex: a transaction of type 2. */
  readonly unsigned: string
}

/** Holds the keys of deposit addresses and of the account that pays their gas. Trusts nothing that it is handed. */
export interface SweepSigner {
  readonly gas_account: string
  addressAt(index: number): string
  /** Throws `SweepSignatureRefused`. */
  sign(request: SweepSignRequest): Promise<{ readonly signed: string }>
}

/** Nothing was signed. The message has no bytes of the transaction and nothing of a key. */
export class SweepSignatureRefused extends Error {
  readonly rule: SignerRule
  readonly problem: string

  constructor(rule: SignerRule, { sweep_id, purpose }: SweepSignRequest, problem: string) {
    super(`The signer refuses the ${purpose} transaction of ${sweep_id}: ${problem}`)
    this.rule = rule
    this.problem = problem
  }
}

export type SweepSigningLimits = {
  /** The token's contract, where it is not that of `networks`. */
  readonly contract?: string
  /** The wallet of the service: the only recipient of tokens. */
  readonly wallet: string
  /** The most that one transaction may cost (maximum fee × gas limit), and the most that an address is sent for gas. */
  readonly cost_most_wei: bigint
  readonly per_hour: { readonly count: number; readonly cost: bigint }
}

type LocalSweepSignerOptions = {
  readonly keys: DepositKeys
  readonly networks: Partial<Record<EvmNetwork, SweepSigningLimits>>
  /** What was signed for sweeps within the last hour: a restart does not lift the hourly limits. */
  readonly signedBefore?: () => Promise<readonly SignedBefore[]>
  /** Whether exactly this signature was made within the last hour: it is the same one, and counts once. */
  readonly isCounted?: (signature: SignatureName) => boolean
  readonly clock?: { now(): number }
}

/** Tokens go to the service's own wallet and nowhere else, so their amount needs no limit of an hour. */
const NO_LIMIT = 2n ** 256n

/** A signer in this process. The keys live in this closure only, and are derived anew for each signature. */
export function localSweepSigner({
  keys,
  networks: given,
  signedBefore = async () => [],
  isCounted = () => false,
  clock = { now: Date.now },
}: LocalSweepSignerOptions): SweepSigner {
  const configured = Object.entries(given) as [EvmNetwork, SweepSigningLimits][]
  const rules = new Map<Network, SweepRules>(
    configured.map(([network, limits]) => {
      const { chain_id, usdt_contracts } = networks[network]
      return [network, { chain_id, ...limits, contract: limits.contract ?? usdt_contracts[0] }]
    }),
  )
  const per_hour = configured.map(
    ([network, limits]) => [network, { ...limits.per_hour, amount: NO_LIMIT }] as const,
  )
  const countsOnce = openHourlyCounts(per_hour, signedBefore, clock)
  const addressAt = (index: number) => addr.fromPrivateKey(keys.secretAt(index))

  const signer: SweepSigner = {
    gas_account: addr.fromPrivateKey(keys.gasSecret()),
    addressAt,
    async sign(request) {
      const { network, purpose, address_index, unsigned } = request
      const own = rules.get(network)
      if (!own) throw new SweepSignatureRefused('network', request, `it has no key for ${network}.`)
      const is_counted = isCounted(nameOfSweep(signer, request))
      const hourly = is_counted ? undefined : (await countsOnce()).get(network)!
      checkSweepTransaction(request, { ...own, hourly, address: addressAt(address_index) })
      const secret = purpose === 'fund' ? keys.gasSecret() : keys.secretAt(address_index)
      try {
        return { signed: signTransaction(unsigned, secret) }
      } catch {
        throw new SweepSignatureRefused('encoding', request, 'the transaction cannot be signed.')
      }
    },
  }
  return signer
}

export const nameOfSweep = (
  { gas_account, addressAt }: Pick<SweepSigner, 'gas_account' | 'addressAt'>,
  { sweep_id, purpose, address_index, unsigned }: SweepSignRequest,
): SignatureName => ({
  ...{ kind: 'sweep', purpose, id: sweep_id, unsigned },
  sender: purpose === 'fund' ? gas_account : addressAt(address_index),
})

type SweepRules = Omit<SweepSigningLimits, 'per_hour'> & {
  readonly chain_id: bigint
  readonly contract: string
}

function checkSweepTransaction(
  request: SweepSignRequest,
  own: SweepRules & { readonly hourly: Hourly | undefined; readonly address: string },
): void {
  const assertRule = (rule: SignerRule, holds: boolean, problem: string) => {
    if (!holds) throw new SweepSignatureRefused(rule, request, problem)
  }
  const { purpose, sweep_id, address_index } = request
  const found = decodeTransaction(request.unsigned)
  if (!found)
    throw new SweepSignatureRefused(
      'encoding',
      request,
      'the bytes are no transaction of type 2 without an access list.',
    )
  assertRule('already_signed', !found.is_signed, 'the transaction is signed already.')
  assertRule('chain_id', found.chain_id === own.chain_id, `the chain id is not ${own.chain_id}.`)
  const gas = found.max_fee * found.gas_limit
  assertRule('fee_cap', gas <= own.cost_most_wei, 'the transaction may cost more than the cap.')
  if (purpose === 'fund') {
    assertRule('to', isSameAddress(found.to, own.address), 'gas must go to the deposit address.')
    assertRule('data', found.data === '0x', 'gas must be sent without data.')
    assertRule(
      'value',
      found.value > 0n && found.value <= own.cost_most_wei,
      'it sends no gas, or more than the cap.',
    )
  } else if (purpose === 'sweep') {
    assertRule(
      'to',
      isSameAddress(found.to, own.contract),
      'the transaction does not go to the token contract.',
    )
    assertRule('value', found.value === 0n, "the transaction carries the network's coin.")
    assertRule('data', isTransferTo(own.wallet, found), 'the data is no transfer of tokens to the wallet.')
  } else throw new SweepSignatureRefused('purpose', request, 'the purpose is neither fund nor sweep.')
  const spends = spentBySweep({ purpose, address_index, nonce: found.nonce })
  const exceeded = own.hourly?.take({ spends, amount: 0n, cost: gas + found.value }, sweep_id)
  if (exceeded) throw new SweepSignatureRefused(exceeded, request, hourlyProblems[exceeded])
}

/** Names the nonce that a transaction of a sweep spends: the gas account and each address have their own. */
export const spentBySweep = ({
  purpose,
  address_index,
  nonce,
}: Pick<SweepSignRequest, 'purpose' | 'address_index'> & { readonly nonce: bigint }): string =>
  purpose === 'fund' ? `gas account ${nonce}` : `address ${address_index} ${nonce}`

const AMOUNT_DIGITS = 64

function isTransferTo(wallet: string, { data }: DecodedTransaction): boolean {
  const amount = data.slice(-AMOUNT_DIGITS)
  if (!/^[0-9a-f]{64}$/.test(amount)) return false
  const units = BigInt(`0x${amount}`)
  return units > 0n && data === transferData(wallet, units)
}
