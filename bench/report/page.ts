import { mkdirSync, writeFileSync } from 'node:fs'
import type { Slice } from '../slices.ts'
import { loud, median, type Results, ratio, readResults } from './results.ts'
import { type Bar, barChart, dotChart } from './svg.ts'
import { type Target, targetsOf } from './targets.ts'

const FOLDER = 'docs/benchmarks'

const KEPT = 'bench/results'

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
    '## What it is to show',
    table(['', 'wanted', 'found', ''], judged),
    ...payoutSection(results),
    ...rowsSection('Deposits', results.deposits?.slices),
    ...rowsSection('Executions of quotes', results.executions?.slices),
    ...listSection(results),
    ...restSection(results),
  ]
  return `${sections.join('\n\n')}\n`
}

function opening({ payouts, lists, deposits, executions, webhooks, idle }: Results): string[] {
  const first = payouts ?? lists ?? deposits ?? executions ?? webhooks ?? idle
  if (!first) return ['Nothing was measured yet.']
  const { at, node, cores, settings } = first
  const slices = [payouts, deposits, executions, webhooks].flatMap(
    (part): readonly Slice[] => part?.slices ?? [],
  )
  const disturbed = loud(slices)
  const { driver, caller } = payouts ?? deposits ?? executions ?? {}
  return [
    'Written by `npm run bench` out of [bench/results](../bench/results). How it is measured: [bench](../bench/README.md).',
    `Run on ${at.slice(0, 10)}, Node ${node}, ${cores} cores. Little history is ${settings.small_entries} entries, much is ${settings.large_entries}.`,
    driver === 'node'
      ? '**No pgbench was found: the rows without the service were written by Node, which is slower.**'
      : 'The rows without the service were written by pgbench.',
    caller === 'wrk'
      ? 'The service was called by wrk.'
      : '**No wrk was found: the service was called by Node, which takes a part of the machine for itself.**',
    disturbed.length === 0
      ? 'Others took at most 0.3 cores in every slice below; slices in which they took more were dropped and repeated.'
      : `**${disturbed.length} of ${slices.length} slices never got quiet: others took up to ${Math.max(...disturbed.map(({ others }) => others))} cores in the quietest try. Their figures say little.**`,
  ]
}

function payoutSection({ payouts }: Results): string[] {
  if (!payouts) return []
  const { slices, server_mb, audit_ok, subscribed } = payouts
  const delivered = subscribed.map(({ events, delivered_meanwhile }) => `${delivered_meanwhile} of ${events}`)
  return [
    '## Payouts',
    'From create to `completed`; medians of the rounds, CPU for each payout.',
    '![Payouts a second](benchmarks/rates.svg)',
    '![p99 of a payout](benchmarks/p99.svg)',
    slicesTable(slices),
    `Memory of the server after the soak: ${server_mb} MB. The audit ${audit_ok ? 'holds' : '**does not hold**'}, with little and with much history.`,
    `While one endpoint listened to everything, so many events were at its receiver when the load ended: ${delivered.join(', ')}.`,
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

function listSection({ lists }: Results): string[] {
  if (!lists) return []
  const rows = [...lists.rows].sort((a, b) => b.ratio - a.ratio)
  const cells = rows.map((row) => [
    `\`${row.page}\``,
    row.small_ms.toFixed(2),
    row.large_ms.toFixed(2),
    `${row.ratio}`,
    `${row.others}`,
  ])
  return [
    '## Lists',
    '![Time of each page](benchmarks/pages.svg)',
    'Milliseconds of a page of five, medians of forty reads in turns; of 160 where forty said more than 1.15.',
    table(['page', 'little', 'much', 'much ÷ little', 'others, cores'], cells),
  ]
}

function restSection({ webhooks, idle }: Results): string[] {
  const written = Object.entries(idle?.written ?? {}).map(([name, rows]) => `${name} ${rows}`)
  return [
    ...(webhooks ? ['## Webhooks', slicesTable(webhooks.slices)] : []),
    ...(idle
      ? [
          '## Idle',
          `A node that nobody calls makes ${idle.transactions_per_second} transactions a second, writes ${idle.wal_bytes_per_second} bytes of WAL a second, and takes ${idle.busy_cores} cores. Rows a second that it writes: ${written.join(', ') || 'none'}.`,
        ]
      : []),
  ]
}

function slicesTable(slices: readonly Slice[]): string {
  const names = [...new Set(slices.map(({ name }) => name))]
  return table(
    ['', 'a second', 'p50 ms', 'p99 ms', 'server CPU ms', 'database CPU ms', 'others, cores'],
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
    'By who wrote it, with little history:',
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
