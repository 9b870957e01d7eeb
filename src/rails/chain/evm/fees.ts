/**
 * Fees of an EIP-1559 transaction, per unit of gas in wei. A node takes a replacement only if both fields are at least 10 %
 * higher than those of the transaction in its pool; some nodes ask for 12.5 %.
 */
export type GasFees = { readonly max_fee: bigint; readonly priority: bigint }

export type Offered = GasFees & { readonly purpose: 'pay' | 'cancel' }

export type FeeInput = {
  readonly purpose: 'pay' | 'cancel'
  readonly gas_limit: bigint
  /** Base fee of the newest block. */
  readonly base_fee: bigint
  /** What the node suggests for the miner. */
  readonly priority: bigint
  readonly priority_most: bigint
  /** The most that a transaction may cost, in wei. */
  readonly cost_most: bigint
  /** Everything that was ever signed for this nonce, oldest first. */
  readonly made: readonly Offered[]
}

export type FeeOffer =
  | { readonly kind: 'offer'; readonly fees: GasFees }
  | { readonly kind: 'later'; readonly why: 'fee_above_cap' | 'not_worth_it' }

export function offerFees(input: FeeInput): FeeOffer {
  const today = todaysFees(input)
  const newest = input.made.at(-1)
  // A first cancel is always worth its fee: it must take the place of the payment.
  if (newest?.purpose === input.purpose && !isAbove(today, newest))
    return { kind: 'later', why: 'not_worth_it' }
  const fees = input.made.reduce(replacing, today)
  if (fees.max_fee * input.gas_limit > input.cost_most) return { kind: 'later', why: 'fee_above_cap' }
  return { kind: 'offer', fees }
}

/** The maximum leaves room for a base fee that doubles, which takes six full blocks. */
export function todaysFees(input: Pick<FeeInput, 'base_fee' | 'priority' | 'priority_most'>): GasFees {
  const priority = least(input.priority, input.priority_most)
  return { max_fee: 2n * input.base_fee + priority, priority }
}

const isAbove = (today: GasFees, offered: GasFees): boolean =>
  today.max_fee > offered.max_fee || today.priority > offered.priority

const replacing = (fees: GasFees, offered: GasFees): GasFees => ({
  max_fee: most(fees.max_fee, raised(offered.max_fee)),
  priority: most(fees.priority, raised(offered.priority)),
})

/** An eighth more, rounded up, and at least 1 wei. */
const raised = (fee: bigint): bigint => fee + most((fee + 7n) / 8n, 1n)

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Where gas cannot be estimated: more than any transfer of the token needs. */
export const GAS_FALLBACK = 100_000n

/**
 * The least gas of a payment. The first tokens of an address cost 63,000 gas, later ones 41,000: an estimate is too low if the
 * recipient empties its balance before the payment is mined. Gas that is not used is not charged.
 */
const GAS_LEAST = { pay: 65_000n, cancel: 25_200n } as const

/** A fifth more than estimated. */
export function gasLimitOf(purpose: 'pay' | 'cancel', estimated: bigint | undefined): bigint {
  if (estimated === undefined) return GAS_FALLBACK
  return most((estimated * 12n + 9n) / 10n, GAS_LEAST[purpose])
}
