import { chmodSync, mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startReaper } from '../test/support/reaper.ts'
import { type Closing, closeAll } from './rehearsal/closing.ts'
import { openNarrator } from './rehearsal/narrator.ts'
import { parts } from './rehearsal/parts.ts'
import { renderReport } from './rehearsal/report.ts'
import { loseTheBank } from './rehearsal/scenes/bank-outage.ts'
import { closeTheDay, type DayEnd } from './rehearsal/scenes/closing-the-day.ts'
import { convertMoney } from './rehearsal/scenes/conversions.ts'
import { failOver } from './rehearsal/scenes/fail-over.ts'
import { killANode } from './rehearsal/scenes/killed-node.ts'
import { payInByPix, payInOnChains, sweepDeposits } from './rehearsal/scenes/money-in.ts'
import { payOutByPix, transferOnChains } from './rehearsal/scenes/money-out.ts'
import { openTheDay } from './rehearsal/scenes/opening.ts'
import { replaceBlocks } from './rehearsal/scenes/reorganisation.ts'
import { restoreABackup } from './rehearsal/scenes/restore.ts'
import { giveBack } from './rehearsal/scenes/returns.ts'
import { loseTheSigner } from './rehearsal/scenes/signer-away.ts'
import { verifySigner } from './rehearsal/scenes/signer-log.ts'
import { openStage, type Size, type Stage } from './rehearsal/stage.ts'

/**
 * Plays a day of a fintech on this machine, and explains every balance at the end: `npm run rehearsal`. With REHEARSAL=short it plays less
 * of everything. REPORT names the file for the report.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const is_short = process.env.REHEARSAL === 'short'
const size: Size = is_short
  ? { customers: 4, rounds: 1, during_fail_over: 6 }
  : { customers: 8, rounds: 3, during_fail_over: 30 }
const report = process.env.REPORT
  ? resolve(process.env.REPORT)
  : is_short
    ? join(tmpdir(), 'trilho-rehearsal.md')
    : join(root, 'docs/proof/rehearsal.md')

const scenes: readonly (readonly [title: string, play: (stage: Stage) => Promise<void>])[] = [
  ['The day opens: customers, addresses, own funds', openTheDay],
  ['Money in by Pix', payInByPix],
  ['Money in on five chains', payInOnChains],
  ['Conversions', convertMoney],
  ['Payouts by Pix', payOutByPix],
  ['Transfers on six chains', transferOnChains],
  ['The bank is out', loseTheBank],
  ['The signer is away', loseTheSigner],
  ['A node is killed', killANode],
  ['The database fails over', failOver],
  ['Chains replace blocks', replaceBlocks],
  ['Money goes back', giveBack],
  ['Deposits were swept into the wallet', sweepDeposits],
  ['A backup is restored', restoreABackup],
  ['The signer signed what is on the chains, and alone has the keys', verifySigner],
]

const print = (line: string) => void process.stdout.write(`${line}\n`)
const stopping = new AbortController()
const closing: Closing = []
const folder = mkdtempSync(join(tmpdir(), 'trilho-rehearsal-'))
// PostgreSQL may run as another user, who must be able to enter.
chmodSync(folder, 0o755)
// Everything that is started makes its folders below this one, and the reaper ends what is left if this process is killed.
process.env.TMPDIR = folder
process.env.TEST_RUN = startReaper(folder)

// Ctrl+C reaches this process from the terminal and from npm: only the first signal counts.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)))
// The same Ctrl+C ends the programs of the chains, and the calls of their miners, which nothing awaits, are rejected.
process.on('unhandledRejection', (error) => stopping.abort(error))

process.exitCode = await run()
process.exit()

async function run(): Promise<number> {
  const narrator = openNarrator(print, stopping.signal)
  let stage: Stage | undefined
  try {
    introduce()
    const stopped = new Promise<never>((_, reject) => {
      stopping.signal.addEventListener('abort', () => reject(stopping.signal.reason))
    })
    const playing = (async () => {
      await narrator.scene('Everything is started', async () => {
        stage = await openStage({ size, folder, narrator, closing, signal: stopping.signal })
      })
      for (const [title, play] of scenes) await narrator.scene(title, () => play(stage!))
      let end: DayEnd | undefined
      await narrator.scene('The day ends: every balance is explained', async () => {
        end = await closeTheDay(stage!)
      })
      await writeFile(report, renderReport(stage!, narrator, end!, is_short))
    })()
    playing.catch(() => {})
    await Promise.race([playing, stopped])
    print('')
    narrator.line(`The rehearsal passed. The report is in ${relative(process.cwd(), report)}`)
    return 0
  } catch (error) {
    print('')
    narrator.line(`THE REHEARSAL STOPPED: ${(error as Error).message}`)
    if (!stopping.signal.aborted || process.env.DEBUG)
      print([(error as Error).stack, ...(stage?.nodes.lastWords() ?? [])].join('\n'))
    return stopping.signal.aborted ? 130 : 1
  } finally {
    stopping.abort(new Error('the rehearsal has ended'))
    print('        Cleaning up: processes and files of the rehearsal are removed')
    await closeAll(closing, print)
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

function introduce(): void {
  print(
    'Trilho plays a day of a fintech on this machine: no network, no account and no money of yours is used.',
  )
  print(
    is_short
      ? 'This is the small size, for CI.'
      : 'It takes five to ten minutes. Ctrl+C ends it and removes everything.',
  )
  print('')
  for (const { part, is, about } of parts) print(`  ${is.padEnd(4)}  ${part}: ${about}`)
}
