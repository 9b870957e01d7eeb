import type { TSchema } from 'typebox'
import type { PartnerActor } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { transaction } from '../../db/pool.ts'
import { worldOf } from '../../parties/keys/keys.ts'
import { recordEvent } from '../../records/events/events.ts'
import { findEvent } from '../../records/events/log.ts'
import type { StoredEvent } from '../../records/events/store.ts'
import { type EventType, eventTypes, sequenceOf } from '../../records/events/types.ts'
import type { WebhookWorker } from '../../webhooks/worker.ts'
import type { World } from '../../world.ts'
import { overrideFields } from './override.ts'

/** Makes up an object of the kind that an event is about. */
export type SampleOf = (type: EventType, world: World) => { object: { id: string }; schema: TSchema }

type SampleOrder = {
  readonly type: EventType
  readonly override: Readonly<Record<string, unknown>>
}

/** Records a made-up event, which is delivered like every other. */
export async function addSampleEvent(
  world: World,
  actor: PartnerActor,
  { type, override }: SampleOrder,
  { sampleOf, worker }: { sampleOf: SampleOf; worker: WebhookWorker },
): Promise<StoredEvent> {
  const { partner_id } = actor
  if (!eventTypes.includes(type))
    refuse('invalid_request', { param: 'kind', message: `kind must be one of ${eventTypes.join(', ')}.` })
  const sample = sampleOf(type, world)
  const object = overrideFields(sample.object, override, sample.schema)
  const own = worldOf(actor, world)
  const id = await transaction(own.db, (tx) =>
    recordEvent(tx, own, { partner_id, type, object, sequence: sequenceOf(type) }),
  )
  worker.wake()
  return findEvent(own, { id, partner_id })
}
