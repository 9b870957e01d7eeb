import { setTimeout as sleep } from 'node:timers/promises'
import { type Host, hostName } from './address.ts'
import { cut } from './heartbeat.ts'
import { type Probed, Silent } from './probe.ts'
import { faultOf, isPermanent, type KnownCluster } from './server-state.ts'

export type FoundPrimary = Probed & { readonly host: Host }
type NoPrimaryFound = { readonly reasons: readonly string[]; readonly all_silent: boolean }

const STAGGER_MS = 150
/** How long the other hosts may take to report a newer timeline than the first primary that answered. */
const GRACE_MS = 250

/**
 * Probes every host in the given order and returns the primary with the highest timeline among those that answer soon. A
 * process that has seen no timeline yet cannot tell a former primary from the current one: it probes all hosts at once and
 * waits for all of them.
 */
export async function discoverPrimary(
  hosts: readonly Host[],
  seen: Readonly<KnownCluster>,
  probe: (host: Host) => Promise<Probed>,
): Promise<FoundPrimary | NoPrimaryFound> {
  const remembers = seen.timeline !== undefined
  const found: FoundPrimary[] = []
  const failures: unknown[] = []
  const reasons: string[] = []
  const probes = hosts.map(async (host, i) => {
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
  if (remembers) await waitForNewest(probes, found, seen)
  else await Promise.all(probes)
  const best = takeBest(probes, found)
  if (best) return best
  const final = failures.find(isPermanent)
  if (final) throw final
  const silent = failures.filter((failure) => failure instanceof Silent)
  return { reasons, all_silent: silent.length === hosts.length }
}

/** Returns the primary with the highest timeline. Cuts the connections of the others, also of probes that end later. */
function takeBest(
  probes: readonly Promise<void>[],
  found: readonly FoundPrimary[],
): FoundPrimary | undefined {
  const [best, ...rest] = [...found].sort((a, b) => (b.said.timeline ?? 0) - (a.said.timeline ?? 0))
  for (const one of rest) cut(one.client)
  void Promise.all(probes).then(() => {
    for (const one of found) if (one !== best && !rest.includes(one)) cut(one.client)
  })
  return best
}

/** Waits until a primary is found and the other hosts had GRACE_MS to report a newer one. */
async function waitForNewest(
  probes: readonly Promise<void>[],
  found: readonly FoundPrimary[],
  seen: Readonly<KnownCluster>,
): Promise<void> {
  const all = Promise.all(probes)
  const first = new Promise<void>((resolve) => {
    for (const one of probes) void one.then(() => found.length > 0 && resolve())
  })
  await Promise.race([all, first])
  // A timeline above the highest seen belongs to the newest primary: there is nothing to compare it with.
  const newer = found.some(({ said }) => (said.timeline ?? 0) > (seen.timeline ?? 0))
  if (found.length > 0 && probes.length > 1 && !newer) await Promise.race([all, sleep(GRACE_MS)])
}
