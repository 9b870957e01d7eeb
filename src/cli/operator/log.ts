import { verifyLog } from '../../control/operator/verify.ts'
import type { StoragePlace } from '../../db/sealing.ts'
import { type LogLine, logPlaces } from '../../records/acts/line.ts'
import { withoutPersonalData } from '../../records/acts/personal.ts'
import { newestLines } from '../../records/acts/store.ts'
import type { Anchor } from '../../records/acts/verify.ts'
import {
  type Input,
  integerOption,
  listed,
  type Output,
  option,
  options,
  type Reach,
  usage,
} from '../command.ts'

function placesOf(input: Input): readonly StoragePlace[] {
  const text = option(input, 'environment')
  if (text === undefined) return logPlaces
  return [placeOf(text) ?? usage(`--environment must be one of ${logPlaces.join(', ')}.`)]
}

const placeOf = (text: string): StoragePlace | undefined => logPlaces.find((place) => place === text)

const ANCHOR = /^(?:([a-z]+):)?([1-9][0-9]{0,17}):([0-9a-f]{64})$/

/** SEQ:HASH without a name is an anchor of the production log; anchors of the other logs are prefixed with their name. */
function anchorsOf(input: Input): { place: StoragePlace; anchor: Anchor }[] {
  return options(input, 'anchor').map((text) => {
    const [, name = 'production', seq, hash] = ANCHOR.exec(text) ?? []
    const place = placeOf(name)
    if (seq === undefined || hash === undefined || !place)
      usage('--anchor must be SEQ:HASH, or ENVIRONMENT:SEQ:HASH, as an act prints it.')
    return { place, anchor: { seq: BigInt(seq), hash } }
  })
}

const whoOf = ({ actor_kind, actor_email, partner_id }: LogLine) =>
  partner_id === null ? (actor_email ?? actor_kind) : `${actor_email} of ${partner_id}`

export async function logList(input: Input, { office }: Reach): Promise<Output> {
  const limit = integerOption(input, 'limit', 1, 10_000) ?? 50
  const lists = await Promise.all(
    placesOf(input).map(async (place) =>
      (await newestLines(office.log.pools[place], limit)).map((line) => ({
        environment: place,
        ...withoutPersonalData(line),
      })),
    ),
  )
  const data = lists.flat().sort((a, b) => b.at.getTime() - a.at.getTime())
  const rows = data.map((line) => ({
    environment: line.environment,
    seq: line.seq,
    at: line.at,
    who: whoOf(line),
    action: line.action,
    object: line.object_id,
    proposal: line.proposal_id,
  }))
  return listed({ data }, rows)
}

export async function logVerify(input: Input, { office }: Reach): Promise<Output> {
  const anchors = anchorsOf(input)
  const chosen = placesOf(input)
  if (anchors.some(({ place }) => !chosen.includes(place)))
    usage('--anchor is of another log than --environment.')
  const proofs = await Promise.all(
    chosen.map((place) => {
      const own = anchors.filter((one) => one.place === place)
      return verifyLog(
        office,
        place,
        own.map(({ anchor }) => anchor),
      )
    }),
  )
  const ok = proofs.every(({ broken }) => broken.length === 0)
  const text = proofs.map(({ place, lines, broken }) => {
    const state = broken.length === 0 ? 'unbroken' : `${broken.length} PLACES BROKEN`
    return `${place}: ${lines} lines, ${state}\n${broken.map(({ object_id, wrong }) => `  ${object_id}: ${wrong}\n`).join('')}`
  })
  return { json: { ok, logs: proofs }, text: text.join(''), exit_code: ok ? 0 : 1 }
}
