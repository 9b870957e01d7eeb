/** How much a signer may sign in an hour, for one network. */
export type HourlyLimits = {
  /** Signatures, replacements and cancels included. */
  readonly count: number
  /** Smallest units of the asset. */
  readonly amount: bigint
  /** Highest cost of the transactions, in wei. */
  readonly gas_wei: bigint
}

export type Spending = { readonly nonce: bigint; readonly amount: bigint; readonly gas_wei: bigint }

export type HourlyRule = 'count_per_hour' | 'amount_per_hour' | 'gas_per_hour'

/** A signature of an earlier process, as the database stores it. */
export type SpentBefore = Spending & { readonly at: Date }

const HOUR_MS = 3_600_000

/**
 * Counts what was signed within the last hour, in memory, on top of what earlier processes signed. Of all transactions with one
 * nonce at most one is mined, so a nonce counts with the highest amount and the highest cost among them.
 */
export function openHourly(
  limits: HourlyLimits,
  clock: { now(): number },
  before: readonly SpentBefore[] = [],
) {
  let signed = before.map(({ at, ...spending }) => ({ ...spending, at: at.getTime() }))

  const sum = (list: readonly Spending[], field: 'amount' | 'gas_wei'): bigint => {
    const highest = new Map<bigint, bigint>()
    for (const one of list) {
      const known = highest.get(one.nonce) ?? 0n
      highest.set(one.nonce, one[field] > known ? one[field] : known)
    }
    return [...highest.values()].reduce((total, value) => total + value, 0n)
  }

  return {
    /** Counts the spending, or returns the limit that it would exceed. */
    take(spending: Spending): HourlyRule | undefined {
      const now = clock.now()
      signed = signed.filter(({ at }) => now - at < HOUR_MS)
      const next = [...signed, { ...spending, at: now }]
      if (next.length > limits.count) return 'count_per_hour'
      if (sum(next, 'amount') > limits.amount) return 'amount_per_hour'
      if (sum(next, 'gas_wei') > limits.gas_wei) return 'gas_per_hour'
      signed = next
      return undefined
    },
  }
}
