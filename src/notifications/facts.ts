import type { Db } from '../db/pool.ts'
import type { Shared } from '../parties/partners/partners.ts'
import { personRoleOf } from '../parties/team/people.ts'
import { isTold, type NotificationKind, type NotificationPlace, SAMPLES_MAX, type Sample } from './kinds.ts'
import { growNotifications, markSeen, type Receiver, selectReceivers } from './store.ts'

/** Who is notified: everybody of a partner, all operators, or one person; in each case only if their role gets the kind. */
export type Audience =
  | { readonly partner_id: string }
  | { readonly user_id: string }
  /** `but`: the operator who caused the fact, and is not notified. */
  | { readonly operators: true; readonly but: string | null }

/** Something that happened, as a source found it. */
export type Fact = {
  readonly kind: NotificationKind
  readonly place: NotificationPlace
  readonly topic: string
  readonly to: Audience
  readonly sample: Sample
  readonly at: Date
  /** Set by a source that finds the same fact at every run: each subject is reported once. */
  readonly once?: { readonly source: string; readonly subject: string }
}

/** Adds facts to the notifications of everybody they concern, in the caller's transaction. */
export async function tellPeople(
  tx: Db,
  { newId }: Pick<Shared, 'newId'>,
  found: readonly Fact[],
): Promise<void> {
  const fresh = await markSeen(
    tx,
    found.flatMap(({ once }) => (once ? [once] : [])),
  )
  const facts = found.filter(({ once }) => !once || fresh.has(`${once.source} ${once.subject}`))
  if (facts.length === 0) return
  const receivers = await selectReceivers(tx, {
    partners: [...new Set(facts.flatMap(({ to }) => ('partner_id' in to ? [to.partner_id] : [])))],
    users: [...new Set(facts.flatMap(({ to }) => ('user_id' in to ? [to.user_id] : [])))],
    operators: facts.some(({ to }) => 'operators' in to),
  })
  const lines = new Map<string, Line>()
  for (const fact of facts)
    for (const receiver of receivers) if (concerns(fact, receiver)) addTo(lines, receiver.id, fact)
  await growNotifications(
    tx,
    [...lines.values()].map((line) => ({ id: newId('notification'), ...line })),
  )
}

function concerns({ kind, to }: Fact, receiver: Receiver): boolean {
  if (!isTold(kind, personRoleOf(receiver))) return false
  if ('user_id' in to) return to.user_id === receiver.id
  if ('partner_id' in to) return to.partner_id === receiver.partner_id
  return receiver.partner_id === null && receiver.id !== to.but
}

type Line = Omit<Parameters<typeof growNotifications>[1][number], 'id'>

function addTo(lines: Map<string, Line>, user_id: string, { kind, place, topic, sample, at }: Fact): void {
  const key = [user_id, kind, place, topic].join(' ')
  const before = lines.get(key)
  if (!before)
    return void lines.set(key, {
      user_id,
      kind,
      place,
      topic,
      count: 1,
      samples: [sample],
      first_at: at,
      last_at: at,
    })
  lines.set(key, {
    ...before,
    count: before.count + 1,
    samples: before.samples.length < SAMPLES_MAX ? [...before.samples, sample] : before.samples,
    first_at: at < before.first_at ? at : before.first_at,
    last_at: at > before.last_at ? at : before.last_at,
  })
}
