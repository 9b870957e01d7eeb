import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PartnerRole } from '../src/core/actor.ts'
import type { CustomLimits } from '../src/limits/tiers.ts'
import { editPartner } from '../src/parties/partners/partners.ts'
import { fillLists } from './lists/fill.ts'
import { type Attacker, startAttack } from './support/attacker.ts'
import type { ConsoleAttack, Credentials } from './support/attacks/console.ts'
import type { Counts } from './support/attacks/pace.ts'
import { type Bystanders, observe, type Slice } from './support/bystanders.ts'
import { signedIn } from './support/console.ts'
import { asAdmin } from './support/database.ts'
import { noteFact } from './support/proof.ts'
import { openReceiver, type Receiver } from './support/receiver.ts'
import { someCpf } from './support/service.ts'
import { size } from './support/size.ts'
import { openStage, type Stage } from './support/stage.ts'
import { until } from './support/wait.ts'

/**
 * An attack slows nobody but the attacker. Bystanders (a partner that pays and gets its webhooks, an operator with a page, a
 * probe of /readyz) are observed alone, beside the attack, and alone again, because a machine is not equally fast at all
 * times. The small size judges only that every request succeeds and every webhook arrives; durations are judged at full size
 * (`npm run prove -- fairness`), on a machine that does nothing else.
 */
const SLICES = size(6, 2)
const SLICE_MS = size(8000, 1000)
const SETTLE_MS = size(4000, 500)
const WITHIN = 2
/** Rows of the list that the attacker exports. */
const EXPORTED = size(100_000, 5000)

let stage: Stage
let url: string
let folder: string
let bystanders: Bystanders
const receivers: Receiver[] = []
const attackers: Attacker[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-fairness-'))
  // Attackers tell their addresses as a proxy would.
  stage = await openStage({
    nodes: 0,
    env: { WEBHOOK_ALLOW_PRIVATE: 'true', TRUST_PROXY: '127.0.0.1/32' },
  })
  url = (await stage.start()).url
  bystanders = {
    url,
    payer: await openPartner(),
    operator: await person({ role: 'admin', factor: true, address: '192.0.2.1' }),
  }
  await observe(bystanders, SLICE_MS)
})
afterAll(async () => {
  await Promise.all(attackers.map((attacker) => attacker.stop().catch(() => {})))
  await stage.stop()
  for (const receiver of receivers) await receiver.stop()
  await rm(folder, { recursive: true, force: true })
})

/** A partner with its customer, its money and its receiver. */
async function openPartner(limits?: Partial<CustomLimits>) {
  const { key, api, partner_id } = await stage.partner(url)
  if (limits) await editPartner(stage.shared, partner_id, limits)
  const pix_key = someCpf()
  const customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document: pix_key })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1000000000' })
  const receiver = await openReceiver()
  receivers.push(receiver)
  await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['pix.payout.completed'] })
  return { api, partner_id, key, customer_id, pix_key, receiver }
}

type PersonOptions = Parameters<typeof signedIn>[1]
const person = (options: PersonOptions) => signedIn({ ...stage, url } as never, options)

/** People of one partner, each with a session from an address of its own. */
async function openPeople(
  count: number,
  options: { readonly role: PartnerRole; readonly partner_id: string },
): Promise<NonNullable<Credentials['people']>> {
  const people: NonNullable<Credentials['people']>[number][] = []
  for (let i = 0; i < count; i++) {
    const address = `192.0.${3 + (i >> 7)}.${1 + (i & 127)}`
    const client = await person({ ...options, address })
    const { user, password } = client.person
    people.push({ email: user.email, password, cookie: client.cookie!, csrf_token: client.csrf_token! })
  }
  return people
}

type Attack = { begin(): Attacker; clear?(): Promise<void> }
type Observed = {
  readonly quiet: readonly Slice[]
  readonly beside: readonly Slice[]
  readonly counts: Counts
}

async function observeOften(slices: number): Promise<Slice[]> {
  const seen: Slice[] = []
  for (let i = 0; i < slices; i++) seen.push(await observe(bystanders, SLICE_MS))
  return seen
}

/** `awaited`: an answer that the attacker must have had before anything is measured. */
async function observeBeside({ begin, clear }: Attack, awaited?: string): Promise<Observed> {
  const before = await observeOften(SLICES / 2)
  const attacker = begin()
  attackers.push(attacker)
  const sign = awaited === undefined ? '' : `first ${awaited}\n`
  await until(() => attacker.output() !== '' && attacker.output().includes(sign), 120_000)
  await sleep(SETTLE_MS)
  const beside = await observeOften(SLICES)
  const counts = await attacker.stop()
  await clear?.()
  await sleep(SETTLE_MS)
  const after = await observeOften(SLICES / 2)
  return { quiet: [...before, ...after], beside, counts }
}

const at = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!
/** The median over the slices: one slice in which the machine was busy with something else does not count. */
const typical = (slices: readonly Slice[], share: number, values: (slice: Slice) => readonly number[]) =>
  at(
    slices.map((slice) => at(values(slice), share)),
    0.5,
  )

const figures: readonly {
  readonly what: string
  /** The quantile that is compared: a slice has too few pages for a p99. */
  readonly share: number
  readonly values: (slice: Slice) => readonly number[]
}[] = [
  { what: 'payout p99', share: 0.99, values: ({ payouts }) => payouts.map(({ ms }) => ms) },
  { what: 'webhook lag p99', share: 0.99, values: ({ webhook_lags }) => webhook_lags },
  { what: 'operator’s page p95', share: 0.95, values: ({ pages }) => pages },
]

function judge(who: string, { quiet, beside, counts }: Observed, judged = true): void {
  const slices = [...quiet, ...beside]
  const compared = figures.map(({ what, share, values }) => {
    const [alone, attacked] = [typical(quiet, share, values), typical(beside, share, values)]
    const ratio = attacked / alone
    return {
      what,
      ratio,
      text: `${what} ${alone.toFixed(0)} → ${attacked.toFixed(0)} ms (× ${ratio.toFixed(2)})`,
    }
  })
  const done = Object.entries(counts)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `${count} × ${what}`)
  const sum = (of: (slice: Slice) => number) => slices.reduce((all, slice) => all + of(slice), 0)
  const failures = slices.flatMap((slice) => slice.failures)
  noteFact(
    `Beside ${who}: ${compared.map(({ text }) => text).join('; ')}; ${failures.length} failures among ${sum(({ payouts }) => payouts.length)} payouts, ${sum(({ pages }) => pages.length)} pages and ${sum(({ probes }) => probes)} probes of /readyz. The attacker counted ${done.join(', ')}`,
  )
  expect(failures).toEqual([])
  expect(counts['500'] ?? 0).toBe(0)
  if (process.env.PROVE && judged)
    for (const { what, ratio } of compared) expect(ratio, what).toBeLessThanOrEqual(WITHIN)
}

/** The service would go on trying the attacker's receivers for days. */
async function removeEndpoints({ api, partner_id }: Awaited<ReturnType<typeof openPartner>>): Promise<void> {
  await editPartner(stage.shared, partner_id, { per_minute: 100_000 })
  // A node knows the new limit within a second; until then some calls may still be refused with 429.
  await until(async () => {
    const { data } = (await api.get('/v1/webhook_endpoints?limit=100')).json
    for (const { id } of data ?? []) await api.delete(`/v1/webhook_endpoints/${id}`)
    return data?.length === 0
  }, 90_000)
}

test('a client without a key delays nobody’s payouts and webhooks, whatever it sends and from wherever', {
  timeout: 400_000,
}, async () => {
  const observed = await observeBeside({ begin: () => startAttack('stranger', [url]) })
  const { counts } = observed
  expect((counts['401'] ?? 0) + (counts['429'] ?? 0)).toBeGreaterThan(size(1000, 0))
  judge('a client without a key', observed)
})

/**
 * Of payouts, lists, redeliveries and receivers that hang. Judged at what the largest tier may ask for. Six times that is what
 * an operator may grant, and a share of the machine that goes with it: no request fails, and how much slower others get is
 * noted.
 */
const hostile_partners = [
  { per_minute: 500, tier: 'the largest tier’s', judged: true },
  { per_minute: 3000, tier: 'six times the largest tier’s', judged: false },
] as const
test.each(hostile_partners)(
  'a hostile partner with $per_minute requests a minute fails nobody else',
  {
    timeout: 400_000,
  },
  async ({ per_minute, tier, judged }) => {
    const hostile = await openPartner({ per_minute, lookup_per_minute: 20 })
    const observed = await observeBeside(
      {
        begin: () => startAttack('partner', [url, hostile.key, hostile.customer_id, hostile.pix_key]),
        clear: () => removeEndpoints(hostile),
      },
      '201',
    )
    expect(observed.counts['201']).toBeGreaterThan(0)
    judge(`a hostile partner with ${tier} ${per_minute} requests a minute`, observed, judged)
  },
)

const withoutSession = {
  burst: '400 wrong sign-ins at once from one address, again and again',
  'many-addresses': '50 wrong sign-ins a second from as many addresses',
  'one-network': '50 wrong sign-ins a second from one IPv6 /48',
  cookies: '300 requests a second with made-up session cookies',
} satisfies Partial<Record<ConsoleAttack, string>>

async function startConsoleAttack(kind: ConsoleAttack, credentials: Credentials): Promise<Attack> {
  const file = join(folder, `${kind}.json`)
  await writeFile(file, JSON.stringify(credentials))
  return { begin: () => startAttack('console', [url, kind, file]) }
}

test.each(Object.entries(withoutSession) as [keyof typeof withoutSession, string][])(
  'delays nobody: %s',
  { timeout: 400_000 },
  async (kind, who) => {
    judge(who, await observeBeside(await startConsoleAttack(kind, {})))
  },
)

test('delays nobody: correct sign-ins, 40 a second', { timeout: 400_000 }, async () => {
  const { partner_id } = await stage.partner(url)
  const people = await openPeople(1, { role: 'viewer', partner_id })
  judge(
    '40 correct sign-ins a second from one address',
    await observeBeside(await startConsoleAttack('right-password', { people })),
  )
})

test('delays nobody: an invitation that cannot be used up, 40 times a second', {
  timeout: 400_000,
}, async () => {
  const [inviting, other] = [await stage.partner(url), await stage.partner(url)]
  const owner = await person({ role: 'owner', partner_id: inviting.partner_id, address: '192.0.2.2' })
  const elsewhere = await person({ role: 'viewer', partner_id: other.partner_id, address: '192.0.2.3' })
  const invited = await owner.post('/invitations', {
    form_id: 'fairness-invitation',
    email: elsewhere.person.user.email,
    name: 'Rui Costa',
    role: 'viewer',
  })
  expect(invited.status, invited.text).toBe(201)
  const invitation = invited.json.link.split('/').at(-1)
  judge(
    '40 uses a second of an invitation to an e-mail that is taken',
    await observeBeside(await startConsoleAttack('invitation', { invitation })),
  )
})

test('delays nobody: 110 viewers of one partner who change their passwords', {
  timeout: 600_000,
}, async () => {
  const { partner_id } = await stage.partner(url)
  const people = await openPeople(size(110, 6), { role: 'viewer', partner_id })
  judge(
    '110 viewers of one partner who change their passwords all the time',
    await observeBeside(await startConsoleAttack('passwords', { people })),
  )
})

test('delays nobody: exports of a long list, eight at a time', { timeout: 400_000 }, async () => {
  const [large, small] = [await stage.partner(url), await stage.partner(url)]
  const filling = fillLists({ rows: EXPORTED, large: large.partner_id, small: small.partner_id })
  await asAdmin(
    stage.database.url,
    filling.filter((statement) => /^(SET|INSERT INTO (customers|payouts)) /.test(statement)),
  )
  const people = await openPeople(4, { role: 'finance', partner_id: large.partner_id })
  const observed = await observeBeside(await startConsoleAttack('exports', { people }), '200')
  expect(observed.counts['200']).toBeGreaterThan(0)
  judge(`exports of ${EXPORTED} payouts, eight at a time`, observed)
})
