import type { Office } from '../../../control/operator/office.ts'
import { type VerifiedLog, verifyLog } from '../../../control/operator/verify.ts'
import type { StoragePlace } from '../../../db/sealing.ts'
import { decodeCursor, encodeCursor } from '../../../http/page.ts'
import { logPlaces } from '../../../records/acts/line.ts'
import { withoutPersonalData } from '../../../records/acts/personal.ts'
import { linesBefore, readHead } from '../../../records/acts/store.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { newestOf, type PlacedLine, readUpTo } from '../merged-lines.ts'
import type { ConsoleParts } from '../parts.ts'
import { listActsForOperator, verifyActs } from './acts-contract.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { renderLineRef } from './shared-schemas.ts'

const PAGE = 50

export const actsRoutes = ({ office }: ConsoleParts): ConsoleHandler[] => [listing(office), verifying(office)]

const listing = (office: Office): ConsoleHandler =>
  answer(listActsForOperator, async ({ query }) => {
    const { place, cursor, action, actor, object } = query
    const chosen = logPlaces.filter((one) => place === undefined || one === place)
    const { lines, next } = await newestOf(
      (one, before, limit) => linesBefore(office.log.pools[one], { before, action, actor, object, limit }),
      { limit: PAGE, after: decodeCursor(cursor, readUpTo), of: chosen },
    )
    const heads = await Promise.all(
      logPlaces.map(
        async (one) => renderLineRef({ place: one, ...(await readHead(office.log.pools[one])) })!,
      ),
    )
    return {
      data: lines.map(render),
      next_cursor: next && encodeCursor(next),
      heads,
    }
  })

/** Verifies all three logs, and that they contain the noted lines. */
function verifyAll(office: Office, noted: readonly string[]): Promise<VerifiedLog[]> {
  const anchors = noted.map((text) => {
    const [place, seq, hash] = text.split(':') as [StoragePlace, string, string]
    return { place, anchor: { seq: BigInt(seq), hash } }
  })
  return Promise.all(
    logPlaces.map((place) =>
      verifyLog(
        office,
        place,
        anchors.filter((one) => one.place === place).map(({ anchor }) => anchor),
      ),
    ),
  )
}

function verifying(office: Office): ConsoleHandler {
  const alone = oneAtATime(
    (noted: readonly string[]) => verifyAll(office, noted),
    'The logs are being proved on this node already. Try again in a moment.',
  )
  return answer(verifyActs, async ({ body }) => {
    const logs = await alone(body.anchors ?? [])
    return {
      ok: logs.every(({ broken }) => broken.length === 0),
      at: new Date().toISOString(),
      logs: logs.map(({ place, lines, broken }) => ({
        place,
        lines: lines.toString(),
        broken: [...broken],
      })),
    }
  })
}

function render(whole: PlacedLine) {
  const { previous_hash: _, actor_id: __, ...line } = withoutPersonalData(whole)
  return { ...line, seq: line.seq.toString(), at: line.at.toISOString() }
}
