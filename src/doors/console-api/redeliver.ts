import type { PersonActor } from '../../core/actor.ts'
import type { ActEntry } from '../../records/acts/line.ts'
import { selectEvents } from '../../records/events/log-store.ts'
import { redeliverEvent } from '../../webhooks/redelivery.ts'
import type { World } from '../../world.ts'
import type { ConsoleParts } from './parts.ts'
import { sendWebhooksIn } from './webhook-sends.ts'

const EVENTS_MAX = 50

/** Redelivers the events about one object. The caller must have checked that the object belongs to the partner. */
export async function redeliverObject(
  parts: ConsoleParts,
  { world, actor }: { readonly world: World; readonly actor: PersonActor },
  object_id: string,
): Promise<{ redelivered: number }> {
  const { partner_id } = actor
  return sendWebhooksIn(parts, { world, actor }, async (here, webhooks) => {
    const filter = { partner_id, object_id, type: undefined, from: { after: 0n }, limit: EVENTS_MAX }
    const { rows } = await selectEvents(here.db, filter)
    let redelivered = 0
    for (const { id } of rows) redelivered += await redeliverEvent(here, webhooks, { id, partner_id })
    const entry: ActEntry = { action: 'redeliver', object_id, before: null, after: { redelivered } }
    return { result: { redelivered }, entry }
  })
}
