import { mkdirSync, writeFileSync } from 'node:fs'
import type { Slice } from '../slices.ts'
import { loud, median, type Results, ratio, readResults } from './results.ts'
import { type Bar, barChart, dotChart } from './svg.ts'
import { type Target, targetsOf } from './targets.ts'

const FOLDER = 'docs/benchmarks'

const KEPT = 'bench/results'

/** How many pages of lists the table shows. */
const SLOWED = 20

/** Prints which targets were met, and writes docs/benchmarks.md and its charts from the stored results. */
export function writeReport(folder: string): void {
  const results = readResults(folder)
  const targets = targetsOf(results)
  console.log('')
  for (const { what, wanted, found, met } of targets)
    console.log(`${wordOf(met).padEnd(12)} ${what}: ${found} (${wanted})`)
  if (folder !== KEPT) return
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, svg] of Object.entries(chartsOf(results))) writeFileSync(`${FOLDER}/${name}.svg`, svg)
  writeFileSync('docs/benchmarks.md', pageOf(results, targets))
}

const wordOf = (met: boolean | undefined) => (met === undefined ? 'not measured' : met ? 'met' : 'not met')

function chartsOf({ payouts, lists }: Results): Record<string, string> {
  const charts: Record<string, string> = {}
  if (payouts) {
    const { slices, written } = payouts
    const names = [...new Set(slices.map(({ name }) => name))].filter((name) => !/^(1 |.*, 1 )/.test(name))
    const bar =
      (field: 'per_second' | 'p99', unit: string) =>
      (name: string): Bar => {
        const value = median(slices, name, field)
        return {
          label: name,
          value,
          text: `${Math.round(value)}${unit}`,
          other: /yardstick|own rows/.test(name),
        }
      }
    charts.rates = barChart('Payouts a second', names.map(bar('per_second', '')))
    charts.p99 = barChart('p99 of a payout', names.map(bar('p99', ' ms')), { value: 60, text: '60 ms' })
    const tables = Object.entries(written.small.by_table).sort(([, a], [, b]) => b.bytes - a.bytes)
    charts.wal = barChart(
      'WAL of a payout by table, bytes',
      tables
        .filter(([name, { bytes }]) => bytes >= 10 && !name.startsWith('pg_'))
        .map(([label, { bytes }]) => ({
          label,
          value: Math.round(bytes),
          other: /^(requests|daily|api_key_uses)/.test(label),
        })),
    )
  }
  if (lists)
    charts.pages = dotChart(
      'Time of each page with much history ÷ with little',
      lists.rows.map((row) => row.ratio),
      { value: 1.15, text: '1.15' },
    )
  return charts
}

function pageOf(results: Results, targets: readonly Target[]): string {
  const judged = targets.map(({ what, wanted, found, met }) => [
    what,
    wanted,
    found,
    met ? 'met' : `**${wordOf(met)}**`,
  ])
  const sections = [
    '# Benchmarks',
    ...opening(results),
    '## Targets',
    table(['figure', 'target', 'measured', ''], judged),
    ...payoutSection(results),
    ...rowsSection('Deposits', results.deposits?.slices),
    ...rowsSection('Executions of quotes', results.executions?.slices),
    ...transferSection(results),
    ...listSection(results),
    ...restSection(results),
  ]
  return `${sections.join('\n\n')}\n`
}

function opening({ payouts, lists, deposits, executions, transfers, webhooks, idle }: Results): string[] {
  const first = payouts ?? lists ?? deposits ?? executions ?? transfers ?? webhooks ?? idle
  if (!first) return ['No results are stored yet. Run `npm run bench`.']
  const { at, node, cores, settings } = first
  const slices = [payouts, deposits, executions, transfers, webhooks].flatMap(
    (part): readonly Slice[] => part?.slices ?? [],
  )
  const disturbed = loud(slices)
  const { driver, caller } = payouts ?? deposits ?? executions ?? {}
  return [
    '`npm run bench` writes this page from [bench/results](../bench/results). The method is in [bench](../bench/README.md).',
    `Measured on ${at.slice(0, 10)} with Node ${node} on ${cores} cores. "Little history" is a database with ${settings.small_entries} entries, "much history" one with ${settings.large_entries}. The *yardstick* is a frozen schema that pays with plain SQL; the *own rows* are the rows that the service writes today, also written with plain SQL.`,
    driver === 'node'
      ? '**pgbench was not found: Node wrote the yardstick and the own rows, and is slower.**'
      : 'pgbench wrote the yardstick and the own rows.',
    caller === 'wrk'
      ? 'wrk called the service.'
      : '**wrk was not found: Node called the service, and took CPU from the server.**',
    disturbed.length === 0
      ? 'Other processes used at most 0.3 cores during every measurement below. A measurement with more was dropped and repeated.'
      : `**Other processes disturbed ${disturbed.length} of ${slices.length} measurements in every try, with up to ${Math.max(...disturbed.map(({ others }) => others))} cores in the best try. Do not rely on their figures.**`,
  ]
}

function payoutSection({ payouts }: Results): string[] {
  if (!payouts) return []
  const { slices, server_mb, audit_ok, subscribed } = payouts
  const delivered = subscribed.map(({ events, delivered_meanwhile }) => `${delivered_meanwhile} of ${events}`)
  return [
    '## Payouts',
    'A payout is measured from the create call to `completed`. Figures are medians over the rounds; CPU is per payout.',
    '![Payouts a second](benchmarks/rates.svg)',
    '![p99 of a payout](benchmarks/p99.svg)',
    slicesTable(slices),
    `Memory of the server after the soak: ${server_mb} MB (under mixed load: [proof/memory](proof/memory.md)). The audit ${audit_ok ? 'found nothing' : '**has findings**'}, with little and with much history.`,
    `With one webhook endpoint subscribed to everything, the receiver had these events when the load ended, round by round: ${delivered.join(', ')}. Events of an earlier round may arrive in the next.`,
    '### What a payout writes',
    '![WAL of a payout by table](benchmarks/wal.svg)',
    writtenTables(payouts),
  ]
}

function rowsSection(title: string, slices: readonly Slice[] | undefined): string[] {
  if (!slices) return []
  const of = (other: string) => ratio(slices, '64 connections', other, 'per_second')
  const ratios = `64 connections ÷ yardstick: ${of('yardstick, 16 clients')}. ÷ own rows: ${of('own rows, 16 clients')}.`
  return [`## ${title}`, ratios, slicesTable(slices)]
}

function transferSection({ transfers }: Results): string[] {
  if (!transfers) return []
  const { slices, count, blocks_per_second, depth, audit_ok } = transfers
  const of = (field: 'per_second' | 'p50' | 'p99', end: string) =>
    ratio(slices, `anvil, ${end}`, `simulated, ${end}`, field)
  return [
    '## Transfers on a chain',
    `${count} transfers of USDT at once, by one node from one wallet, on anvil over loopback with two endpoints and ${blocks_per_second} blocks a second; a transfer is confirmed at a depth of ${depth} blocks. At most 16 nonces of the wallet are open at once, so the time of a block bounds the rate. Beside it the same orders on the simulated rail, which broadcasts and confirms at once. Times are from acceptance; to the first broadcast is to the stored state \`processing\`.`,
    slicesTable(slices),
    `anvil ÷ simulated: ${of('per_second', 'to confirmed')} of the transfers a second; p50 to the first broadcast ${of('p50', 'to broadcast')}, p99 ${of('p99', 'to broadcast')}. The audit ${audit_ok ? 'found nothing' : '**has findings**'}.`,
  ]
}

function listSection({ lists }: Results): string[] {
  if (!lists) return []
  const rows = [...lists.rows].sort((a, b) => b.ratio - a.ratio)
  const cells = rows
    .slice(0, SLOWED)
    .map((row) => [
      `\`${row.page}\``,
      row.small_ms.toFixed(2),
      row.large_ms.toFixed(2),
      `${row.ratio}`,
      `${row.others}`,
    ])
  return [
    '## Lists',
    '![Time of each page](benchmarks/pages.svg)',
    `Milliseconds for a page of five rows: medians of 40 alternating reads, or of 160 where 40 gave a ratio above 1.15. ${rows.length} pages were measured; the ${SLOWED} that history slows most are below, all are in [bench/results/lists.json](../bench/results/lists.json). The rows and blocks that a page reads are in [proof/lists](proof/lists.md).`,
    table(['page', 'little history', 'much history', 'much ÷ little', 'other processes, cores'], cells),
  ]
}

function restSection({ webhooks, idle }: Results): string[] {
  const written = Object.entries(idle?.written ?? {}).map(([name, rows]) => `${name} ${rows}`)
  return [
    ...(webhooks ? ['## Webhooks', slicesTable(webhooks.slices)] : []),
    ...(idle
      ? [
          '## Idle',
          `A node without requests makes ${idle.transactions_per_second} transactions a second, writes ${idle.wal_bytes_per_second} bytes of WAL a second, and uses ${idle.busy_cores} cores. Rows written per second: ${written.join(', ') || 'none'}.`,
        ]
      : []),
  ]
}

function slicesTable(slices: readonly Slice[]): string {
  const names = [...new Set(slices.map(({ name }) => name))]
  return table(
    ['', 'a second', 'p50 ms', 'p99 ms', 'server CPU ms', 'database CPU ms', 'other processes, cores'],
    names.map((name) => [
      name,
      ...(['per_second', 'p50', 'p99', 'server_ms', 'database_ms'] as const).map((field) =>
        String(median(slices, name, field)),
      ),
      slices
        .filter((slice) => slice.name === name)
        .map(({ others }) => others)
        .join(', '),
    ]),
  )
}

function writtenTables({ written, disk }: NonNullable<Results['payouts']>): string {
  const amounts = (
    name: string,
    each: { records: number; bytes: number; full_page_bytes: number; index_entries: number },
  ) =>
    [name, each.records, Math.round(each.bytes), Math.round(each.full_page_bytes), each.index_entries].map(
      String,
    )
  const head = ['WAL records', 'WAL bytes', 'of them full pages', 'index entries']
  const writers = (of: typeof written.small) =>
    Object.entries(of.by_writer).map(([name, each]) => amounts(name, each))
  const hot = (of: typeof written.small, name: string) =>
    of.hot[name] === undefined ? '' : `${Math.round(of.hot[name] * 100)} %`
  return [
    'By writer, with little history:',
    table(['', ...head], writers(written.small)),
    'The same with much history:',
    table(['', ...head], writers(written.large)),
    'By table, with little history:',
    table(
      ['', ...head, 'inserts', 'updates', 'HOT', 'bytes on disk'],
      Object.entries(written.small.by_table)
        .filter(([, { records }]) => records >= 0.01)
        .map(([name, each]) => [
          ...amounts(name, each),
          String(each.inserts),
          String(each.updates),
          hot(written.small, name),
          String(disk.by_table[name] ?? 0),
        ]),
    ),
  ].join('\n\n')
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
