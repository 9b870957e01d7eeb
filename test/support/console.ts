import type { OperatorRole, PartnerRole } from '../../src/core/actor.ts'
import { createSealer } from '../../src/core/seal.ts'
import { transaction } from '../../src/db/pool.ts'
import { beginFactor, codeAt, confirmFactor, stepAt } from '../../src/parties/team/factor.ts'
import { makePassword } from '../../src/parties/team/password.ts'
import { createUser, describeUser } from '../../src/parties/team/people.ts'
import type { User } from '../../src/parties/team/store.ts'
import { note } from '../../src/records/acts/log.ts'
import { TEST_KEY } from './database.ts'
import type { TestService } from './service.ts'

type ConsoleReply = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: any
}

/** A browser's part of a session: it keeps the cookie and the token that changes need. */
export type ConsoleClient = {
  get(path: string, headers?: Record<string, string>): Promise<ConsoleReply>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ConsoleReply>
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<ConsoleReply>
  delete(path: string, body?: unknown, headers?: Record<string, string>): Promise<ConsoleReply>
  signIn(email: string, password: string, code?: string): Promise<ConsoleReply>
  readonly cookie: string | undefined
  readonly csrf_token: string | undefined
}

/** Paths are those behind /console/api. `address`: as a proxy tells it, where the service trusts one. */
export function openConsole(url: string, { address }: { readonly address?: string } = {}): ConsoleClient {
  let cookie: string | undefined
  let csrf_token: string | undefined

  async function call(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
    const response = await fetch(`${url}/console/api${path}`, {
      method,
      headers: {
        ...(cookie === undefined ? {} : { cookie }),
        ...(address === undefined ? {} : { 'x-forwarded-for': address }),
        ...(method === 'GET' ? {} : { origin: url, 'content-type': 'application/json' }),
        ...(csrf_token === undefined || method === 'GET' ? {} : { 'x-csrf-token': csrf_token }),
        ...more,
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
    })
    const set = response.headers.get('set-cookie')
    if (set !== null) cookie = /Max-Age=0/.test(set) ? undefined : set.split(';')[0]
    const text = await response.text()
    const json =
      /^application\/json/.test(response.headers.get('content-type') ?? '') && text
        ? JSON.parse(text)
        : undefined
    if (json?.csrf_token) csrf_token = json.csrf_token
    return { status: response.status, headers: response.headers, text, json }
  }

  return {
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body, headers) => call('POST', path, body, headers),
    patch: (path, body, headers) => call('PATCH', path, body, headers),
    delete: (path, body, headers) => call('DELETE', path, body, headers),
    signIn: (email, password, code) =>
      call('POST', '/session', { email, password, ...(code ? { code } : {}) }),
    get cookie() {
      return cookie
    },
    get csrf_token() {
      return csrf_token
    },
  }
}

export type Person = {
  readonly user: User
  readonly password: string
  /** Six digits that work once, where there is a second factor. */
  code(): string
}

let made = 0

/** Somebody of a partner, or of the operator when none is named. */
export async function makePerson(
  service: Pick<TestService, 'shared'> & Partial<Pick<TestService, 'office'>>,
  options: {
    partner_id?: string
    role: PartnerRole | OperatorRole
    factor?: boolean
    email?: string
    name?: string
  },
): Promise<Person> {
  const { shared } = service
  const email = options.email ?? `person-${++made}-${Date.now()}@console.example`
  const wanted = {
    id: shared.newId('user'),
    email,
    name: options.name ?? `Person ${made}`,
    partner_id: options.partner_id ?? null,
    role: options.role,
  }
  const fresh = await makePassword()
  const { user, password } = await transaction(shared.db, (tx) => createUser(tx, wanted, fresh))
  if (service.office && user.role === 'operator') await noteOperator(service.office, user)
  if (!options.factor) return { user, password, code: () => '' }
  const team = { ...shared, sealer: createSealer([TEST_KEY]), note: async () => {} }
  const { secret } = await beginFactor(team, user)
  const seed = fromBase32(secret)
  // The code of the step before confirms the factor, so that the code of now is still free. On a busy machine that step may be
  // too old by the time it is judged: then the next one is taken.
  let step = stepAt(Date.now() / 1000) - 1
  const confirmIt = () => confirmFactor(team, user, codeAt(seed, step))
  for (let tries = 1; tries <= 10; tries++) {
    const refusal = await confirmIt().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (refusal === undefined) break
    if (tries === 10) throw refusal
    step = stepAt(Date.now() / 1000) - 1
  }
  return {
    user,
    password,
    // Each step once, and never one that is over.
    code: () => codeAt(seed, (step = Math.max(step + 1, stepAt(Date.now() / 1000)))),
  }
}

/** The audit names an operator of whom the log has no line. */
async function noteOperator({ log }: TestService['office'], user: User): Promise<void> {
  const pen = await log.pen('shared', { kind: 'shell' })
  const entry = {
    action: 'create_user' as const,
    object_id: user.id,
    before: null,
    after: describeUser(user),
  }
  await transaction(log.pools.shared, (tx) => note(tx, pen, entry))
}

/** A person with a session: one of each role is what most tests need. */
export async function signedIn(
  service: Pick<TestService, 'shared' | 'url'> & Partial<Pick<TestService, 'office'>>,
  options: Parameters<typeof makePerson>[1] & { readonly address?: string },
): Promise<ConsoleClient & { readonly person: Person }> {
  const person = await makePerson(service, options)
  const client = openConsole(service.url, options)
  const reply = await client.signIn(person.user.email, person.password, person.code() || undefined)
  if (reply.status !== 200) throw new Error(`sign-in: ${reply.status} ${reply.text}`)
  return Object.assign(client, { person })
}

function fromBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...text.replaceAll('=', '')]
    .map((c) => alphabet.indexOf(c).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
}
