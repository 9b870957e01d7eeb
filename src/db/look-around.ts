import { setTimeout as sleep } from 'node:timers/promises'
import { type Host, hostName } from './address.ts'
import { type Probed, Silent } from './probe.ts'
import { cut } from './pulse.ts'
import { faultOf, isFinal, type Seen } from './server-state.ts'

export type Found = Probed & { readonly host: Host }
export type Nobody = { readonly reasons: readonly string[]; readonly all_silent: boolean }

const STAGGER_MS = 150
/** How long the others may take to report a newer timeline than the first that answered. */
const GRACE_MS = 250

/**
 * Asks every host, the likeliest first, and takes the newest primary among those that answer soon. Without a memory of
 * the timeline a former primary looks like any other: then all are asked at once, and all are waited for.
 */
export async function lookAround(
  hosts: readonly Host[],
  seen: Readonly<Seen>,
  probe: (host: Host) => Promise<Probed>,
): Promise<Found | Nobody> {
  const remembers = seen.timeline !== undefined
  const found: Found[] = []
  const failures: unknown[] = []
  const reasons: string[] = []
  const looks = hosts.map(async (host, i) => {
    if (i > 0 && remembers) await sleep(i * STAGGER_MS)
    try {
      const { client, said } = await probe(host)
      const fault = faultOf(said, seen)
      if (fault === undefined) return void found.push({ host, client, said })
      reasons.push(`${hostName(host)} ${fault}`)
      cut(client)
    } catch (error) {
      reasons.push(`${hostName(host)}: ${(error as Error).message}`)
      failures.push(error)
    }
  })
  if (remembers) await enough(looks, found, seen)
  else await Promise.all(looks)
  const best = takeBest(looks, found)
  if (best) return best
  const final = failures.find(isFinal)
  if (final) throw final
  const silent = failures.filter((failure) => failure instanceof Silent)
  return { reasons, all_silent: silent.length === hosts.length }
}

/** The newest; the others, and those that come in later, are not needed any more. */
function takeBest(looks: readonly Promise<void>[], found: readonly Found[]): Found | undefined {
  const [best, ...rest] = [...found].sort((a, b) => (b.said.timeline ?? 0) - (a.said.timeline ?? 0))
  for (const one of rest) cut(one.client)
  void Promise.all(looks).then(() => {
    for (const one of found) if (one !== best && !rest.includes(one)) cut(one.client)
  })
  return best
}

/** Until a primary is found, and the others had a moment to tell of a newer one. */
async function enough(
  looks: readonly Promise<void>[],
  found: readonly Found[],
  seen: Readonly<Seen>,
): Promise<void> {
  const all = Promise.all(looks)
  const first = new Promise<void>((resolve) => {
    for (const look of looks) void look.then(() => found.length > 0 && resolve())
  })
  await Promise.race([all, first])
  // One that is newer than all that was seen needs no comparing.
  const newer = found.some(({ said }) => (said.timeline ?? 0) > (seen.timeline ?? 0))
  if (found.length > 0 && looks.length > 1 && !newer) await Promise.race([all, sleep(GRACE_MS)])
}
