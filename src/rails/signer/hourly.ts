import type { Network } from '../../core/networks.ts'

/** How much a signer may sign in an hour, for one network. */
export type HourlyLimits = {
  /** Signatures, replacements and cancels included. */
  readonly count: number
  /** Smallest units of the asset. */
  readonly amount: bigint
  /** The most that the transactions may cost: wei for gas, satoshis for miners. */
  readonly cost: bigint
}

export type HourlySpending = {
  /** Names the nonce, or a coin. Of all transactions that spend the same at most one is mined. */
  readonly spends: string
  readonly amount: bigint
  readonly cost: bigint
}

export type HourlyRule = 'count_per_hour' | 'amount_per_hour' | 'costs_per_hour'

/** A signature of an earlier process, as the database stores it. */
export type SpentBefore = HourlySpending & { readonly at: Date }

/** What was signed within the last hour, by earlier processes and by other nodes. */
export type SignedBefore = SpentBefore & { readonly network: Network }

/** Names one signature. The same bytes give another signature with another key, and belong to another line of the log for another order. */
export type SignatureName = {
  readonly kind: 'transfer' | 'sweep'
  readonly purpose: string
  /** The address whose key signs. */
  readonly sender: string
  /** Of the transfer or the sweep. */
  readonly id: string
  readonly unsigned: string
}

export type Hourly = ReturnType<typeof openHourly>

const HOUR_MS = 3_600_000
/** How long room is kept for a payment: its nonce is reserved and it is signed within seconds. */
const KEPT_MS = 30_000

/**
 * Counts what was signed within the last hour, in memory, on top of what earlier processes signed. Transactions that spend the same
 * count once, with the highest amount and the highest cost among them.
 */
function openHourly(limits: HourlyLimits, clock: { now(): number }, before: readonly SpentBefore[] = []) {
  let signed = before.map(({ at, ...spending }) => ({ ...spending, at: at.getTime() }))
  /** By transfer: what was found to fit and is not signed yet. */
  const kept = new Map<string, Omit<HourlySpending, 'spends'> & { readonly until: number }>()

  const sum = (list: readonly HourlySpending[], field: 'amount' | 'cost'): bigint => {
    const highest = new Map<string, bigint>()
    for (const one of list) {
      const known = highest.get(one.spends) ?? 0n
      highest.set(one.spends, one[field] > known ? one[field] : known)
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
    keepRoom(transfer_id: string, payment: Omit<HourlySpending, 'spends'>): HourlyRule | undefined {
      const now = clock.now()
      forgetOld(now)
      kept.delete(transfer_id)
      const ahead = [...kept.values(), payment]
      const sumAhead = (field: 'amount' | 'cost') => ahead.reduce((total, one) => total + one[field], 0n)
      if (signed.length + ahead.length > limits.count) return 'count_per_hour'
      if (sum(signed, 'amount') + sumAhead('amount') > limits.amount) return 'amount_per_hour'
      if (sum(signed, 'cost') + sumAhead('cost') > limits.cost) return 'costs_per_hour'
      kept.set(transfer_id, { ...payment, until: now + KEPT_MS })
      return undefined
    },
    /** Counts the spending, or returns the limit that it would exceed. What is kept for others does not count: it has no nonce yet. */
    take(spending: HourlySpending, transfer_id: string): HourlyRule | undefined {
      const now = clock.now()
      forgetOld(now)
      kept.delete(transfer_id)
      const next = [...signed, { ...spending, at: now }]
      if (next.length > limits.count) return 'count_per_hour'
      if (sum(next, 'amount') > limits.amount) return 'amount_per_hour'
      if (sum(next, 'cost') > limits.cost) return 'costs_per_hour'
      signed = next
      return undefined
    },
  }
}

/**
 * The counts of each network. What was signed before is read once, before the first signature, so that a restart does not lift the
 * limits; while it cannot be read, nothing is signed.
 */
export function openHourlyCounts(
  limits: readonly (readonly [Network, HourlyLimits])[],
  signedBefore: () => Promise<readonly SignedBefore[]>,
  clock: { now(): number },
): () => Promise<ReadonlyMap<Network, Hourly>> {
  const open = async () => {
    const before = await signedBefore()
    return new Map(
      limits.map(([network, per_hour]) => {
        const of_network = before.filter((one) => one.network === network)
        return [network, openHourly(per_hour, clock, of_network)] as const
      }),
    )
  }
  let counts: ReturnType<typeof open> | undefined
  return () => {
    counts ??= open()
    counts.catch(() => {
      counts = undefined
    })
    return counts
  }
}

/** Why a signer refuses, in words. */
export const hourlyProblems: Readonly<Record<HourlyRule, string>> = {
  count_per_hour: 'it has made as many signatures as it may in an hour.',
  amount_per_hour: 'the amount signed within an hour would exceed its limit.',
  costs_per_hour: 'the transactions signed within an hour would cost more than its limit.',
}
