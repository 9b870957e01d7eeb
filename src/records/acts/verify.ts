import type { Db } from '../../db/pool.ts'
import type { StoragePlace } from '../../db/sealing.ts'
import { addToHistories, type History } from './history.ts'
import { type Head, hashOf, type LogLine } from './line.ts'
import type { LogKey } from './log.ts'
import { findHead, selectLogLines } from './store.ts'

/** A defect of a log. `object_id` names the line or log, `wrong` says what was found. */
export type Broken = { readonly object_id: string; readonly wrong: string }

type LogVerification = {
  readonly lines: bigint
  readonly broken: readonly Broken[]
  /** By proposal id. */
  readonly histories: ReadonlyMap<string, History>
}

/** A line's number and hash, noted outside of the database. */
export type Anchor = { readonly seq: bigint; readonly hash: string }

/** Lines read per query. */
const PART = 500

/** Further defects are counted, not named. */
const NAMED_MOST = 20

const lineName = (place: StoragePlace, seq: bigint): string => `line ${seq} of ${place}`

/** Collects the first defects by name and counts the rest. */
export function openNames<Name>() {
  const names: Name[] = []
  let more = 0
  return {
    names,
    add(name: Name): void {
      if (names.length < NAMED_MOST) names.push(name)
      else more++
    },
    /** One defect that stands for all that were only counted. */
    rest: (object_id: string, what: string): Broken[] =>
      more === 0 ? [] : [{ object_id, wrong: `${more} more ${what}` }],
  }
}

/** A defect at a line. A line with a wrong hash is judged at the end, when all such lines are known. */
type Wrong = { readonly seq: bigint; readonly found: string | LogLine }

/**
 * Walks a log from its first line to its head. A line with a wrong hash was changed or added; if the hash fits
 * another number, the line was moved; a missing number was removed. Lines are only ever added, so most of the walk
 * needs no snapshot: `walk` continues where it stopped, and `prove` walks the rest in the caller's snapshot.
 */
export function openWalk(options: {
  place: StoragePlace
  key: LogKey | undefined
  anchors?: readonly Anchor[]
}) {
  const { place, key, anchors = [] } = options
  const wrong = openNames<Wrong>()
  const histories = new Map<string, History>()
  const noted = new Map(anchors.map((anchor) => [anchor.seq, anchor.hash]))
  const wanted = new Map(noted)
  let last = { seq: 0n, hash: '' }
  let lines = 0n

  async function walk(db: Db): Promise<void> {
    for (;;) {
      const part = await selectLogLines(db, last.seq, PART)
      for (const line of part) step(line)
      if (part.length < PART) return
    }
  }

  function step(line: LogLine): void {
    const { seq } = line
    const say = (found: string | LogLine) => wrong.add({ seq, found })
    const follows = seq === last.seq + 1n
    if (!follows) wrong.add({ seq: last.seq + 1n, found: removed(last.seq + 1n, seq - 1n) })
    if (key === undefined || hashOf({ place, key: key.bytes }, line) !== line.hash) say(line)
    else {
      if (follows && line.previous_hash !== last.hash)
        say('out of order: it does not follow from the line before it')
      if (line.partner_id !== partnerSaid(line))
        say('changed: partner_id differs from the partner in "after"')
      if (seq === 1n && line.action !== 'begin') say('not the beginning: the lines before it were removed')
      addToHistories(line, histories)
    }
    const hash = noted.get(seq)
    if (hash !== undefined && hash !== line.hash) say(`changed: its hash was noted as ${hash}`)
    wanted.delete(seq)
    last = line
    lines++
  }

  async function prove(tx: Db): Promise<LogVerification> {
    await walk(tx)
    const head = await findHead(tx)
    const strange = wrong.names.flatMap(({ found }) => (typeof found === 'string' ? [] : [found]))
    const named = wrong.names.map(({ seq, found }) => ({
      object_id: lineName(place, seq),
      wrong: typeof found === 'string' ? found : wrongWith(found, strange, { place, key, head }),
    }))
    const broken = [...named, ...wrong.rest(logName(place), 'lines that are not as they were written')]
    if (key?.begun && lines === 0n && !head?.seq)
      broken.push({ object_id: logName(place), wrong: 'the log is empty, though it had begun' })
    broken.push(...wrongWithHead(place, head, last))
    for (const [seq, hash] of wanted)
      broken.push({ object_id: lineName(place, seq), wrong: `removed: its hash was noted as ${hash}` })
    return { lines, broken, histories }
  }

  return { walk, prove }
}

/** The `partner_id` column is not covered by the hash; the `origin` in `after` is. */
function partnerSaid({ actor_kind, after }: LogLine): string | null {
  return actor_kind === 'person' && after !== null ? (JSON.parse(after).origin?.partner_id ?? null) : null
}

const logName = (place: StoragePlace): string => `the log of ${place}`

const removed = (from: bigint, to: bigint): string =>
  from === to ? 'removed' : `removed, with all up to ${to}`

function wrongWithHead(place: StoragePlace, head: Head | undefined, last: Head): Broken[] {
  if (!head) return [{ object_id: logName(place), wrong: 'the row in acts_head was removed' }]
  const say = (seq: bigint, wrong: string) => [{ object_id: lineName(place, seq), wrong }]
  if (head.seq > last.seq) return say(last.seq + 1n, removed(last.seq + 1n, head.seq))
  if (head.seq < last.seq)
    return say(head.seq, `added: lines after it, up to ${last.seq}, that acts_head does not count`)
  return head.hash === last.hash ? [] : say(head.seq, 'changed: the head has another hash')
}

function wrongWith(
  line: LogLine,
  strange: readonly LogLine[],
  { place, key, head }: { place: StoragePlace; key: LogKey | undefined; head: Head | undefined },
): string {
  if (key === undefined)
    return 'cannot be verified: the signing key of the log is missing in shared.acts_keys. Restore the row from a backup (docs/operate/backup.md)'
  const moved = strange.find(
    ({ seq }) => seq !== line.seq && hashOf({ place, key: key.bytes }, { ...line, seq }) === line.hash,
  )
  if (moved) return `out of order: it was line ${moved.seq}`
  return head && line.seq > head.seq
    ? 'added: it was not written by the service'
    : 'changed, or added: it is not as the service wrote it'
}
