import { Refusal } from '../../core/errors.ts'
import { openFairSemaphore, QueueFull, type Release } from '../../core/fair-semaphore.ts'
import type { ConsoleEndpoint } from './endpoint.ts'
import type { Signed } from './session.ts'

/** A streamed reply takes long, so each node has a bounded number of places, and no user or partner gets them all. */
type Kind = NonNullable<ConsoleEndpoint['reply']['type']>

type Bound = {
  readonly node: number
  readonly partner: number
  readonly person: number
  /** How long a call waits for a place; if absent, it is refused at once. */
  readonly wait_ms?: number
}

const bounds: Readonly<Record<Kind, Bound>> = {
  'text/csv': { node: 8, partner: 1, person: 1, wait_ms: 4000 },
  'text/event-stream': { node: 1000, partner: 250, person: 12 },
}

/** Calls of one user or partner that may wait for a place. */
const WAITING = 2

const inWords: Readonly<Record<Kind, string>> = {
  'text/csv':
    'Another export of your team is running: one runs at a time. Wait until its download has ended, then try again.',
  'text/event-stream':
    'Too many pages of yours are told of changes already. Close some of them, or go on without.',
}

const RETRY_SECONDS = 5

/** Takes a place until `gone` is aborted. Refuses if none is free. */
export type StreamSlots = { take(kind: Kind, signed: Signed, gone: AbortSignal): Promise<void> }

export function openStreamSlots(): StreamSlots {
  const placesOf = ({ node: at_once, partner, person, wait_ms }: Bound) => {
    const queue = wait_ms === undefined ? { waiting_per_name: 0 } : { waiting_per_name: WAITING, wait_ms }
    return {
      partners: openFairSemaphore({ at_once, per_name: partner, ...queue }),
      // No bound for the node here: `partners` has it. A user who waits for the team's place must not count against it.
      people: openFairSemaphore({ at_once: Infinity, per_name: person, ...queue }),
    }
  }
  const kinds = {
    'text/csv': placesOf(bounds['text/csv']),
    'text/event-stream': placesOf(bounds['text/event-stream']),
  }

  return {
    async take(kind, { user }, gone) {
      const { people, partners } = kinds[kind]
      const refuseCrowd = crowdedAt(kind)
      leaveAt(gone, await people.take(user.id).catch(refuseCrowd))
      leaveAt(gone, await partners.take(user.partner_id ?? 'operator').catch(refuseCrowd))
    },
  }
}

function leaveAt(gone: AbortSignal, leave: Release): void {
  gone.addEventListener('abort', leave, { once: true })
  if (gone.aborted) leave()
}

const crowdedAt =
  (kind: Kind) =>
  (error: unknown): never => {
    if (!(error instanceof QueueFull)) throw error
    const { person: limit } = bounds[kind]
    throw new Refusal('rate_limit_exceeded', {
      message: inWords[kind],
      retry_after_seconds: RETRY_SECONDS,
      details: { limit, retry_after_seconds: RETRY_SECONDS },
    })
  }
