import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assertPrinted, openRunner, type Runner, samplesOf } from '../support/markdown.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { testRun } from '../support/test-run.ts'

/**
 * What the pages at /docs say is run: every fence marked so, in order, in every language that this machine has, by somebody
 * who has just started a server. The quickstart starts one itself and has a test of its own.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const inFolder = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)

const quickstarts = ['docs/quickstart.md', 'docs/pt/quickstart.md']
const pages = [
  ...['docs', 'docs/guides', 'docs/operate', 'docs/pt'].flatMap(inFolder),
  ...['README.md', 'CHANGELOG.md'],
]
const sdk = join(root, 'sdk')
const python = { PYTHONPATH: join(root, 'python'), PYTHONDONTWRITEBYTECODE: '1' }

const languages: Record<string, boolean> = {
  sh: true,
  py: isThere('python3'),
  ts: existsSync(join(sdk, 'dist/index.js')),
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const run = pages
  .filter((page) => !quickstarts.includes(page))
  .map((page) => ({ page, samples: samplesOf(read(page)) }))
  .filter(({ samples }) => samples.length > 0)

describe.each(run)('$page', ({ samples }) => {
  let runner: Runner
  beforeAll(async () => {
    const { key, api } = await service.partner({ limited: true })
    const document = '529.982.247-25'
    const { id } = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json
    for (const [asset, amount] of Object.entries({ BRL: '1000000', USDT: '2000000000', BTC: '5000000' }))
      await api.post('/v1/sandbox/deposits', { customer_id: id, asset, amount })
    const { PATH = '' } = process.env
    const own = { TRILHO_URL: service.url, TRILHO_KEY: key, CUSTOMER: id }
    runner = openRunner({ env: { PATH, ...testRun(), ...python, ...own }, sdk })
  })
  afterAll(() => runner.stop())

  for (const sample of samples) {
    test.skipIf(!languages[sample.language])(`line ${sample.line}, ${sample.language}`, async () => {
      const printed = await runner.run(sample)
      if (sample.output) assertPrinted(sample.output, printed)
    })
  }
})

test('every curl command of a guide is run', () => {
  const guides = pages.filter((page) => page.startsWith('docs/guides/'))
  const notRun = guides.flatMap((page) =>
    [...read(page).matchAll(/^```sh *\n([\s\S]*?)^```$/gm)]
      .filter(([, code]) => /^\s*(\w+=\S*\$\()?curl\b/m.test(code!))
      .map(([, code]) => `${page}: ${code}`),
  )
  expect(notRun).toEqual([])
})

test('enough of the guides is run', () => {
  const all = run.flatMap(({ samples }) => samples.map(({ language }) => language))
  for (const language of Object.keys(languages))
    expect(all.filter((one) => one === language).length, language).toBeGreaterThan(3)
  expect(samplesOf(read(quickstarts[0]!)).map(({ code }) => code)).toEqual(
    samplesOf(read(quickstarts[1]!)).map(({ code }) => code),
  )
})

/** Not among the pages at /docs. */
const ofTheRepository = ['docs/promises.md', 'docs/threat-model.md', 'docs/benchmarks.md']

test('links between pages lead to pages, and not into the repository', () => {
  const sent = pages
    .filter((page) => page.startsWith('docs/') && !ofTheRepository.includes(page))
    .flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/\]\(([^)\s#]+)/g)].map(([, target]) => ({
        page,
        target: target!,
      })),
    )
    .filter(({ target }) => !/^[a-z]+:/.test(target))
  expect(sent.length).toBeGreaterThan(50)
  const elsewhere = sent.filter(
    ({ page, target }) => !pages.includes(relative(root, join(root, dirname(page), target))),
  )
  expect(elsewhere).toEqual([])
})

test('every file that a page includes is there', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/^```\w+ file=(\S+)/gm)].map(([, path]) => path!),
  )
  expect(named.length).toBeGreaterThanOrEqual(5)
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('every magic value of the sandbox is in its guide', () => {
  const guide = read('docs/guides/sandbox.md')
  const pix = read('src/rails/pix/simulated.ts')
  const refusals = /const refusals = \[([^\]]*)\]/.exec(pix)![1]!
  const names = [
    ...[...refusals.matchAll(/'(\w+)'/g)],
    ...[...pix.matchAll(/\b(?:name|magicName\(.*?\)+) === '([a-z-]+)'/g)],
  ].map(([, name]) => name!)
  const amounts = [...read('src/rails/chain/simulated.ts').matchAll(/'(9\d{3})'/g)].map(
    ([, digits]) => digits!,
  )
  expect(new Set(names).size).toBe(15)
  expect(new Set(amounts).size).toBe(9)
  const missing = [
    ...names.map((name) => `\`${name}@sandbox.test\``),
    ...amounts.map((digits) => `\`${digits}\``),
  ]
  expect(missing.filter((value) => !guide.includes(value))).toEqual([])
})

function withoutCode(text: string): string {
  return text.replaceAll(/^```.*\n[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
}
