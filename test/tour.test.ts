import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCpf } from '../src/core/document.ts'
import { compiledCli } from './support/compiled.ts'
import { startTestService, type TestService, testEnv } from './support/service.ts'

/** The commands of the README's tour and of the quickstart, as a reader pastes them, against a service that has a demo. */
const root = fileURLToPath(new URL('..', import.meta.url))
let service: TestService
let folder: string
let env: Record<string, string>
let ports: { api: string; receiver: string }

beforeAll(async () => {
  service = await startTestService()
  folder = mkdtempSync(join(tmpdir(), 'trilho-tour-'))
  ports = { api: new URL(service.url).port, receiver: String(await freePort()) }
  const partner = await service.partner()
  const customer = await partner.api.post('/v1/customers', {
    name: 'Ana Souza',
    document: makeCpf('529982247'),
  })
  for (const [asset, amount] of [
    ['BRL', '1000000'],
    ['USDT', '2000000000'],
    ['BTC', '5000000'],
  ])
    await partner.api.post('/v1/sandbox/deposits', { customer_id: customer.json.id, asset, amount })
  env = {
    ...testEnv(service.database.url, { HOST: '127.0.0.1', PORT: ports.api }),
    PATH: process.env.PATH!,
    KEY: partner.key,
    CUSTOMER: customer.json.id,
    CLI: await compiledCli(),
  }
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as { port: number }
  await new Promise((resolve) => listener.close(resolve))
  return port
}

/** The blocks of shell commands under the headings from one to another, without those that start and test the project. */
function blocksOf(path: string, from: string, to: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  const part = text.slice(text.indexOf(`## ${from}`), text.indexOf(`## ${to}`))
  return [...part.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, block]) => block!.replaceAll(/^(KEY|CUSTOMER)=.*…$/gm, '').trim())
    .filter((block) => block !== '' && !block.startsWith('npm '))
}

/** Runs the blocks one after the other in one shell's variables. `qt_…` stands for the last such id that was printed. */
async function paste(blocks: readonly string[]): Promise<string[]> {
  let variables = env
  let printed = ''
  const outputs: string[] = []
  for (const block of blocks) {
    const filled = block
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.api}`)
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${ports.receiver}`)
      .replaceAll('node examples', `PORT=${ports.receiver} node examples`)
      .replaceAll(
        /\b([a-z]+_)…/g,
        (_, prefix) => printed.match(new RegExp(`${prefix}[0-9a-z]{26}`, 'g'))!.at(-1)!,
      )
    const state = join(folder, 'variables')
    const script = `set -ae\nnpx() { shift; '${process.execPath}' "$CLI" "$@"; }\n${filled}\nwait\nenv -0 > '${state}'`
    const output = await new Promise<string>((resolve, reject) =>
      execFile('bash', ['-c', script], { cwd: root, env: variables }, (error, out, err) =>
        error ? reject(new Error(`${block}\n${out}\n${err}`)) : resolve(out),
      ),
    )
    printed += output
    outputs.push(output)
    const lines = readFileSync(state, 'utf8').split('\0').filter(Boolean)
    variables = Object.fromEntries(
      lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]),
    )
  }
  return outputs
}

const repeats = (text: string) => [...text.matchAll(/^idempotent-replayed: true/gim)].length

describe('pasted', () => {
  test.each([['once'], ['twice']])('%s, the tour of the README works', async (time) => {
    const blocks = blocksOf('README.md', 'Tour', 'Call it')
    expect(blocks).toHaveLength(3)
    const [customer, payouts, webhook] = await paste(blocks)
    expect(customer).toMatch(/"id":"dep_\w+".*"status":"completed"/)
    expect(customer).toMatch(/"asset":"BRL","available":"\d+"/)
    expect(payouts!.match(/HTTP\/1.1 201/g)).toHaveLength(2)
    expect(repeats(payouts!)).toBe(time === 'once' ? 1 : 2)
    expect(new Set(payouts!.match(/^\{.*\}/gm)).size).toBe(1)
    expect(payouts).toMatch(/"status":"completed"/)
    expect(webhook!.match(/verified pix\.payout\.completed po_\w+/g)).toHaveLength(1)
    expect(webhook).not.toContain('refused')
  })

  test.each([['once'], ['twice']])('%s, the quickstart works', async (time) => {
    const blocks = blocksOf('docs/quickstart.md', '1. Start', 'Where to go next')
    const text = (await paste(blocks)).join('\n')
    expect(text).toMatch(/"id":"dep_\w+"/)
    expect(text).toMatch(/"id":"po_\w+".*"status":"completed"/)
    expect(text).toMatch(/"id":"td_\w+".*"status":"completed"/)
    expect(text).toContain('all checks hold')
    const errors = [...text.matchAll(/"error":\{"type":"\w+","code":"(\w+)"/g)].map(([, code]) => code)
    expect(errors).toEqual(time === 'once' ? [] : ['customer_exists'])
  })
})
