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
/** How long room is kept for a payment: its nonce is reserved and it is signed within seconds. */
const KEPT_MS = 30_000

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
  /** By transfer: what was found to fit and is not signed yet. */
  const kept = new Map<string, Omit<Spending, 'nonce'> & { readonly until: number }>()

  const sum = (list: readonly Spending[], field: 'amount' | 'gas_wei'): bigint => {
    const highest = new Map<bigint, bigint>()
    for (const one of list) {
      const known = highest.get(one.nonce) ?? 0n
      highest.set(one.nonce, one[field] > known ? one[field] : known)
    }
    return [...highest.values()].reduce((total, value) => total + value, 0n)
  }

  const forgetOld = (now: number) => {
    signed = signed.filter(({ at }) => now - at < HOUR_MS)
    for (const [transfer_id, { until }] of kept) if (until <= now) kept.delete(transfer_id)
  }

  return {
    /**
     * Returns the limit that leaves no room for one more payment beside what is signed and kept for others. Otherwise the room is
     * kept for this transfer, so that payments that are prepared at once do not count on the same room.
     */
    keepRoom(transfer_id: string, payment: Omit<Spending, 'nonce'>): HourlyRule | undefined {
      const now = clock.now()
      forgetOld(now)
      kept.delete(transfer_id)
      const ahead = [...kept.values(), payment]
      const sumAhead = (field: 'amount' | 'gas_wei') => ahead.reduce((total, one) => total + one[field], 0n)
      if (signed.length + ahead.length > limits.count) return 'count_per_hour'
      if (sum(signed, 'amount') + sumAhead('amount') > limits.amount) return 'amount_per_hour'
      if (sum(signed, 'gas_wei') + sumAhead('gas_wei') > limits.gas_wei) return 'gas_per_hour'
      kept.set(transfer_id, { ...payment, until: now + KEPT_MS })
      return undefined
    },
    /** Counts the spending, or returns the limit that it would exceed. What is kept for others does not count: it has no nonce yet. */
    take(spending: Spending, transfer_id: string): HourlyRule | undefined {
      const now = clock.now()
      forgetOld(now)
      kept.delete(transfer_id)
      const next = [...signed, { ...spending, at: now }]
      if (next.length > limits.count) return 'count_per_hour'
      if (sum(next, 'amount') > limits.amount) return 'amount_per_hour'
      if (sum(next, 'gas_wei') > limits.gas_wei) return 'gas_per_hour'
      signed = next
      return undefined
    },
  }
}
