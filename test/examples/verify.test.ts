import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { webhookVectors } from '../support/webhook-vectors.ts'

/** The snippets of the webhook guide, each as a person runs it. One process per language tries every case. */
const folder = fileURLToPath(new URL('../../examples/verify', import.meta.url))
const languages = [
  { name: 'TypeScript', program: process.execPath, args: ['--import', 'tsx', 'verify.ts'] },
  { name: 'Python', program: 'python3', args: ['verify.py'] },
  { name: 'Go', program: 'go', args: ['run', 'verify.go'] },
  { name: 'Java', program: 'java', args: ['Verify.java'] },
  { name: 'PHP', program: 'php', args: ['verify.php'] },
] as const

const { secret, cases } = webhookVectors

const lines = Object.values(cases).map(({ headers, body }) =>
  [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature'], body].join('\t'),
)

function run({ program, args }: (typeof languages)[number], under: string): SpawnSyncReturns<string> {
  return spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    input: `${lines.join('\n')}\n`,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TRILHO_WEBHOOK_SECRET: under },
  })
}

const isMissing = ({ error }: SpawnSyncReturns<string>) => (error as NodeJS.ErrnoException)?.code === 'ENOENT'

describe.each(languages)('$name', (language) => {
  test('tells good, old and changed apart', (context) => {
    const ran = run(language, secret)
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
