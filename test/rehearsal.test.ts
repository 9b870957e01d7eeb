import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect } from 'vitest'
import { bitcoinTest as test } from './chains/bitcoin-node.ts'

/** `npm run rehearsal` at its small size, as a stranger runs it. */
const root = fileURLToPath(new URL('..', import.meta.url))
const PATIENCE_MS = 1_800_000

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function startRehearsal() {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-rehearsed-'))
  closing.push(() => rm(folder, { recursive: true, force: true }))
  const report = join(folder, 'report.md')
  const child = spawn(process.execPath, ['--import', 'tsx', 'tools/rehearsal.ts'], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder, REHEARSAL: 'short', REPORT: report },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      printed += chunk
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, ended, report, folder, printed: () => printed }
}

test(
  'a day of a fintech is played, and every balance is explained in the report',
  async () => {
    const { ended, report, printed } = await startRehearsal()
    expect(await ended, printed()).toBe(0)
    expect(printed()).toMatch(/^ {2}stub {2}Efí/m)
    expect(printed()).toMatch(/The rehearsal passed\. The report is in \S+report\.md/)
    expect(printed()).not.toContain('\u001b')
    const page = await readFile(report, 'utf8')
    expect(page).toContain('**Passed: 17 scenes at the small size**')
    expect(page).toMatch(/no key is in the services’ settings, environment, logs/)
    for (const rail of ['pix', 'ethereum', 'polygon', 'arbitrum', 'optimism', 'bitcoin', 'tron'])
      expect(page).toMatch(new RegExp(`^\\| ${rail} \\| \\w+ \\| ([0-9.,]+) \\| \\1 \\| 0 \\|$`, 'm'))
    for (const asset of ['BRL', 'USDT', 'BTC'])
      expect(page).toMatch(new RegExp(`^\\| Ana Souza \\| ${asset} \\|`, 'm'))
  },
  PATIENCE_MS,
)
