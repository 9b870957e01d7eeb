import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root, versionNow } from '../tools/packages.ts'
import { createDatabase, type TestDatabase } from './support/database.ts'
import { freePort } from './support/free-port.ts'
import { spawnServer, testEnv } from './support/service.ts'
import { testRun } from './support/test-run.ts'

/**
 * A partner's project with a lock file, and a server that is upgraded twice under it. The later versions are made as a
 * maintainer makes them, in a copy of the sources: changed, raised, generated, released, built.
 */
const place = mkdtempSync(join(tmpdir(), 'trilho-upgrades-'))
const [sources, project, home] = ['sources', 'project', 'home'].map((name) => join(place, name)) as [
  string,
  string,
  string,
]
const MADE = /(^|\/)(node_modules|dist)$|^(\.git|\.env|data|deploy\/secrets)$/
const FIRST = versionNow()
const [major, minor] = FIRST.split('.').map(Number)
const LATER = [`${major}.${minor! + 1}.0`, `${major}.${minor! + 9}.0`] as const

let database: TestDatabase
let server: Awaited<ReturnType<typeof spawnServer>> | undefined

beforeAll(async () => {
  for (const folder of [sources, project, home]) mkdirSync(folder)
  cpSync(root, sources, { recursive: true, filter: (path) => !MADE.test(relative(root, path)) })
  symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'))
  database = await createDatabase()
})
afterAll(async () => {
  await server?.kill('SIGKILL')
  await database?.drop()
  rmSync(place, { recursive: true, force: true, maxRetries: 5 })
})

const run = async (
  command: string,
  args: readonly string[],
  cwd: string,
  more: Record<string, string> = {},
) =>
  (
    await promisify(execFile)(command, args, {
      cwd,
      env: { PATH: process.env.PATH, HOME: home, ...testRun(), ...more },
      maxBuffer: 1 << 24,
    })
  ).stdout

const tool = (...args: string[]) => run(process.execPath, ['--import', 'tsx', ...args], sources)
const edit = (path: string, change: (text: string) => string) =>
  writeFileSync(join(sources, path), change(readFileSync(join(sources, path), 'utf8')))

/** An empty cache and no registry: whatever npm needs, the server serves. */
let caches = 0
const npm = (...args: string[]) =>
  run('npm', args, project, {
    npm_config_cache: join(place, `cache-${++caches}`),
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  })

/** One port for all of them: the lock file of the project names it. */
const port = String(await freePort())

/** The server of the sources as they are, on the port of the one before. */
async function serve(): Promise<string> {
  await tool('site/build.ts')
  await server?.kill('SIGTERM')
  server = await spawnServer(testEnv(database.url, { PORT: port }), sources)
  return server.url
}

async function raiseTo(version: string): Promise<void> {
  for (const path of ['package.json', 'sdk/package.json', 'cli/package.json'])
    edit(path, (text) => text.replace(/"version": "[^"]+"/, `"version": "${version}"`))
  await tool('tools/generate.ts')
  await tool('tools/pack.ts')
  await tool('tools/pack.ts', '--release')
  await tool('tools/pack.ts', '--check')
}

const installed = () => readFileSync(join(project, 'node_modules/@trilho/sdk/package.json'), 'utf8')

test('a changed source without a raised version fails the check', { timeout: 300_000 }, async () => {
  await tool('tools/pack.ts', '--release')
  await tool('tools/pack.ts', '--check')
  edit('sdk/src/money.ts', (text) => `${text}\nexport const later = 1\n`)
  const said = await tool('tools/pack.ts', '--check').catch((error: { stderr: string }) => error.stderr)
  expect(said).toMatch(
    /The sources of trilho-sdk-\S+ changed after version \S+ was released\. Raise the version/,
  )
  // The sources of the command line have the SDK in them, but not this export.
  const stored = await tool('tools/pack.ts').catch((error: { stderr: string }) => error.stderr)
  expect(stored).toMatch(/Raise the version/)
  edit('sdk/src/money.ts', (text) => text.replace('\nexport const later = 1\n', ''))
  await tool('tools/pack.ts', '--check')
})

test('npm ci with a lock file of the first version still works after two upgrades of the server', {
  timeout: 600_000,
}, async () => {
  const url = await serve()
  const address = `${url}/docs/trilho-sdk-${FIRST}.tgz`
  writeFileSync(join(project, 'package.json'), '{ "name": "partner", "version": "1.0.0" }\n')
  await npm('install', address)
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  expect(lock.packages['node_modules/@trilho/sdk']).toMatchObject({ version: FIRST, resolved: address })
  const before = installed()
  for (const version of LATER) {
    edit('sdk/src/money.ts', (text) => `${text}\nexport const since_${version.replaceAll('.', '_')} = true\n`)
    await raiseTo(version)
    expect(await serve()).toBe(url)
    rmSync(join(project, 'node_modules'), { recursive: true })
    await npm('ci')
    expect(installed()).toBe(before)
    const newest = await fetch(`${url}/docs/trilho-sdk.tgz`, { redirect: 'manual' })
    expect(newest.headers.get('location')).toBe(`/docs/trilho-sdk-${version}.tgz`)
  }
  // All three beside each other, and the page names the newest.
  for (const version of [FIRST, ...LATER])
    for (const name of ['sdk', 'cli'])
      expect((await fetch(`${url}/docs/trilho-${name}-${version}.tgz`)).status).toBe(200)
  expect(await (await fetch(`${url}/docs/sdk.md`)).text()).toContain(`trilho-sdk-${LATER[1]}.tgz`)
  await npm('install', `${url}/docs/trilho-sdk-${LATER[1]}.tgz`)
  const program = "console.log(require('@trilho/sdk').units('1.00', 'BRL'))"
  expect(await run(process.execPath, ['-e', program], project)).toBe('100n\n')
})
