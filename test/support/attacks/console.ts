import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { openAssault } from './pace.ts'

/**
 * One attack on the console, by people without a session or by people of one partner. `console.ts URL KIND FILE`; the file
 * holds the credentials that the attack may use, as JSON. Addresses are told in X-Forwarded-For, as if by a proxy.
 */
export type ConsoleAttack =
  | 'burst'
  | 'many-addresses'
  | 'one-network'
  | 'right-password'
  | 'invitation'
  | 'cookies'
  | 'passwords'
  | 'exports'
export type Credentials = {
  /** People of the attacking partner, each with a session. */
  readonly people?: readonly {
    readonly email: string
    readonly password: string
    readonly cookie: string
    readonly csrf_token: string
  }[]
  /** Of an invitation to an e-mail that another partner's user has. */
  readonly invitation?: string
}

const [url, kind, file] = process.argv.slice(2) as [string, ConsoleAttack, string]
const { people = [], invitation }: Credentials = JSON.parse(readFileSync(file, 'utf8'))
const assault = openAssault()
const dispatcher = new Agent({ connections: 512, headersTimeout: 60_000, bodyTimeout: 60_000 })
const json = { 'content-type': 'application/json', origin: url }

async function call(method: 'GET' | 'POST', path: string, headers: Record<string, string>, body?: unknown) {
  const answer = await request(`${url}/console/api${path}`, {
    method,
    dispatcher,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
  await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER })
  return String(answer.statusCode)
}

const word = () => randomBytes(6).toString('hex')
const group = () => randomInt(65_536).toString(16)
const anyAddress = () => `203.${randomInt(256)}.${randomInt(256)}.${1 + randomInt(254)}`
const addressOfNetwork = () => `2001:db8:77:${group()}:${group()}:${group()}:${group()}:${group()}`
const signIn = (address: string, email: string, password: string) =>
  call('POST', '/session', { ...json, 'x-forwarded-for': address }, { email, password })
const guess = (address: string) => signIn(address, `${word()}@x.example`, 'wrong wrong wrong')
const somePerson = () => people[randomInt(people.length)]!
const asPerson = ({ cookie, csrf_token }: (typeof people)[number]) => ({
  ...json,
  cookie,
  'x-csrf-token': csrf_token,
  'x-forwarded-for': '198.51.100.20',
})

const attacks: Record<ConsoleAttack, () => void> = {
  // 400 at once, and again every three seconds.
  burst: () => assault.often({ per_second: 133, at_once: 400 }, () => guess('198.51.100.7')),
  'many-addresses': () => assault.often({ per_second: 50, at_once: 50 }, () => guess(anyAddress())),
  'one-network': () => assault.often({ per_second: 50, at_once: 50 }, () => guess(addressOfNetwork())),
  'right-password': () =>
    assault.often({ per_second: 40, at_once: 40 }, () => {
      const { email, password } = somePerson()
      return signIn('198.51.100.8', email, password)
    }),
  invitation: () =>
    assault.often({ per_second: 40, at_once: 40 }, () =>
      call(
        'POST',
        '/links/use',
        { ...json, 'x-forwarded-for': anyAddress() },
        { token: invitation, password: `a fine pass phrase ${word()}` },
      ),
    ),
  cookies: () =>
    assault.often({ per_second: 300, at_once: 64 }, () =>
      call('GET', '/session', {
        cookie: `__Host-sid=${randomBytes(32).toString('base64url')}`,
        'x-forwarded-for': randomInt(2) ? '198.51.100.9' : anyAddress(),
      }),
    ),
  passwords: () =>
    assault.often({ per_second: 110, at_once: 110 }, () => {
      const person = somePerson()
      const { password } = person
      return call('POST', '/me/password', asPerson(person), { password, new_password: password })
    }),
  exports: () =>
    assault.often({ per_second: 40, at_once: 8 }, () =>
      call('GET', '/sandbox/payouts.csv', asPerson(somePerson())),
    ),
}
attacks[kind]()
process.stdout.write('ready\n')
