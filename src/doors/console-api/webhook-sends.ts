import type { PersonActor } from '../../core/actor.ts'
import { Refusal } from '../../core/errors.ts'
import { redeliveryWindowLimit } from '../../limits/window-limits.ts'
import type { ActEntry } from '../../records/acts/line.ts'
import type { Webhooks } from '../../webhooks/endpoints.ts'
import type { World } from '../../world.ts'
import { actIn } from './act.ts'
import type { ConsoleParts } from './parts.ts'

type Caller = { readonly world: World; readonly actor: PersonActor }

/**
 * For acts that make webhooks go out: counts the act in the team's redelivery window, like such calls under a key
 * (contract §17.15), logs it, and wakes the worker after the commit.
 */
export async function sendWebhooksIn<Result>(
  { office, runtimes }: ConsoleParts,
  { world, actor }: Caller,
  work: (here: World, webhooks: Webhooks) => Promise<{ readonly result: Result; readonly entry: ActEntry }>,
): Promise<Result> {
  const { limiter, webhooks } = runtimes[world.environment]
  const { refused } = await limiter.take(`${actor.partner_id} ${world.environment}`, [redeliveryWindowLimit])
  if (refused) refuseMore(refused.limit, refused.retry_after_seconds)
  const later = wakingLater(webhooks)
  const result = await actIn(office, actor, world, (here) => work(here, later.webhooks))
  later.wake()
  return result
}

function refuseMore(limit: number, retry_after_seconds: number): never {
  throw new Refusal('too_many_redeliveries', {
    message: `Your team may make webhooks go out ${limit} times a minute here. Wait ${retry_after_seconds} s, then try again.`,
    retry_after_seconds,
  })
}

/** Delays wake-ups until after the commit: a worker woken earlier finds nothing to do. */
function wakingLater(webhooks: Webhooks): { webhooks: Webhooks; wake(): void } {
  const fed: Parameters<Webhooks['worker']['wake']>[0][] = []
  const worker = { ...webhooks.worker, wake: (one: (typeof fed)[number]) => void fed.push(one) }
  const wake = () => {
    for (const one of fed) webhooks.worker.wake(one)
  }
  return { webhooks: { ...webhooks, worker }, wake }
}
