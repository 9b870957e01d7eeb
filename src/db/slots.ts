/**
 * Slots of one worker: how many calls it may have under way, per rail and, within a rail, per partner. A rail that does not
 * answer fills its own slots and no others; a partner whose orders hang leaves some slots of its rail to other partners.
 */
export type SlotLimits = { readonly per_rail: number; readonly per_partner: number }

/** The rail and the partner of a row. */
export type SlotKey = { readonly rail: string; readonly partner_id: string }

/** How many rows may be taken now. */
export type FreeSlots = {
  /** Rails that have free slots. */
  readonly rails: readonly { readonly rail: string; readonly free: number }[]
  /** Rows under way on those rails, per partner. */
  readonly running: readonly (SlotKey & { readonly count: number })[]
  readonly per_partner: number
}

export type Slots = {
  freeSlots(): FreeSlots
  occupy(key: SlotKey): void
  release(key: SlotKey): void
  /** Records which rows were taken, to know where more rows may be due than there were free slots. */
  note(slots: FreeSlots, taken: readonly SlotKey[]): void
  /** At the last take, more rows may have been due for this rail or this partner than there were free slots. */
  isShort(key: SlotKey): boolean
  /** A rail or partner that was short of slots has a free one again: take again without a pause. */
  hasFreedSlot(): boolean
}

export function openSlots(rails: readonly string[], { per_rail, per_partner }: SlotLimits): Slots {
  const lanes = new Map(rails.map((rail) => [rail, openLane(rail, per_rail, per_partner)]))
  const laneOf = ({ rail }: SlotKey): Lane => {
    const lane = lanes.get(rail)
    if (!lane) throw new Error(`no slots for the rail ${rail}`)
    return lane
  }
  return {
    freeSlots() {
      const free = [...lanes.values()].filter((lane) => lane.free() > 0)
      return {
        rails: free.map((lane) => ({ rail: lane.rail, free: lane.free() })),
        running: free.flatMap((lane) => lane.running()),
        per_partner,
      }
    },
    occupy: (key) => laneOf(key).add(key.partner_id, 1),
    release: (key) => laneOf(key).add(key.partner_id, -1),
    note(slots, taken) {
      for (const { rail, free } of slots.rails) {
        const before = slots.running.filter((running) => running.rail === rail)
        const partners = taken.filter((key) => key.rail === rail).map(({ partner_id }) => partner_id)
        lanes.get(rail)!.note({ free, before, partners })
      }
    },
    isShort: (key) => laneOf(key).isShort(key.partner_id),
    hasFreedSlot: () => [...lanes.values()].some((lane) => lane.hasFreedSlot()),
  }
}

type Lane = ReturnType<typeof openLane>

function openLane(rail: string, per_rail: number, per_partner: number) {
  const counts = new Map<string, number>()
  let total = 0
  let is_short = false
  let short_partners = new Set<string>()
  const free = () => per_rail - total
  return {
    rail,
    free,
    running: () => [...counts].map(([partner_id, count]) => ({ rail, partner_id, count })),
    add(partner_id: string, by: 1 | -1): void {
      const count = (counts.get(partner_id) ?? 0) + by
      if (count === 0) counts.delete(partner_id)
      else counts.set(partner_id, count)
      total += by
    },
    note(taken: {
      readonly free: number
      readonly before: readonly { readonly partner_id: string; readonly count: number }[]
      readonly partners: readonly string[]
    }): void {
      is_short = taken.partners.length === taken.free
      const used = new Map(taken.before.map(({ partner_id, count }) => [partner_id, count]))
      for (const partner_id of taken.partners) used.set(partner_id, (used.get(partner_id) ?? 0) + 1)
      short_partners = new Set([...used].filter(([, count]) => count >= per_partner).map(([id]) => id))
    },
    isShort: (partner_id: string) => is_short || short_partners.has(partner_id),
    hasFreedSlot(): boolean {
      if (free() <= 0) return false
      return is_short || [...short_partners].some((id) => (counts.get(id) ?? 0) < per_partner)
    },
  }
}
