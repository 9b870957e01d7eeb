import { rounded } from '../slices.ts'
import { type Field, median, type Results, ratio } from './results.ts'

export type Target = {
  readonly what: string
  readonly wanted: string
  readonly found: string
  /** Undefined if it was not measured. */
  readonly met: boolean | undefined
}

type Limit = readonly [sign: '≥' | '≤' | '<', limit: number, unit: string]

/** The targets, and whether the last run met them. */
export const targetsOf = (results: Results): Target[] => [
  ...speed(results),
  ...size(results),
  ...history(results),
  ...behind(results),
]

function judge(what: string, [sign, limit, unit]: Limit, found: number | undefined): Target {
  const wanted = `${sign} ${limit}${unit}`
  if (found === undefined || !Number.isFinite(found))
    return { what, wanted, found: 'not measured', met: undefined }
  const met = sign === '≥' ? found >= limit : sign === '≤' ? found <= limit : found < limit
  return { what, wanted, found: `${found}${unit}`, met }
}

function speed({ payouts }: Results): Target[] {
  const slices = payouts?.slices
  const of = (a: string, b: string, field: Field) => slices && ratio(slices, a, b, field)
  const [http, rate] = ['64 connections', 'per_second'] as const
  return [
    judge(
      'payouts at 64 connections ÷ yardstick at 16 clients',
      ['≥', 2.2, ''],
      of(http, 'yardstick, 16 clients', rate),
    ),
    judge(
      'payouts at 64 connections ÷ own rows at 16 clients',
      ['≥', 1.8, ''],
      of(http, 'own rows, 16 clients', rate),
    ),
    judge('p99 at 64 connections', ['<', 60, ' ms'], slices && median(slices, http, 'p99')),
    judge('payouts at 256 connections ÷ at 64', ['≥', 1, ''], of('256 connections', http, rate)),
    judge(
      'p50 of a single payout ÷ yardstick with one client',
      ['≤', 1.8, ''],
      of('1 connection', 'yardstick, 1 client', 'p50'),
    ),
  ]
}

function size({ payouts }: Results): Target[] {
  const written = payouts?.written.small
  /** A table without updates counts as fully HOT. */
  const hot = (table: string) => written && rounded((written.hot[table] ?? 1) * 100, 1)
  return [
    judge('WAL of a payout', ['≤', 7000, ' bytes'], written && Math.round(written.payout.bytes)),
    judge('index entries of a payout', ['≤', 24, ''], written && rounded(written.payout.index_entries, 1)),
    judge('updates of payouts that are HOT', ['≥', 95, ' %'], hot('payouts')),
    judge('updates of claims that are HOT', ['≥', 95, ' %'], hot('claims')),
    judge(
      'disk space of a million payouts',
      ['≤', 4.5, ' GB'],
      payouts && rounded(payouts.disk.payout / 1000, 2),
    ),
  ]
}

function history({ payouts, lists }: Results): Target[] {
  const rate =
    payouts && ratio(payouts.slices, '64 connections, much history', '64 connections', 'per_second')
  const slowest = lists && Math.max(...lists.rows.map((row) => row.ratio))
  return [
    judge('payouts a second with much history ÷ with little', ['≥', 0.85, ''], rate),
    judge('slowest-growing page, much history ÷ little', ['≤', 1.15, ''], slowest),
  ]
}

function behind({ webhooks, idle }: Results): Target[] {
  const of = (name: string, field: Field) => webhooks && median(webhooks.slices, name, field)
  const rows = idle && Object.values(idle.written).reduce((sum, each) => sum + each, 0)
  return [
    judge(
      'webhooks to one endpoint',
      ['≥', 3000, ' a second'],
      of('one endpoint, all history again', 'per_second'),
    ),
    judge('lag of a single event, p99', ['<', 20, ' ms'], of('lag of lone events', 'p99')),
    judge('transactions of an idle node', ['≤', 10, ' a second'], idle?.transactions_per_second),
    judge(
      'rows written by an idle node',
      ['≤', 0, ' a second'],
      rows === undefined ? rows : rounded(rows, 2),
    ),
  ]
}
