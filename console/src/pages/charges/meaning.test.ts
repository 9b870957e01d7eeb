import { expect, test } from 'vitest'
import { kindsOf, meaningsOf } from './meaning.ts'

const expires_at = '2026-11-15T13:00:00.000Z'
const in_time = '2026-11-15T12:10:00.000Z'
const too_late = '2026-11-15T13:10:00.000Z'
const paid = (amount: string, paid_at = in_time, deposit: object | null = {}) => ({
  amount,
  paid_at,
  deposit,
})
const charge = (status: 'open' | 'paid' | 'expired', amount_received: string, paid_at?: string) => ({
  status,
  amount: '1050',
  amount_received,
  expires_at,
  ...(paid_at === undefined ? {} : { paid_at }),
})

test('each payment has a name: whole, part, rest, more, again, late', () => {
  const kinds = (...payments: ReturnType<typeof paid>[]) =>
    kindsOf(charge('open', '0'), payments).map(({ kind, late }) => (late ? `${kind} late` : kind))
  expect(kinds(paid('1050'))).toEqual(['whole'])
  expect(kinds(paid('400'), paid('650'))).toEqual(['part', 'rest'])
  expect(kinds(paid('400'), paid('651'))).toEqual(['part', 'more'])
  expect(kinds(paid('2000'))).toEqual(['more'])
  expect(kinds(paid('1050'), paid('1050', too_late))).toEqual(['whole', 'again late'])
  expect(kinds(paid('400', in_time, null), paid('1050'))).toEqual(['waits', 'whole'])
})

test('a charge that was paid as asked needs no words', () => {
  expect(meaningsOf(charge('open', '0'), [])).toEqual([])
  expect(meaningsOf(charge('paid', '1050', in_time), [paid('1050')])).toEqual([])
})

test('partial, double and late payments, and none at all, are explained', () => {
  expect(meaningsOf(charge('open', '400'), [paid('400')])).toEqual([{ kind: 'part_open', missing: '650' }])
  expect(meaningsOf(charge('expired', '400'), [paid('400')])).toEqual([
    { kind: 'part_expired', missing: '650' },
  ])
  expect(meaningsOf(charge('expired', '0'), [])).toEqual([{ kind: 'unpaid' }])
  expect(meaningsOf(charge('paid', '2100', in_time), [paid('1050'), paid('1050')])).toEqual([
    { kind: 'again', above: '1050' },
  ])
  expect(meaningsOf(charge('paid', '1100', in_time), [paid('1100')])).toEqual([{ kind: 'more', above: '50' }])
  expect(meaningsOf(charge('paid', '1050', too_late), [paid('1050', too_late)])).toEqual([{ kind: 'late' }])
})

test('a payment that is not credited yet is named', () => {
  expect(meaningsOf(charge('open', '0'), [paid('1050', in_time, null)])).toEqual([
    { kind: 'waits', amount: '1050' },
  ])
})
