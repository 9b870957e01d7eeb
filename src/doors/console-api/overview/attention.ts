import type { PersonActor } from '../../../core/actor.ts'
import { refuse } from '../../../core/errors.ts'
import type { Asset } from '../../../core/money.ts'
import { networkNames, networks } from '../../../core/networks.ts'
import { unansweredTransfers } from '../../../money/onchain/store.ts'
import { unansweredPayouts } from '../../../money/pix/store.ts'
import { valuesInGraceOf } from '../../../parties/keys/store.ts'
import { DISMISS_ACTION, sensitiveActs } from '../../../records/acts/store.ts'
import type { Unanswered } from '../../../records/steps/store.ts'
import { type TroubledEndpoint, troubledEndpoints } from '../../../webhooks/store.ts'
import type { World } from '../../../world.ts'
import { actInShared } from '../act.ts'
import type { ConsoleParts } from '../parts.ts'

/** What a user of the partner should check, each item from a row that says so. */
export async function attentionOf(
  world: World,
  actor: PersonActor,
  { office }: Pick<ConsoleParts, 'office'>,
) {
  const { partner_id } = actor
  const ago = (ms: number) => new Date(world.clock.now() - ms)
  const patience = networkNames.map(
    (name) => [name, ago(world.stuck_after_ms + networks[name].patience_ms)] as const,
  )
  const [payouts, transfers, webhooks, values, acts] = await Promise.all([
    unansweredPayouts(world.reads, { partner_id, before: ago(world.stuck_after_ms) }),
    unansweredTransfers(world.reads, { partner_id, before: Object.fromEntries(patience) as never }),
    troubledEndpoints(world.reads, partner_id),
    oldValues(world, partner_id),
    actor.role === 'owner' ? sensitiveActs(office.shares.shared(actor).db, partner_id, actor.user_id) : [],
  ])
  return {
    unanswered: [...payouts, ...transfers].map(renderUnanswered),
    webhooks: webhooks.map(renderWebhook),
    old_values: values,
    acts: acts.map(({ seq, at, action, actor_kind, actor_email, object_email }) => ({
      seq: seq.toString(),
      at: at.toISOString(),
      action,
      actor_kind,
      actor_email,
      object_email,
    })),
  }
}

/** Takes a line off a person's own overview; others still see it, and the act log keeps both lines. */
export async function dismissAct(
  { office }: Pick<ConsoleParts, 'office'>,
  actor: PersonActor,
  seq: string,
): Promise<void> {
  await actInShared(
    office,
    actor,
    async ({ db }) => {
      const shown = await sensitiveActs(db, actor.partner_id, actor.user_id)
      if (!shown.some((line) => line.seq.toString() === seq)) refuse('object_not_found')
      const entry = { action: DISMISS_ACTION, object_id: seq, before: null, after: null } as const
      return { result: undefined, entry }
    },
    { object_id: seq },
  )
}

/** Values that a rotation replaced and that still work during the grace period. */
async function oldValues({ reads }: World, partner_id: string) {
  const values = await valuesInGraceOf(reads, partner_id)
  return values.map(({ api_key_id: id, name, last_four, valid_until }) => ({
    id,
    name,
    last_four,
    valid_until: valid_until.toISOString(),
  }))
}

const renderUnanswered = ({ rail, asset, count, amount, since }: Unanswered) => ({
  rail,
  asset: asset as Asset,
  count,
  amount: amount.toString(),
  since: since.toISOString(),
})

const renderWebhook = (webhook: TroubledEndpoint) => {
  const { id, url, status, disabled_reason, waiting, exhausted, answered, error } = webhook
  return {
    id,
    url,
    status: status as 'enabled' | 'disabled',
    disabled_reason,
    since: (webhook.disabled_at ?? webhook.failing_since)?.toISOString() ?? null,
    waiting,
    exhausted,
    next_attempt_at: webhook.next_attempt_at?.toISOString() ?? null,
    answered,
    error,
  }
}
