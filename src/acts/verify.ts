import type { Db } from '../db/pool.ts'
import type { Place } from '../db/sealing.ts'
import { hashOf, type Line } from './line.ts'
import { readHead, selectLines } from './store.ts'

/** What is wrong with a log. `object_id` names the place, `wrong` says what was found there. */
export type Broken = { readonly object_id: string; readonly wrong: string }

export type Proof = {
  readonly lines: bigint
  readonly broken: readonly Broken[]
  /** By proposal: what the last of our own lines about it says that its row is. */
  readonly proposals: ReadonlyMap<string, string>
}

/** A line that was noted down once, outside of the database. */
export type Anchor = { readonly seq: bigint; readonly hash: string }

const PART = 1000

export const lineName = (place: Place, seq: bigint): string => `line ${seq} of ${place}`

/**
 * Walks a log from its first line to its head. In one snapshot: lines are added meanwhile. A line whose hash is not ours
 * was changed or added; one that is ours under another number was moved; a number that is missing was removed.
 */
export async function verifyLines(
  tx: Db,
  { place, key, anchors = [] }: { place: Place; key: Buffer | undefined; anchors?: readonly Anchor[] },
): Promise<Proof> {
  const head = await readHead(tx)
  const broken: (Broken & { seq: bigint })[] = []
  const strange: Line[] = []
  const proposals = new Map<string, string>()
  const wanted = new Map(anchors.map((anchor) => [anchor.seq, anchor.hash]))
  const say = (seq: bigint, wrong: string) => broken.push({ seq, object_id: lineName(place, seq), wrong })
  let last = { seq: 0n, hash: '' }
  let lines = 0n
  for (;;) {
    const part = await selectLines(tx, last.seq, PART)
    for (const line of part) {
      lines++
      if (line.seq !== last.seq + 1n) sayRemoved(last.seq + 1n, line.seq - 1n)
      const ours = key !== undefined && hashOf({ place, key }, line) === line.hash
      if (!ours) strange.push(line)
      else if (line.seq === last.seq + 1n && line.previous_hash !== last.hash)
        say(line.seq, 'out of order: it does not follow from the line before it')
      if (ours) noteProposals(line, proposals)
      const noted = wanted.get(line.seq)
      if (noted !== undefined && noted !== line.hash) say(line.seq, `not the line that was noted: ${noted}`)
      wanted.delete(line.seq)
      last = line
    }
    if (part.length < PART) break
  }
  for (const line of strange) say(line.seq, wrongWith(line, strange, { place, key, head }))
  if (head.seq > last.seq) sayRemoved(last.seq + 1n, head.seq)
  else if (head.seq < last.seq)
    say(head.seq, `added: lines after it that the head does not know, up to ${last.seq}`)
  else if (head.hash !== last.hash) say(head.seq, 'changed: the head has another hash')
  for (const [seq, hash] of wanted) say(seq, `removed: it was noted as ${hash}`)
  broken.sort((a, b) => Number(a.seq - b.seq))
  return { lines, broken: broken.map(({ object_id, wrong }) => ({ object_id, wrong })), proposals }

  function sayRemoved(from: bigint, to: bigint): void {
    say(from, from === to ? 'removed' : `removed, with all up to ${to}`)
  }
}

/** More lines than these are not held against each other. */
const MOVED_MOST = 200

function wrongWith(
  line: Line,
  strange: readonly Line[],
  { place, key, head }: { place: Place; key: Buffer | undefined; head: { seq: bigint } },
): string {
  if (key === undefined) return 'nobody can say whether it is ours: the key of the log is missing'
  const moved = strange
    .slice(0, MOVED_MOST)
    .find(({ seq }) => seq !== line.seq && hashOf({ place, key }, { ...line, seq }) === line.hash)
  if (moved) return `out of order: it was line ${moved.seq}`
  return line.seq > head.seq
    ? 'added: it was not written by the service'
    : 'changed, or added: it is not as the service wrote it'
}

/** What our lines say of proposals: the first of a log of all that it found, each later one of its own. */
function noteProposals({ action, after, proposal_id }: Line, proposals: Map<string, string>): void {
  const said = after === null ? {} : JSON.parse(after)
  if (action === 'begin')
    for (const [id, digest] of Object.entries(said.found ?? {})) proposals.set(id, digest as string)
  else if (proposal_id !== null && said.proposal) proposals.set(proposal_id, said.proposal)
}
