import type { PartnerActor } from '../core/actor.ts'
import { type FairSemaphore, openFairSemaphore } from '../core/fair-semaphore.ts'
import type { Pool } from '../db/pool.ts'
import { shareOf } from '../db/share.ts'
import type { World } from '../world.ts'
import { type Endpoint, methodAndPath } from './endpoint.ts'
import { networkOf } from './ip.ts'

/** A caller without a turn by then is about to get a 503 anyway. */
const SHARE_WAIT_MS = 8000
const NAMES_KEPT = 10_000
/** Connections that are reserved for background work. */
const FOR_WORKERS = 2

/** The caller of a console endpoint: a signed-in person (no `partner_id`: an operator), or an address without a session. */
export type Caller =
  | { readonly user_id: string; readonly partner_id?: string | null }
  | { readonly address: string }

/** The names under which a caller takes turns: a member of a group. */
type Names = { readonly group: string; readonly member: string }

type Bound = {
  /** Connections of the pool that all callers together may hold. */
  readonly at_once: number
  readonly per_group: number
  /** Absent: a member may hold as many as its group. */
  readonly per_member?: number
}

/** Returns a caller's share of a pool. The bound of a pool is set by its first caller. */
function openPoolShares(): (pool: Pool, names: Names, bound: Bound) => Pool {
  /** One object per member, so that look-ups of a member at the same moment can share a statement. */
  const shares = new Map<
    Pool,
    { readonly share: (names: Names) => Pool; readonly byMember: Map<string, Pool> }
  >()

  return (pool, names, bound) => {
    const known = shares.get(pool) ?? { share: sharing(pool, bound), byMember: new Map<string, Pool>() }
    shares.set(pool, known)
    const { share, byMember } = known
    const name = `${names.group} ${names.member}`
    const found = byMember.get(name) ?? share(names)
    if (byMember.size >= NAMES_KEPT) byMember.clear()
    byMember.set(name, found)
    return found
  }
}

/** A member waits for its own turn first and for its group's turn second: while waiting it holds no place of the group. */
function sharing(pool: Pool, { at_once, per_group, per_member }: Bound): (names: Names) => Pool {
  const turnsOf = (per_name: number): FairSemaphore =>
    openFairSemaphore({ at_once, per_name, wait_ms: SHARE_WAIT_MS })
  const groups = turnsOf(per_group)
  if (per_member === undefined) return ({ group }) => shareOf(pool, groups, group)
  const members = openFairSemaphore({ at_once: Infinity, per_name: per_member, wait_ms: SHARE_WAIT_MS })
  return ({ group, member }) => shareOf(shareOf(pool, groups, group), members, member)
}

const half = (of: number): number => Math.ceil(of / 2)

const afterWorkers = (max: number): number => Math.max(2, max - FOR_WORKERS)

/**
 * The world for a partner's handler: a partner holds at most a part of each pool, and partners take turns. Calls that only
 * read use a separate pool (decision 0020).
 */
export function openShares(): (world: World, actor: PartnerActor, endpoint: Endpoint | undefined) => World {
  const share = openPoolShares()
  return (world, { partner_id }, endpoint) => {
    const reading = endpoint !== undefined && methodAndPath(endpoint).method === 'GET'
    const pool = reading ? world.reads : world.db
    const at_once = reading ? pool.options.max : afterWorkers(pool.options.max)
    const bound = { at_once, per_group: Math.max(2, half(at_once)) }
    return { ...world, db: share(pool, { group: partner_id, member: '' }, bound) }
  }
}

/**
 * The world for people in the console. People never hold the last connection of a pool, so an API call waits for at most one
 * statement of theirs. Of the other connections a partner's people hold at most half, and one person at most half of that
 * half; operators count as one more partner (decision 0020).
 */
export function openPeopleShares(): (world: World, caller: Caller) => World {
  const share = openPoolShares()
  const sharing = (pool: Pool, names: Names, most: number) => {
    const at_once = Math.max(1, most - 1)
    return share(pool, names, { at_once, per_group: half(at_once), per_member: half(half(at_once)) })
  }
  return (world, caller) => {
    const names = namesOf(caller)
    return {
      ...world,
      db: sharing(world.db, names, afterWorkers(world.db.options.max)),
      reads: sharing(world.reads, names, world.reads.options.max),
    }
  }
}

/** Connections to the schema `shared`, by who may use them. */
export type SharedPools = {
  /** Operators, and the node's own background work. */
  readonly operators: Pool
  readonly people: Pool
  /** Sign-in, links, and session cookies that this node does not know yet. */
  readonly visitors: Pool
}

/**
 * The schema `shared` for people in the console: partners' people never hold a connection that an operator or a sign-in
 * needs. One partner has at most half of the people's pool, one person and one address a single connection.
 */
export function openSharedShares({ operators, people, visitors }: SharedPools): (caller: Caller) => Pool {
  const share = openPoolShares()
  return (caller) => {
    if (!('user_id' in caller))
      return share(visitors, namesOf(caller), { at_once: visitors.options.max, per_group: 1 })
    if (!caller.partner_id) return operators
    const { max } = people.options
    return share(people, namesOf(caller), { at_once: max, per_group: half(max), per_member: 1 })
  }
}

function namesOf(caller: Caller): Names {
  if (!('user_id' in caller)) return { group: networkOf(caller.address, 48), member: '' }
  return { group: caller.partner_id ?? 'operator', member: caller.user_id }
}
