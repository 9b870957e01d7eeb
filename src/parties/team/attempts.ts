import { createHash } from 'node:crypto'
import { type Db, type Pool, transaction } from '../../db/pool.ts'
import { wholeOf } from '../../db/share.ts'
import { networkOf } from '../../http/ip.ts'
import { hashToken } from './sessions.ts'
import {
  type AttemptLimit,
  blockedFor,
  countAttempt,
  insertPlace,
  type KnownPlace,
  selectPlaces,
  type User,
  uncountAttempt,
} from './store.ts'

/**
 * How attempts to sign in are limited (decision 0026). Each attempt is counted as a failure before its password or code is
 * looked at, and uncounted when it turns out right: of many attempts at once no more are judged than the limit allows.
 * Subjects are hashes, because people type passwords where the e-mail belongs.
 */
const subjectOf = (...parts: readonly string[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest()

/** Works for an unknown e-mail too. */
export const accountOf = (email: string): Buffer => subjectOf('account', email.toLowerCase())

/** Five failures within 15 minutes. */
const FEW = { most: 5, minutes: 15 } as const
/** Per /48: a site has 65,536 networks of its own. */
const OF_A_SITE = { most: 25, minutes: 15 } as const
/** Per e-mail, from places where its user never signed in. A single place also gets 20 an hour. */
const FROM_ELSEWHERE = { most: 20, minutes: 60 } as const

/** Where an attempt comes from. Without an address: a terminal, which needs the credentials of the database. */
export type Origin = { readonly email: string; readonly address: string | undefined }

/** One account at one place. Failures at other places do not count under it. */
export const accountAtPlace = ({ email, address }: Origin): Buffer =>
  address === undefined
    ? subjectOf('terminal', email.toLowerCase())
    : subjectOf('place', email.toLowerCase(), networkOf(address, 64))

/**
 * A known place and a terminal have only their own limit, so that nobody else can lock a user out there. Elsewhere
 * the address, its /48 and the account are limited too.
 */
export function attemptLimitsOf(origin: Origin, known: boolean): AttemptLimit[] {
  const { email, address } = origin
  const account = accountOf(email)
  const pair = { subject: accountAtPlace(origin), ...FEW, account }
  if (known || address === undefined) return [pair]
  const site = networkOf(address, 48)
  return [
    pair,
    { subject: subjectOf('address', networkOf(address, 64)), ...FEW, account: null },
    ...(site === address ? [] : [{ subject: subjectOf('site', site), ...OF_A_SITE, account: null }]),
    { subject: account, ...FROM_ELSEWHERE, account },
  ]
}

/** Per session: strangers cannot block it, and a thief cannot guess for long. */
export const limitsOfSession = (token: string): AttemptLimit[] => [
  { subject: subjectOf('session', hashToken(token).toString('hex')), ...FEW, account: null },
]

export const limitsOfLink = (id: string): AttemptLimit[] => [
  { subject: subjectOf('link', id), ...FEW, account: null },
]

/** An attempt that is counted as a failure until `uncount`. */
export type SignInAttempt = { uncount(db: Db): Promise<void> }

class TooMany extends Error {}

/** Counts the attempt in a transaction of its own, or says for how many seconds none is allowed. */
export async function beginAttempt(
  db: Pool,
  limits: readonly AttemptLimit[],
): Promise<SignInAttempt | number> {
  const blocked = await blockedFor(db, limits)
  if (blocked !== undefined) return blocked
  try {
    const counted = await transaction(db, async (tx) => {
      const one = await countAttempt(tx, limits)
      if (one.exceeds) throw new TooMany()
      return one
    })
    const subjects = limits.map(({ subject }) => subject)
    return { uncount: (tx) => uncountAttempt(tx, subjects, counted) }
  } catch (error) {
    if (!(error instanceof TooMany)) throw error
    return (await blockedFor(db, limits)) ?? 1
  }
}

/** How many places a node keeps in memory (about 2 MB), and how long before it reads them again. */
const PLACES_KEPT = 10_000
const PLACES_FRESH_MS = 60_000

type Places = { readonly bySubject: Map<string, KnownPlace>; readonly until: number }
const placesOf = new WeakMap<Pool, Promise<Places>>()

/**
 * The user who signed in from this address before; undefined if the place is unknown. Answered from memory, which is read again at
 * most once a minute, so that a flood of sign-ins costs no queries. All addresses use one list: each has a share of the pool, and a list
 * for each share would cost 2 MB and a read for every address of a flood. The list is read outside of the shares, so
 * that nobody waits for the turn of another address.
 */
export async function findPlace(db: Pool, origin: Origin): Promise<KnownPlace | undefined> {
  if (origin.address === undefined) return undefined
  return (await placesIn(wholeOf(db))).bySubject.get(accountAtPlace(origin).toString('base64'))
}

async function placesIn(db: Pool): Promise<Places> {
  const before = placesOf.get(db)
  if (before && (await before).until > performance.now()) return before
  // Of several callers who find the places stale, one reads them.
  if (placesOf.get(db) !== before) return placesIn(db)
  const reading = readPlaces(db)
  placesOf.set(db, reading)
  reading.catch(() => {
    if (placesOf.get(db) === reading) placesOf.delete(db)
  })
  return reading
}

async function readPlaces(db: Pool): Promise<Places> {
  const until = performance.now() + PLACES_FRESH_MS
  const places = await selectPlaces(db, PLACES_KEPT)
  return {
    bySubject: new Map(places.map(({ subject, ...place }) => [subject.toString('base64'), place])),
    until,
  }
}

/**
 * Runs in the transaction of a sign-in. If that is rolled back, this node treats the place as known for up to a
 * minute.
 */
export async function rememberPlace(
  tx: Db,
  db: Pool,
  origin: Origin,
  { id: user_id, partner_id }: Pick<User, 'id' | 'partner_id'>,
): Promise<void> {
  if (origin.address === undefined) return
  const subject = accountAtPlace(origin)
  await insertPlace(tx, subject, user_id)
  ;(await placesOf.get(wholeOf(db)))?.bySubject.set(subject.toString('base64'), { user_id, partner_id })
}
