import { expect, test } from 'vitest'
import {
  ageText,
  clockTime,
  dayText,
  detailTime,
  durationText,
  listTime,
  longDay,
  minuteTime,
  utcTime,
  zoneName,
} from './time.ts'

const zone = 'America/Sao_Paulo'
const now = new Date('2026-11-15T13:00:00Z')
const en = { language: 'en', zone, now } as const
const pt = { language: 'pt-BR', zone, now } as const

test('in lists: the time today, the day this year, the year before that', () => {
  expect(listTime('2026-11-15T12:41:22.104Z', en)).toBe('09:41:22')
  expect(listTime('2026-11-14T20:02:59Z', en)).toBe('14 Nov 17:02')
  expect(listTime('2026-11-14T20:02:59Z', pt)).toBe('14 nov. 17:02')
  expect(listTime('2025-02-02T20:02:59Z', en)).toBe('2 Feb 2025')
})

test('in sentences: the day is shown unless it is today', () => {
  expect(minuteTime('2026-11-15T12:41:22Z', en)).toBe('09:41')
  expect(minuteTime('2026-11-18T12:41:22Z', en)).toBe('18 Nov 09:41')
  expect(minuteTime('2026-11-18T12:41:22Z', pt)).toBe('18 nov. 09:41')
  expect(minuteTime('2027-01-02T12:41:22Z', en)).toBe('2 Jan 2027 09:41')
})

test('today is the day in the person’s time zone, not in UTC', () => {
  expect(listTime('2026-11-15T02:30:00Z', en)).toBe('14 Nov 23:30')
  expect(listTime('2026-11-15T02:30:00Z', { ...en, zone: 'UTC' })).toBe('02:30:00')
  expect(listTime('2026-11-15T03:00:00Z', en)).toBe('00:00:00')
})

test('details show milliseconds, formatted for the language', () => {
  expect(detailTime('2026-11-15T12:41:22.104Z', en)).toBe('2026-11-15 09:41:22.104')
  expect(detailTime('2026-11-15T12:41:22.104Z', pt)).toBe('15/11/2026 09:41:22,104')
  expect(clockTime('2026-11-15T12:41:22.004Z', en)).toBe('09:41:22.004')
  expect(dayText('2026-11-15T12:41:22.004Z', pt)).toBe('15 nov. 2026')
  expect(longDay('2026-11-15T12:41:22.004Z', en)).toBe('15 November 2026')
  expect(longDay('2026-11-15T12:41:22.004Z', pt)).toBe('15 de novembro de 2026')
  expect(utcTime('2026-11-15T12:41:22.104Z')).toBe('2026-11-15 12:41:22.104 UTC')
  expect(zoneName(zone)).toBe('São Paulo')
  expect(zoneName('America/New_York')).toBe('New York')
})

test('durations', () => {
  const cases = [
    [0, '0 ms'],
    [96, '96 ms'],
    [999, '999 ms'],
    [1_000, '1.0 s'],
    [1_249, '1.2 s'],
    [12_408, '12.4 s'],
    [59_949, '59.9 s'],
    [59_950, '1 min 0 s'],
    [151_000, '2 min 31 s'],
    [7_560_000, '2 h 06 min'],
    [273_600_000, '3 d 4 h'],
  ] as const
  for (const [ms, text] of cases) expect(durationText(ms, 'en')).toBe(text)
  expect(durationText(1_249, 'pt-BR')).toBe('1,2 s')
})

test('ages', () => {
  expect(ageText(4_900)).toBe('4 s')
  expect(ageText(14 * 60_000)).toBe('14 min')
  expect(ageText(126 * 60_000)).toBe('2 h 06 min')
  expect(ageText(5 * 86_400_000)).toBe('5 d')
})
