/**
 * A token bucket per partner for the attempts that may start. Slots alone (capacity.ts) do not slow down a partner whose
 * receivers answer at once: a redelivery of a long range would keep the node and the database busy until its end.
 */
export type Pace = {
  /** How many attempts may start now. */
  left(partner_id: string): number
  /** Takes `count` tokens, one per attempt that starts. */
  spend(partner_id: string, count: number): void
  /** Forgets partners whose bucket is full again. */
  forgetIdle(): void
}

/** The bucket holds the tokens of this many seconds, which may be used in one burst. */
const SAVED_SECONDS = 2

export function openPace(per_second: number, now: () => number = () => performance.now()): Pace {
  const most = per_second * SAVED_SECONDS
  const partners = new Map<string, { left: number; at: number }>()
  const leftOf = (partner_id: string): number => {
    const known = partners.get(partner_id)
    return known ? Math.min(most, known.left + ((now() - known.at) / 1000) * per_second) : most
  }
  return {
    left: (partner_id) => Math.floor(leftOf(partner_id)),
    spend: (partner_id, count) =>
      void (count > 0 && partners.set(partner_id, { left: leftOf(partner_id) - count, at: now() })),
    forgetIdle() {
      for (const id of partners.keys()) if (leftOf(id) === most) partners.delete(id)
    },
  }
}
