import { Refusal } from '../core/errors.ts'
import { Crowded, type Leave, openTurns } from '../core/turns.ts'
import type { ConsoleEndpoint } from './endpoint.ts'
import type { Signed } from './session.ts'

/** What is sent piece by piece takes long, so there are so many places for it, and nobody gets them all. */
type Kind = NonNullable<ConsoleEndpoint['reply']['type']>

type Bound = { readonly node: number; readonly partner: number; readonly person: number }

export const bounds: Readonly<Record<Kind, Bound>> = {
  'text/csv': { node: 8, partner: 4, person: 2 },
  'text/event-stream': { node: 1000, partner: 250, person: 12 },
}

const inWords: Readonly<Record<Kind, string>> = {
  'text/csv': 'Other tables are being made. Try again when they are done.',
  'text/event-stream':
    'Too many pages of yours are told of changes already. Close some of them, or go on without.',
}

const RETRY_SECONDS = 5

/** A place until `gone`; refuses when there is none. */
export type Places = { take(kind: Kind, signed: Signed, gone: AbortSignal): Promise<void> }

export function openPlaces(): Places {
  const placesOf = ({ node, partner, person }: Bound) => ({
    partners: openTurns({ at_once: node, per_name: partner, waiting_per_name: 0 }),
    people: openTurns({ at_once: node, per_name: person, waiting_per_name: 0 }),
  })
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

function leaveAt(gone: AbortSignal, leave: Leave): void {
  gone.addEventListener('abort', leave, { once: true })
  if (gone.aborted) leave()
}

const crowdedAt =
  (kind: Kind) =>
  (error: unknown): never => {
    if (!(error instanceof Crowded)) throw error
    const { person: limit } = bounds[kind]
    throw new Refusal('rate_limit_exceeded', {
      message: inWords[kind],
      retry_after_seconds: RETRY_SECONDS,
      details: { limit, retry_after_seconds: RETRY_SECONDS },
    })
  }
