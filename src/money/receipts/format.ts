import { type Asset, assets } from '../../core/money.ts'
import type { ReceiptLanguage } from './page.ts'

const separators = {
  pt: { thousands: '.', decimals: ',' },
  en: { thousands: ',', decimals: '.' },
} as const satisfies Record<ReceiptLanguage, unknown>

/** All decimals, always: R$ 4.820,00 or 2,401.000000 USDT. */
export function receiptAmount(asset: Asset, units: bigint, language: ReceiptLanguage): string {
  const { thousands, decimals: point } = separators[language]
  const { decimals } = assets[asset]
  const digits = units.toString().padStart(decimals + 1, '0')
  const whole = inThousands(digits.slice(0, -decimals)).join(thousands)
  const number = `${whole}${point}${digits.slice(-decimals)}`
  return asset === 'BRL' ? `R$ ${number}` : `${number} ${asset}`
}

const inThousands = (digits: string): string[] =>
  digits.length <= 3 ? [digits] : [...inThousands(digits.slice(0, -3)), digits.slice(-3)]

/** Numbers only: names of months and zones differ between versions of ICU, and a receipt has the same bytes everywhere. */
const inSaoPaulo = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'America/Sao_Paulo',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The time in São Paulo, with the zone and its offset at that time. */
export function receiptTime(at: Date, language: ReceiptLanguage): string {
  const { year, month, day, hour, minute, second } = Object.fromEntries(
    inSaoPaulo.formatToParts(at).map(({ type, value }) => [type, value]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', string>
  const clock = `${hour}:${minute}:${second}`
  const there = Date.UTC(+year, +month - 1, +day, +hour, +minute, +second)
  const offset = offsetText(Math.round((there - at.getTime()) / 60_000))
  return language === 'pt'
    ? `${day}/${month}/${year} às ${clock} (horário de Brasília, ${offset})`
    : `${+day} ${MONTHS[+month - 1]} ${year}, ${clock} (São Paulo time, ${offset})`
}

function offsetText(minutes: number): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const size = Math.abs(minutes)
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}
