import type { Language } from '../format/amount.ts'
import { dayText, minuteTime } from '../format/time.ts'

/** A round step so that about three of them reach the highest value: 1, 2, 2.5 or 5 of a power of ten. Zero: nothing to show. */
export function stepFor(highest: bigint): bigint {
  const wanted = (highest + 2n) / 3n
  if (wanted <= 1n) return 1n
  const power = 10n ** BigInt((wanted - 1n).toString().length - 1)
  const steps = [power, 2n * power, ...(power >= 10n ? [(5n * power) / 2n] : []), 5n * power, 10n * power]
  return steps.find((step) => step >= wanted)!
}

/** Ticks from zero to the first step at or above the highest value. */
export function ticksFor(highest: bigint): bigint[] {
  const step = stepFor(highest)
  const count = highest === 0n ? 1n : (highest + step - 1n) / step
  return Array.from({ length: Number(count) + 1 }, (_, i) => BigInt(i) * step)
}

const sizes = [
  { from: 12, word: { en: 'tn', 'pt-BR': 'tri' } },
  { from: 9, word: { en: 'bn', 'pt-BR': 'bi' } },
  { from: 6, word: { en: 'M', 'pt-BR': 'M' } },
  { from: 3, word: { en: 'k', 'pt-BR': 'k' } },
] as const

/** Short labels for the axis: `75k`, `2.5M`, `5bn` or `5bi`, `0.005`. */
export function axisText(units: bigint, decimals: number, language: Language): string {
  const digits = units.toString().length - decimals
  const size = sizes.find(({ from }) => digits > from) ?? { from: 0, word: undefined }
  const places = size.from + decimals
  const text = units.toString().padStart(places + 1, '0')
  const whole = text.slice(0, text.length - places)
  const rest = text.slice(text.length - places).replace(/0+$/, '')
  const [group, point] = language === 'en' ? [',', '.'] : ['.', ',']
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, group)
  return `${grouped}${rest === '' ? '' : point + rest}${size.word?.[language] ?? ''}`
}

/** Width for the axis labels left of the chart, from the widest letter. */
export const roomFor = (words: readonly string[]): number =>
  Math.max(44, 14 + 6.5 * Math.max(...words.map(({ length }) => length)))

/** The height of a value in points, exact to a ten-thousandth. */
export const heightOf = (value: bigint, highest: bigint, points: number): number =>
  highest === 0n ? 0 : (Number((value * 10_000n) / highest) / 10_000) * points

/** A day is a day of São Paulo wherever the reader is; an hour is shown in the reader's time zone. */
export function startText(start: string, language: Language): string {
  if (start.includes('T')) return minuteTime(start, { language })
  return dayText(`${start}T12:00:00Z`, { language, zone: 'UTC' }).replace(/ \d{4}$/, '')
}

/** Every how many bars the axis has a label, counted back from the last. */
export const namedEvery = (steps: number): number => (steps <= 7 ? 1 : steps <= 24 ? 6 : steps <= 31 ? 7 : 15)
