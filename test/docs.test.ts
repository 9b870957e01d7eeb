import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { commands as declared } from '../src/cli/commands/all.ts'
import { help as helpOf } from '../src/cli/help.ts'
import { optionsOf } from '../src/cli/shared-options.ts'

/** What the documents name must exist: files and their headings, scripts, commands with their options, settings. */
const root = fileURLToPath(new URL('..', import.meta.url))
const SKIPPED = /^(\..*|node_modules|dist|data)$/

type Document = {
  readonly path: string
  readonly text: string
  /** Without fenced blocks and inline code. */
  readonly prose: string
  /** Fenced blocks line by line, and each piece of inline code. */
  readonly code: readonly string[]
}

const documents = markdownIn(root).map(read)

function markdownIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !SKIPPED.test(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return markdownIn(path)
      return entry.name.endsWith('.md') ? [path] : []
    })
}

function read(path: string): Document {
  const text = readFileSync(path, 'utf8')
  const fenced = /^```.*\n([\s\S]*?)^```$/gm
  const inline = /`([^`\n]+)`/g
  const blocks = [...text.matchAll(fenced)].flatMap(([, block]) => block!.split('\n'))
  const open = text.replaceAll(fenced, '')
  const pieces = [...open.matchAll(inline)].map(([, piece]) => piece!)
  return { path, text, prose: open.replaceAll(inline, ''), code: [...blocks, ...pieces] }
}

const nameOf = ({ path }: Document) => relative(root, path)

/** Headings as links address them. */
function anchorsOf(path: string): Set<string> {
  const { text } = read(path)
  const seen = new Map<string, number>()
  const headings = text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)
  return new Set(
    [...headings].map(([, heading]) => {
      const slug = heading!
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-')
      const before = seen.get(slug) ?? 0
      seen.set(slug, before + 1)
      return before === 0 ? slug : `${slug}-${before}`
    }),
  )
}

/** The list of commands as a person gets it. */
const help = helpOf(declared)

test('there are documents to check', () => {
  const names = documents.map(nameOf)
  for (const name of [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'docs/quickstart.md',
  ])
    expect(names).toContain(name)
  expect(names.filter((name) => name.startsWith('docs/guides/')).length).toBeGreaterThanOrEqual(6)
  expect(names.filter((name) => name.startsWith('docs/decisions/')).length).toBeGreaterThanOrEqual(11)
})

describe.each(documents.map((document) => [nameOf(document), document] as const))('%s', (_, document) => {
  test('has links that lead somewhere', () => {
    const targets = [...document.prose.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target]) => target!)
    const broken = targets.filter((target) => {
      if (/^[a-z]+:/.test(target)) return false
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? document.path : join(dirname(document.path), decodeURI(file))
      if (!existsSync(path)) return true
      return anchor !== undefined && !(path.endsWith('.md') && anchorsOf(path).has(anchor))
    })
    expect(broken).toEqual([])
  })
})

test('every decision has a date, a status and its line in the index', () => {
  const decisions = documents.filter((document) => /^docs\/decisions\/\d/.test(nameOf(document)))
  const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8')
  const unlisted = decisions.filter(({ path, text }) => {
    const head =
      /^# (\d{4})\. (.+)\n\nDate: (\d{4}-\d\d-\d\d) · Status: (accepted|superseded by \d{4})\n/.exec(text)
    if (!head) return true
    const [, number, title, date, status] = head
    return !index.includes(`| [${number}](${basename(path)}) ${title} | ${date} | ${status} |`)
  })
  expect(unlisted.map(nameOf)).toEqual([])
})

test('every npm script that is named exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const named = documents.flatMap((document) =>
    [...document.text.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(start|test)\b)/g)].map(
      ([, script, short]) => ({ in: nameOf(document), script: script ?? short! }),
    ),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(({ script }) => scripts[script] === undefined)).toEqual([])
})

test('no page for partners runs npx with a name that is not ours', () => {
  const isForPartners = (name: string) => /^(docs\/guides\/|docs\/sdk\.md|sdk\/README\.md)/.test(name)
  const pages = documents.filter((document) => isForPartners(nameOf(document)))
  expect(pages.length).toBeGreaterThan(10)
  expect(pages.filter(({ text }) => /\bnpx (?!--no-install )trilho\b/.test(text)).map(nameOf)).toEqual([])
})

describe('every trilho command that is named', () => {
  const listed = declared.map(({ name }) => name)
  const groups = listed.flatMap((name) => (name.includes(' ') ? [name.split(' ')[0]!] : []))
  const known = new Set([...listed, ...groups, 'help'])
  const typed =
    /(?:\bnpx trilho|\bbin\/trilho\.js|(?<![\w./:@"-]|\bexec |\bfrom |-n )trilho) ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?([^|)]*)/g
  const named = documents.flatMap((document) =>
    document.code.flatMap((line) =>
      [...line.matchAll(typed)].map(([text, first, second, rest]) => ({
        in: nameOf(document),
        text,
        name: known.has(`${first} ${second}`) ? `${first} ${second}` : first!,
        options: [...rest!.matchAll(/(?<=\s)--[a-z-]+/g)].map(([option]) => option),
      })),
    ),
  )

  test('exists', () => {
    expect(listed.length).toBeGreaterThan(15)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ name }) => !known.has(name))).toEqual([])
  })

  test('takes the options that it is named with', () => {
    const options = new Map(declared.map((command) => [command.name, Object.keys(optionsOf(command))]))
    for (const name of listed) expect(help).toContain(`  ${name} `)
    const takes = (name: string, option: string) =>
      ['--help', ...(options.get(name) ?? []).map((own) => `--${own}`)].includes(option)
    expect(named.filter((one) => one.options.some((option) => !takes(one.name, option)))).toEqual([])
  })
})

test('every setting that is named is in .env.example', () => {
  const example = readFileSync(join(root, '.env.example'), 'utf8')
  const settings = new Set(
    [...example.matchAll(/\b[A-Z][A-Z0-9_]*(?==)|\w+_FILE(?=\.)/g)].map(([name]) => name),
  )
  // Read by single commands or by tests, or set by the reader for the examples; assets in the options of a command.
  const others = new Set([
    ...[
      'OPERATOR_PASSWORD',
      'TRILHO_KEY',
      'TRILHO_URL',
      'TRILHO_PROFILE',
      'CRASH_AT',
      'REHEARSAL',
      'CUSTOMER',
      'FIELD',
      'NAME',
    ],
    ...['OPERATOR_CODE', 'XDG_CONFIG_HOME', 'NO_COLOR'],
    ...['USDT', 'BTC'],
    // Of Node itself.
    'NODE_EXTRA_CA_CERTS',
    ...['CHARGE', 'PAYOUT', 'TRILHO_WEBHOOK_SECRET', 'SNIPPETS', 'ORDERS', 'SHOP_NAME'],
    ...['BODY', 'FIRST', 'AGAIN', 'CURSOR'],
  ])
  const guides = documents.filter((document) => !nameOf(document).startsWith('test/'))
  const named = guides.flatMap((document) => {
    const underscored = [...document.text.matchAll(/(?<![\w-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)/g)]
    const assigned = document.code.flatMap((line) => [...line.matchAll(/(?<![\w-])[A-Z][A-Z0-9_]*(?==)/g)])
    return [...underscored, ...assigned].map(([name]) => ({ in: nameOf(document), name }))
  })
  expect(settings.size).toBeGreaterThan(10)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(({ name }) => !settings.has(name) && !others.has(name))).toEqual([])
})
