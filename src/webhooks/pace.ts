/**
 * How many deliveries of a partner may begin. Places alone do not slow down a partner whose receivers answer at once: a
 * range that is sent again would keep the processor of a node, and the database, busy for as long as it lasts.
 */
export type Pace = {
  /** How many may begin now. */
  left(partner_id: string): number
  /** So many began. */
  spend(partner_id: string, count: number): void
  /** Forgets partners that have all of theirs again. */
  forgetIdle(): void
}

/** What was not used in this time may be used later, all at once. */
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
