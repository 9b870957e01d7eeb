import type { Office } from '../../../control/operator/office.ts'
import type { PersonActor } from '../../../core/actor.ts'
import { isUniqueViolation } from '../../../db/failure.ts'
import { createKey, PLAYGROUND_NAME, renderKey } from '../../../parties/keys/keys.ts'
import { findPlaygroundKey } from '../../../parties/keys/store.ts'
import type { World } from '../../../world.ts'
import { actIn } from '../act.ts'

export type PlaygroundKey = NonNullable<Awaited<ReturnType<typeof findPlaygroundKey>>>

/** The sandbox key of a partner's playground. It is created on first use, and its value is discarded. */
export async function playgroundKey(
  office: Office,
  actor: PersonActor,
  world: World<'sandbox'>,
): Promise<PlaygroundKey> {
  const known = await findPlaygroundKey(world.db, actor.partner_id)
  if (known) return known
  await makeKey(office, actor, world).catch((error: unknown) => {
    // A concurrent call has created the key.
    if (!isUniqueViolation(error, 'api_keys_playground')) throw error
  })
  // Read again: the new key may have been revoked already.
  return playgroundKey(office, actor, world)
}

const makeKey = (office: Office, actor: PersonActor, world: World<'sandbox'>): Promise<void> =>
  actIn(office, actor, world, async (here) => {
    const wanted = { partner_id: actor.partner_id, name: PLAYGROUND_NAME, made_for: 'playground' } as const
    const { key } = await createKey(here, wanted)
    const after = renderKey(key, world.environment)
    return { result: undefined, entry: { action: 'create_key', object_id: key.id, before: null, after } }
  })
