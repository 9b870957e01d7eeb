import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wheelName } from '../tools/pack-wheel.ts'
import { createDatabase, type TestDatabase } from './support/database.ts'
import { freePort } from './support/free-port.ts'
import { assertPrinted, openRunner, type Runner, type Sample, samplesOf } from './support/markdown.ts'
import { noteFact } from './support/proof.ts'
import { testRun } from './support/test-run.ts'
import { eventually } from './support/wait.ts'

/** Folders that installing, building and running make, and that a clone does not have. */
const MADE = /(^|\/)(node_modules|dist)$|^(\.git|\.env|data|deploy\/secrets)$/

/**
 * The first five minutes as a stranger has them: the commands of docs/quickstart.md, in their order, in a fresh copy of the
 * sources with an empty home. The packages are there already; everything else is made on the way.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const pageOf = (path: string) => samplesOf(readFileSync(join(root, path), 'utf8'))
const samples = pageOf('docs/quickstart.md')
const sampleOf = (words: string) => samples.findIndex(({ code }) => code.includes(words))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const [START, LISTEN, LIST, AUDIT] = [
  'npm start',
  'trilho listen',
  'trilho payouts list',
  'trilho audit',
].map(sampleOf)

const place = mkdtempSync(join(tmpdir(), 'trilho-quickstart-'))
const [copy, home, project] = ['copy', 'home', 'project'].map((name) => join(place, name)) as [
  string,
  string,
  string,
]
const { PATH = '' } = process.env
const begun = performance.now()

/** A terminal in which a command goes on. */
type Terminal = { readonly process: ChildProcess; printed(): string }
const terminals: Terminal[] = []
let server: Terminal
let receiver: Terminal
let runner: Runner
let database: TestDatabase

beforeAll(async () => {
  for (const folder of [copy, home, project]) mkdirSync(folder)
  cpSync(root, copy, { recursive: true, filter: (path) => !MADE.test(relative(root, path)) })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  database = await createDatabase({ migrated: false })
})

afterAll(async () => {
  for (const terminal of terminals) await end(terminal)
  runner?.stop()
  await database.drop()
  rmSync(place, { recursive: true, force: true, maxRetries: 5 })
})

function open(code: string, env: Record<string, string>): Terminal {
  const child = spawn('bash', ['-c', code], {
    cwd: copy,
    env: { PATH, HOME: home, ...testRun(), DRAIN_MS: '0', ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk
    })
  const terminal = { process: child, printed: () => text }
  terminals.push(terminal)
  return terminal
}

/** Ctrl-C, to all that runs in it. */
async function end({ process: { pid, exitCode, signalCode }, ...terminal }: Terminal): Promise<void> {
  if (exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid!, 'SIGINT')
  } catch {
    return // it has ended meanwhile
  }
  await eventually(() => expect(() => process.kill(-pid!, 0), terminal.printed()).toThrow())
}

/** It may have to build everything first, beside other tests. */
const BUILD_MS = 400_000

const showsWhat = ({ output }: Sample, { printed }: Terminal) =>
  eventually(() => assertPrinted(output!, printed()), { timeout: BUILD_MS })

/** Of the one payout, as the receiver tells of it. */
const verified = () => receiver.printed().match(/verified pix\.payout\.\w+ po_\w+/g) ?? []

/** As `listen` tells of its last event, and as the page shows it. */
const forwarded = (id: string) =>
  new RegExp(`^\\S+Z  evt_\\w+  pix\\.payout\\.completed  ${id}  → 204 \\(\\d+ ms\\)$`, 'm')

test('npm start is ready, and prints three lines to paste', { timeout: 2 * BUILD_MS }, async () => {
  const start = samples[START!]!
  server = open(start.code.replace('npm ci && ', ''), { PORT: '0' })
  await showsWhat(start, server)
  const exports = [...server.printed().matchAll(/^\s*export (\w+)=(\S+)$/gm)]
  expect(exports.map(([, name]) => name)).toEqual(['TRILHO_URL', 'TRILHO_KEY', 'CUSTOMER'])
  expect(server.printed()).not.toMatch(/\bwarn/i)
  const pasted = Object.fromEntries(exports.map(([, name, value]) => [name!, value!]))
  execFileSync(
    'npm',
    ['install', `${pasted.TRILHO_URL}/docs/trilho-sdk-${version}.tgz`, '--no-audit', '--no-fund'],
    {
      cwd: project,
      env: { PATH, HOME: home },
    },
  )
  const wheel = join(project, wheelName)
  writeFileSync(
    wheel,
    Buffer.from(await (await fetch(`${pasted.TRILHO_URL}/docs/${wheelName}`)).arrayBuffer()),
  )
  runner = openRunner({
    // Python imports the wheel as it is, so that the test needs no pip.
    env: { PATH, HOME: home, ...testRun(), ...pasted, PYTHONPATH: wheel },
    sdk: join(project, 'node_modules/@trilho/sdk'),
    cwd: copy,
  })
})

test('before listening', async () => {
  for (const sample of samples.slice(START! + 1, LISTEN)) await prints(sample)
})

test('listen starts the receiver', async () => {
  const port = String(await freePort())
  const listen = samples[LISTEN!]!
  const own = (text: string) => text.replaceAll('3000', port)
  receiver = open(own(listen.code), { ...runner.variables(), PORT: port })
  // Two programs write here, each in its own time.
  const inAnyOrder = (text: string) => text.trim().split('\n').toSorted().join('\n')
  const expected = { language: 'text', text: inAnyOrder(own(listen.output!.text)) }
  await eventually(() => assertPrinted(expected, inAnyOrder(receiver.printed())))
})

test('a payout, its webhooks, and the same again in every language', async () => {
  const [first, ...again] = samples.slice(LISTEN! + 1, LIST)
  const { id } = JSON.parse(await prints(first!))
  await eventually(() => expect(verified().at(-1)).toBe(`verified pix.payout.completed ${id}`))
  await eventually(() => expect(receiver.printed()).toMatch(forwarded(id)))
  const told = verified().length
  for (const sample of again)
    expect(await prints(sample)).toMatch(/Idempotent-Replayed: true|completed true/i)
  expect(again.map(({ language }) => language)).toEqual(['sh', 'ts', 'py'])
  expect(verified()).toHaveLength(told)
})

test('one row, and the books are right, until the last line of the page', async () => {
  for (const sample of samples.slice(LIST)) await prints(sample)
  noteFact(
    `quickstart: the whole page run out of the Markdown in ${((performance.now() - begun) / 1000).toFixed(0)} s`,
  )
})

test('the same on a PostgreSQL of one’s own, with the money where it was', async () => {
  await end(receiver)
  await end(server)
  await runner.run({ language: 'sh', code: `npx trilho database copy --to '${database.url}'`, line: 0 })
  const { output, code } = samples[AUDIT!]!
  const own = `DATABASE_URL='${database.url}' SECRET_KEY_FILE=data/secret.key ${code}`
  assertPrinted(output!, await runner.run({ language: 'sh', code: own, line: 0 }))
})

test('nothing is written elsewhere', () => {
  expect(readdirSync(home).filter((name) => name !== '.npm')).toEqual([])
})

test('the page in Portuguese has the same commands, which print the same', () => {
  const plain = (page: Sample[]) => page.map(({ line: _, ...sample }) => sample)
  expect(plain(pageOf('docs/pt/quickstart.md'))).toEqual(plain(samples))
})

async function prints(sample: Sample): Promise<string> {
  const printed = await runner.run(sample)
  if (sample.output) assertPrinted(sample.output, printed)
  return printed
}
