import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { newSecret, showSecret, signatureHeaders } from '../../src/webhooks/signature.ts'

/** The snippets of the webhook guide, each as a person runs it. One process per language tries every case. */
const folder = fileURLToPath(new URL('../../examples/verify', import.meta.url))
const languages = [
  { name: 'TypeScript', program: process.execPath, args: ['--import', 'tsx', 'verify.ts'] },
  { name: 'Python', program: 'python3', args: ['verify.py'] },
  { name: 'Go', program: 'go', args: ['run', 'verify.go'] },
  { name: 'Java', program: 'java', args: ['Verify.java'] },
  { name: 'PHP', program: 'php', args: ['verify.php'] },
] as const

const [ours, foreign] = [newSecret(), newSecret()]
const id = 'evt_01m7ev31f2c87dbjv7esth4ybv'
const body = '{"type":"pix.payout.completed","data":{"object":{"description":"São João, nº 12 ✓"}}}'
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
const signed = (options: { at?: Date; secrets?: readonly Buffer[] } = {}) =>
  signatureHeaders({ id, body, at: new Date(), secrets: [ours], ...options })

type Case = { readonly headers: ReturnType<typeof signed>; readonly body?: string; readonly is: string }

const good = 'good'
const old = 'too old'
const changed = 'not signed with this secret'
const withSignature = (write: (right: string) => string) => {
  const headers = signed()
  return { ...headers, 'webhook-signature': write(headers['webhook-signature']) }
}

const cases: Readonly<Record<string, Case>> = {
  good: { headers: signed(), is: good },
  'good beside foreign signatures': { headers: signed({ secrets: [foreign, ours, foreign] }), is: good },
  'good beside signatures of other kinds': {
    headers: withSignature((right) => `v1a,AAAA v2 ${right}  v1,`),
    is: good,
  },
  'four minutes old': { headers: signed({ at: ago(240) }), is: good },
  old: { headers: signed({ at: ago(360) }), is: old },
  'from a clock that is far ahead': { headers: signed({ at: ago(-360) }), is: old },
  'without a time': { headers: { ...signed(), 'webhook-timestamp': '' }, is: old },
  'with a time that is no number': { headers: { ...signed(), 'webhook-timestamp': 'soon' }, is: old },
  'a changed body': { headers: signed(), body: body.replace('12', '13'), is: changed },
  'another id': { headers: { ...signed(), 'webhook-id': 'evt_other' }, is: changed },
  'another time': {
    headers: { ...signed({ at: ago(360) }), 'webhook-timestamp': signed()['webhook-timestamp'] },
    is: changed,
  },
  'signed by somebody else': { headers: signed({ secrets: [foreign] }), is: changed },
  'without a signature': { headers: withSignature(() => ''), is: changed },
  'with the beginning of the signature': {
    headers: withSignature((right) => right.slice(0, -1)),
    is: changed,
  },
  'with the right signature of another version': {
    headers: withSignature((right) => right.replace('v1,', 'v2,')),
    is: changed,
  },
}

const lines = Object.values(cases).map(({ headers, body: own = body }) =>
  [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature'], own].join('\t'),
)

function run({ program, args }: (typeof languages)[number], secret: string): SpawnSyncReturns<string> {
  return spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    input: `${lines.join('\n')}\n`,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TRILHO_WEBHOOK_SECRET: secret },
  })
}

const isMissing = ({ error }: SpawnSyncReturns<string>) => (error as NodeJS.ErrnoException)?.code === 'ENOENT'

describe.each(languages)('$name', (language) => {
  test('tells good, old and changed apart', (context) => {
    const ran = run(language, showSecret(ours))
    if (isMissing(ran)) {
      const note = `examples/verify in ${language.name} was not run: ${language.program} is not on the path`
      if (process.env.SNIPPETS === 'all') throw new Error(note)
      console.warn(note)
      return context.skip(note)
    }
    expect(ran.stderr).toBe('')
    const verdicts = ran.stdout.trimEnd().split('\n')
    expect(Object.fromEntries(Object.keys(cases).map((name, i) => [name, verdicts[i]]))).toEqual(
      Object.fromEntries(Object.entries(cases).map(([name, one]) => [name, one.is])),
    )
  })
})

/** An empty key signs as well as any other, and everybody knows it. */
test('without a secret nothing is good', () => {
  const forged = languages.filter(({ program }) => ['python3', process.execPath].includes(program))
  for (const language of forged) {
    const ran = run(language, '')
    if (!isMissing(ran))
      expect(new Set(ran.stdout.trimEnd().split('\n'))).toEqual(new Set(['the secret is missing']))
  }
})
