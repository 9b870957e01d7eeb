import type { Command } from './command.ts'

/** A command, and the promise of the caller that waits for its result. */
export type Pending = {
  readonly command: Command<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
  /** When it was submitted, by the monotonic clock. */
  readonly since: number
}

type Queue = { add(pending: Pending): void; take(max: number): Pending[]; size(): number }

/** Partners take turns: one command each per round, so a partner with ten thousand commands does not delay the others. */
export function openQueue(): Queue {
  const partners = new Map<string, Pending[]>()
  let size = 0
  return {
    add(pending) {
      const { partner_id } = pending.command
      const waiting = partners.get(partner_id)
      if (waiting) waiting.push(pending)
      else partners.set(partner_id, [pending])
      size++
    },
    take(max) {
      const turns = [...partners.values()]
      const taken: Pending[] = []
      for (let round = 0; taken.length < Math.min(max, size); round++) {
        for (const waiting of turns) {
          if (round < waiting.length && taken.length < max) taken.push(waiting[round]!)
        }
      }
      const left = new Map<string, number>()
      for (const { command } of taken) left.set(command.partner_id, (left.get(command.partner_id) ?? 0) + 1)
      for (const [partner_id, count] of left) {
        const waiting = partners.get(partner_id)!
        partners.delete(partner_id)
        // A partner that was served goes to the end of the queue.
        if (count < waiting.length) partners.set(partner_id, waiting.slice(count))
      }
      size -= taken.length
      return taken
    },
    size: () => size,
  }
}
