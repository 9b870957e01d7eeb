import { type Area, areas, type LineState } from '../../control/golive/check.ts'
import { blocks, type GoliveLine, judgeGolive } from '../../control/golive/report.ts'
import { gatherGolive } from '../../node/golive/gather.ts'
import type { Input, Output, Reach } from '../command.ts'
import { exit } from '../exit.ts'

const titles: Readonly<Record<Area, string>> = {
  settings: 'Settings',
  rails: 'Rails and prices',
  round_trips: 'First payments',
  people: 'Operators',
  database: 'Database, backups and disks',
  watching: 'Metrics, alerts, mail and audit',
  clock: 'Clock',
}

const marks: Readonly<Record<LineState, string>> = {
  ok: 'ok',
  red: 'RED',
  unknown: 'UNKNOWN',
  unused: 'not used',
}

/** Reads only: whoever is at the shell of the service may look, as with other lists. */
export async function golive(input: Input, { url, shared, worlds, remote_signer }: Reach): Promise<Output> {
  const { config, io } = input
  io.progress('Asking rails, database and alerts …')
  const local_url = (await input.findLocalServer()) ?? addressOf(config)
  const facts = await gatherGolive({
    ...{ config, worlds, shared, remote_signer, database_url: url, local_url },
  })
  const { at, is_ready, lines } = judgeGolive(facts)
  io.progress('')
  const shown = input.options.red === true ? lines.filter(blocks) : lines
  return {
    json: { ok: is_ready, at, data: shown },
    text: `${areas.map((area) => areaText(area, shown)).join('')}${summaryOf(lines)}`,
    rows: shown.map(({ area, check, subject, state, found, to_do }) => ({
      ...{ area, check, subject, state, found, to_do },
    })),
    exit_code: is_ready ? exit.done : exit.refused,
  }
}

/** A service with an own PostgreSQL does not tell this machine its port, so it is that of the settings. */
function addressOf({ host, port }: Input['config']): string | undefined {
  if (port === 0) return undefined
  const near = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`
}

const MARK_WIDTH = 10
const INDENT = ' '.repeat(MARK_WIDTH)

function areaText(area: Area, lines: readonly GoliveLine[]): string {
  const own = lines.filter((line) => line.area === area)
  return own.length === 0 ? '' : `${titles[area]}\n${own.map(lineText).join('')}\n`
}

function lineText(line: GoliveLine): string {
  const { state, about, subject, found, to_do, commands } = line
  const title = subject === null ? about : `${subject}: ${about}`
  return [
    `${marks[state].padEnd(MARK_WIDTH)}${title}`,
    `${INDENT}${found}`,
    ...(to_do === null ? [] : [`${INDENT}→ ${to_do}`]),
    ...commands.map((command) => `${INDENT}    ${command}`),
  ]
    .map((text) => `  ${text}\n`)
    .join('')
}

function summaryOf(lines: readonly GoliveLine[]): string {
  const red = lines.filter(blocks).length
  if (red === 0) return `All ${lines.length} lines are good. You can go live.\n`
  return `${red} of ${lines.length} lines are red or unknown. Do what each of them says, and run trilho golive again.\n`
}
