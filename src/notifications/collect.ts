import { isIP } from 'node:net'
import { proposalById } from '../control/operator/store.ts'
import { isId } from '../core/ids.ts'
import { type ShouldContinue, takeStep } from '../db/chore.ts'
import type { Db } from '../db/pool.ts'
import type { StoragePlace } from '../db/sealing.ts'
import { networkOf } from '../http/ip.ts'
import { countersOfDay } from '../limits/store.ts'
import { limitsOf } from '../limits/tiers.ts'
import {
  type CustomerOfPartner,
  limitedAndActive,
  type MoneyLimitUsage,
  moneyLimitUsages,
} from '../money/money-limits/store.ts'
import { expiringKeys, keysWithLimits } from '../parties/keys/store.ts'
import type { Shared } from '../parties/partners/partners.ts'
import { type LogLine, logPlaces } from '../records/acts/line.ts'
import { findHead, linesOfActions, signInsBefore } from '../records/acts/store.ts'
import { exceptionsSince } from '../records/exceptions/store.ts'
import { endpointsInTrouble } from '../webhooks/store.ts'
import type { World, Worlds } from '../world.ts'
import { type Fact, tellPeople } from './facts.ts'
import { type NotificationPlace, REQUESTS } from './kinds.ts'
import { positionOf, savePosition, selectSeen } from './store.ts'

/**
 * Finds out what people should be told, from rows that other transactions have committed: no transaction that moves money writes
 * a notification or waits for one. Logs with positions (the act logs) are read from a stored position on. States (endpoints that
 * fail, keys that expire, limits that are nearly used up) are read repeatedly, and each state is reported once. The position, or
 * the mark that a state was reported, is written in the transaction that writes the notifications, so that a crash loses and
 * repeats none. The collector is a chore: it runs on one node at a time.
 */
export type CollectorParts = {
  readonly shared: Pick<Shared, 'newId'>
  readonly worlds: Worlds
  /** The worlds whose exceptions operators are told of. */
  readonly exceptions_in: readonly World[]
}

const LINES = 500
/** An endpoint that works again within this time causes no notification. */
const FAILING_AFTER_MS = 60_000
/** An endpoint that was disabled earlier than this causes no notification, for instance at the first run. */
const DISABLED_WITHIN_MS = 24 * 3_600_000
/** How often expiring keys and limits are read: they change slowly, and their queries cost more. */
const SLOW_MS = 120_000
/** Rows of a state that are read at once. */
const PAGE = 500

/** The work of the chore: reads through connections of the worlds, and writes through the connection that the chore holds. */
export function openCollector(
  parts: CollectorParts,
): (db: Db, shouldContinue: ShouldContinue) => Promise<void> {
  let slow_at = Number.NEGATIVE_INFINITY
  const cursors: Cursors = new Map()
  return async (db, shouldContinue) => {
    const worlds = Object.values<World>(parts.worlds)
    const tell = (source: StateSource) => tellState(db, parts, { source, cursors, shouldContinue })
    for (const place of logPlaces) if (shouldContinue()) await followActs(db, place, parts)
    for (const world of parts.exceptions_in) if (shouldContinue()) await followExceptions(db, world, parts)
    for (const world of worlds) if (shouldContinue()) await tell(endpointSource(world))
    if (cursors.size === 0 && performance.now() - slow_at < SLOW_MS) return
    slow_at = performance.now()
    await tell(daySource(db, worlds))
    for (const world of worlds) {
      if (!shouldContinue()) return
      await tell(expirySource(world))
      await tell(moneySource(world))
    }
  }
}

/** A state that is read page by page. `after` is what the page before returned as `next`; the last page has none. */
type StateSource = {
  readonly name: string
  page(after: string | undefined): Promise<{ readonly facts: readonly Fact[]; readonly next?: string }>
}

/** Where the previous run stopped, by the name of the source. */
type Cursors = Map<string, string>

/**
 * Reads all pages of a state, so that the rows of one partner do not hold back the notifications of others. A run whose time is
 * over stores its cursor, and the next run continues there.
 */
async function tellState(
  db: Db,
  parts: CollectorParts,
  {
    source,
    cursors,
    shouldContinue,
  }: {
    readonly source: StateSource
    readonly cursors: Cursors
    readonly shouldContinue: ShouldContinue
  },
): Promise<void> {
  do {
    const { facts, next } = await source.page(cursors.get(source.name))
    await tellNew(db, parts, facts)
    if (next === undefined) cursors.delete(source.name)
    else cursors.set(source.name, next)
  } while (cursors.has(source.name) && shouldContinue())
}

/** A full page may have another one behind it. */
const nextOf = <Row>(rows: readonly Row[], cursorOf: (row: Row) => string) =>
  rows.length === PAGE ? { next: cursorOf(rows.at(-1)!) } : {}

/** Writes notifications for facts that were not reported before; without such facts it writes nothing. */
async function tellNew(db: Db, { shared }: CollectorParts, found: readonly Fact[]): Promise<void> {
  const seen = await selectSeen(
    db,
    found.map(({ once }) => once!),
  )
  const facts = found.filter(({ once }) => !seen.has(`${once!.source} ${once!.subject}`))
  if (facts.length > 0) await takeStep(db, (tx) => tellPeople(tx, shared, facts))
}

// The act logs ------------------------------------------------------------------------------------------------------------

const ACTIONS = ['sign_in', 'create_key', 'rotate_key', 'propose']

/** Lines become visible in the order of their numbers, so a position misses no line. The first run begins after the newest line. */
async function followActs(db: Db, place: StoragePlace, parts: CollectorParts): Promise<void> {
  const reader = place === 'shared' ? db : parts.worlds[place].reads
  const source = `acts of ${place}`
  const head = await findHead(reader)
  const position = await positionOf(db, source)
  if (!head || position === head.seq) return
  if (position === undefined || position > head.seq) return savePosition(db, source, head.seq)
  const lines = await linesOfActions(reader, {
    after: position,
    until: head.seq,
    actions: ACTIONS,
    limit: LINES,
  })
  const next = lines.length === LINES ? lines.at(-1)!.seq : head.seq
  const facts: Fact[] = []
  for (const line of lines) {
    const fact = await factOfLine(reader, place, line)
    if (fact) facts.push(fact)
  }
  await takeStep(db, async (tx) => {
    await tellPeople(tx, parts.shared, facts)
    await savePosition(tx, source, next)
  })
}

async function factOfLine(db: Db, place: StoragePlace, line: LogLine): Promise<Fact | undefined> {
  const about = { place: placeOf(place), topic: '', at: line.at }
  switch (line.action) {
    case 'sign_in':
      return signInFact(db, line)
    case 'propose': {
      const proposal = line.proposal_id === null ? undefined : await proposalById(db, line.proposal_id)
      if (!proposal || proposal.ended !== null) return undefined
      const to = { operators: true, but: line.actor_id } as const
      return { kind: 'proposal_waiting', ...about, to, sample: { id: proposal.id } }
    }
    default: {
      const { id, partner_id, last_four } = fieldsIn(line.after)
      if (!isId('key', String(id)) || typeof partner_id !== 'string') return undefined
      const note = /^[A-Za-z0-9]{4}$/.test(String(last_four)) ? { note: String(last_four) } : {}
      return { kind: 'key_created', ...about, to: { partner_id }, sample: { id: String(id), ...note } }
    }
  }
}

const placeOf = (place: StoragePlace): NotificationPlace => (place === 'shared' ? '' : place)

/** The JSON of a line. A line that was changed by hand may hold anything; `trilho log verify` names it. */
function fieldsIn(text: string | null): Record<string, unknown> {
  try {
    return Object(JSON.parse(text ?? '{}'))
  } catch {
    return {}
  }
}

/** The network of the client, as sign-ins are limited: an IPv6 /64 is one place. Empty for a terminal. */
function networkIn(after: string | null): { address?: string; network: string } {
  const { address } = Object(fieldsIn(after).origin)
  if (typeof address !== 'string' || isIP(address) === 0) return { network: '' }
  return { address, network: networkOf(address, 64) }
}

const SIGN_INS = 200

/** Only a sign-in from a network, or a terminal, that this person's earlier sign-ins did not come from. */
async function signInFact(db: Db, line: LogLine): Promise<Fact | undefined> {
  if (line.object_id === null) return undefined
  const earlier = await signInsBefore(db, { user_id: line.object_id, seq: line.seq, limit: SIGN_INS })
  const { address, network } = networkIn(line.after)
  if (earlier.some((after) => networkIn(after).network === network)) return undefined
  const sample = {
    id: line.session_id ?? line.object_id,
    ...(address === undefined ? {} : { note: address }),
  }
  return { kind: 'sign_in', place: '', topic: '', to: { user_id: line.object_id }, sample, at: line.at }
}

// Exceptions --------------------------------------------------------------------------------------------------------------

/** An exception gets its time before its transaction commits, so each run reads this much further back. */
const LOOK_BACK_MS = 120_000
const EXCEPTIONS = 1000

async function followExceptions(db: Db, world: World, parts: CollectorParts): Promise<void> {
  const source = `exceptions of ${world.environment}`
  const position = await positionOf(db, source)
  const now = BigInt(Math.floor(world.clock.now()))
  if (position === undefined) return savePosition(db, source, now)
  let after = { opened_at: new Date(Number(position) - LOOK_BACK_MS), id: '' }
  for (;;) {
    const found = await exceptionsSince(world.reads, after, EXCEPTIONS)
    const last = found.at(-1)
    if (!last) return
    const facts = found.map(
      ({ id, kind, opened_at }): Fact => ({
        kind: 'exception_opened',
        place: world.environment,
        topic: kind,
        to: { operators: true, but: null },
        sample: { id },
        at: opened_at,
        once: { source, subject: id },
      }),
    )
    await tellNew(db, parts, facts)
    after = { opened_at: last.opened_at, id: last.id }
    if (found.length === EXCEPTIONS) continue
    // Nothing older can appear any more: the next run need not read these again.
    const is_over = last.opened_at.getTime() + LOOK_BACK_MS < Number(now)
    const reached = BigInt(last.opened_at.getTime() + (is_over ? LOOK_BACK_MS + 1 : 0))
    if (reached > position) await savePosition(db, source, reached)
    return
  }
}

// States ------------------------------------------------------------------------------------------------------------------

const endpointSource = (world: World): StateSource => ({
  name: `endpoints ${world.environment}`,
  async page(after = '') {
    const now = world.clock.now()
    const found = await endpointsInTrouble(world.reads, {
      failing_before: new Date(now - FAILING_AFTER_MS),
      disabled_after: new Date(now - DISABLED_WITHIN_MS),
      after,
      limit: PAGE,
    })
    return { facts: endpointFacts(world, found), ...nextOf(found, ({ id }) => id) }
  },
})

function endpointFacts(world: World, found: Awaited<ReturnType<typeof endpointsInTrouble>>): Fact[] {
  return found.map(({ id, partner_id, disabled_at, failing_since }) => {
    const kind = disabled_at ? 'webhook_disabled' : 'webhook_failing'
    const at = disabled_at ?? failing_since!
    return {
      kind,
      place: world.environment,
      topic: '',
      to: { partner_id },
      sample: { id },
      at,
      once: { source: `${kind} ${world.environment}`, subject: `${id} ${at.getTime()}` },
    }
  })
}

const EXPIRING_WITHIN_DAYS = 7

const expirySource = (world: World): StateSource => ({
  name: `expiring keys ${world.environment}`,
  async page(after = '') {
    const found = await expiringKeys(world.reads, { days: EXPIRING_WITHIN_DAYS, after, limit: PAGE })
    return { facts: expiryFacts(world, found), ...nextOf(found, ({ id }) => id) }
  },
})

function expiryFacts(world: World, found: Awaited<ReturnType<typeof expiringKeys>>): Fact[] {
  return found.map(({ id, partner_id, expires_at, last_four }) => ({
    kind: 'key_expiring',
    place: world.environment,
    topic: '',
    to: { partner_id },
    sample: { id, note: `${last_four} ${expires_at.toISOString().slice(0, 10)}` },
    at: new Date(world.clock.now()),
    once: { source: `key_expiring ${world.environment}`, subject: `${id} ${expires_at.getTime()}` },
  }))
}

/** A limit is near once four fifths of it are used. */
const isNear = (used: bigint, allowed: bigint): boolean => used * 5n >= allowed * 4n

/** Keys that have used most of their requests of the day. The counters of both worlds are in `shared`. */
const daySource = (db: Db, worlds: readonly World[]): StateSource => ({
  name: 'day limits',
  async page(after = '') {
    const days = await countersOfDay(db, { after, limit: PAGE })
    return { facts: await dayFacts(worlds, days), ...nextOf(days, ({ subject }) => subject) }
  },
})

async function dayFacts(
  worlds: readonly World[],
  days: Awaited<ReturnType<typeof countersOfDay>>,
): Promise<Fact[]> {
  if (days.length === 0) return []
  const counts = new Map(days.map((day) => [day.subject, day]))
  const facts: Fact[] = []
  for (const world of worlds) {
    const keys = await keysWithLimits(world.reads, [...counts.keys()])
    for (const { id, partner_id, last_four, tier, partner_limits, ...own } of keys) {
      const { count, starts_at } = counts.get(id)!
      if (!isNear(BigInt(count), BigInt(limitsOf(tier, partner_limits, own).per_day))) continue
      facts.push({
        kind: 'limit_near',
        place: world.environment,
        topic: REQUESTS,
        to: { partner_id },
        sample: { id, note: last_four },
        at: new Date(world.clock.now()),
        once: { source: 'day limits', subject: `${id} ${starts_at.getTime()}` },
      })
    }
  }
  return facts
}

/** Longer than SLOW_MS, so that a run checks every customer with an order since the previous run. */
const ACTIVE_MS = 3 * SLOW_MS

const moneySource = (world: World): StateSource => ({
  name: `money limits ${world.environment}`,
  async page(after = ' ') {
    const since = new Date(world.clock.now() - ACTIVE_MS)
    const [partner_id = '', customer_id = ''] = after.split(' ')
    const active = await limitedAndActive(world.reads, {
      since,
      after: { partner_id, customer_id },
      limit: PAGE,
    })
    const facts = await moneyFacts(world, active)
    return { facts, ...nextOf(active, (last) => `${last.partner_id} ${last.customer_id}`) }
  },
})

async function moneyFacts(world: World, active: readonly CustomerOfPartner[]): Promise<Fact[]> {
  if (active.length === 0) return []
  const partners = new Map(active.map(({ customer_id, partner_id }) => [customer_id, partner_id]))
  const usages = await moneyLimitUsages(world.reads, [...partners.keys()])
  return usages.flatMap((usage) =>
    nearLimits(usage).map(
      ({ topic, ends_at }): Fact => ({
        kind: 'limit_near',
        place: world.environment,
        topic,
        to: { partner_id: partners.get(usage.id)! },
        sample: { id: usage.id },
        at: new Date(world.clock.now()),
        once: {
          source: `money limits ${world.environment}`,
          subject: `${usage.id} ${topic} ${ends_at.getTime()}`,
        },
      }),
    ),
  )
}

function nearLimits(usage: MoneyLimitUsage): { topic: string; ends_at: Date }[] {
  const { day_ends_at, night_ends_at } = usage
  const windows = [
    ['payout_day', usage.payout_day, usage.payout_day_used, day_ends_at],
    ['payout_night', usage.payout_night, usage.is_night ? usage.payout_night_used : null, night_ends_at],
    ['transfer_day_usdt', usage.transfer_day_usdt, usage.transfer_day_usdt_used, day_ends_at],
    ['transfer_day_btc', usage.transfer_day_btc, usage.transfer_day_btc_used, day_ends_at],
  ] as const
  return windows.flatMap(([topic, allowed, used, ends_at]) =>
    allowed !== null && used !== null && allowed > 0n && isNear(used, allowed) ? [{ topic, ends_at }] : [],
  )
}
