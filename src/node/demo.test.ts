import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createDatabase } from '../../test/support/database.ts'
import { testEnv } from '../../test/support/service.ts'
import { readConfig } from './config.ts'
import { startService } from './serve.ts'

const folder = mkdtempSync(join(tmpdir(), 'trilho-demo-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A first start on a database of one's own, and what it printed. */
async function firstStart(data_dir: string, more: Record<string, string>) {
  const database = await createDatabase()
  let printed = ''
  const config = readConfig(testEnv(database.url, { DEMO: 'true', DATA_DIR: data_dir, ...more }))
  const service = await startService({
    config,
    print: (text) => {
      printed += text
    },
    onFatal: (error) => {
      throw error
    },
  })
  onTestFinished(async () => {
    await service.stop()
    await database.drop()
  })
  return { url: service.url, printed }
}

const SECRETS = /svc_test_sk_\w|(\w{5}-){3}\w{5}/

test('where output is collected the demo’s secrets go to a file of its owner’s, and the curl works with it', async () => {
  const data_dir = join(folder, 'collected')
  const { printed } = await firstStart(data_dir, { DEMO_SECRETS: 'file' })
  expect(printed).not.toMatch(SECRETS)
  const file = join(data_dir, 'demo.env')
  expect(printed).toContain(`\n    . ${file}\n`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(data_dir).mode & 0o777).toBe(0o700)
  expect(readFileSync(file, 'utf8')).toMatch(
    /^export TRILHO_URL=http\S+\nexport TRILHO_KEY=svc_test_sk_\w+\nexport CUSTOMER=cus_\w+\nexport PARTNER=ptn_\w+\nexport OWNER=owner@demo\.example\nexport PASSWORD=(\w{5}-){3}\w{5}\n$/,
  )
  const [source] = /^ +\. .*$/m.exec(printed)!
  const [curl] = /^ +curl .*$/m.exec(printed)!
  const { stdout } = await promisify(execFile)('sh', ['-c', `${source}; ${curl}`])
  expect(JSON.parse(stdout).data[0]).toMatchObject({ asset: 'BRL', available: '1000000' })
})

test('if they cannot be kept there, they are not printed either', async () => {
  const blocked = join(folder, 'blocked')
  writeFileSync(blocked, '')
  const { printed } = await firstStart(blocked, { DEMO_SECRETS: 'file' })
  expect(printed).not.toMatch(SECRETS)
  expect(printed).toMatch(/cannot be kept[\s\S]*npx trilho keys create[\s\S]*Trilho is ready at/)
})

test('on a machine of one’s own they are printed; under systemd, whose journal keeps them, they are not', () => {
  expect(readConfig({}).demo_secrets).toBe('print')
  expect(readConfig({ JOURNAL_STREAM: '8:12345' }).demo_secrets).toBe('file')
  expect(readConfig({ JOURNAL_STREAM: '8:12345', DEMO_SECRETS: 'print' }).demo_secrets).toBe('print')
})
