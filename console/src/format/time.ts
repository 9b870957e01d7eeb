import type { Language } from './amount.ts'

type TimeOptions = {
  readonly language: Language
  /** An IANA name; the browser's time zone when left out. */
  readonly zone?: string | undefined
  readonly now?: Date | undefined
}

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

type Parts = {
  readonly year: string
  readonly month: string
  readonly day: string
  readonly hour: string
  readonly minute: string
  readonly second: string
}

const partFormats = new Map<string, Intl.DateTimeFormat>()

function partsOf(at: Date, zone: string): Parts {
  const format =
    partFormats.get(zone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
  partFormats.set(zone, format)
  const found = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return found as unknown as Parts
}

const MONTHS = {
  en: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  'pt-BR': ['jan.', 'fev.', 'mar.', 'abr.', 'mai.', 'jun.', 'jul.', 'ago.', 'set.', 'out.', 'nov.', 'dez.'],
} as const

const monthOf = ({ month }: Parts, language: Language) => MONTHS[language][Number(month) - 1]!
const dayOf = ({ day }: Parts) => String(Number(day))

/** In lists: today `09:41:22`; this year `14 Nov 17:02`; before `14 Nov 2025`. */
export function listTime(iso: string, { language, zone = ownZone(), now = new Date() }: TimeOptions): string {
  const at = partsOf(new Date(iso), zone)
  const today = partsOf(now, zone)
  const date = `${dayOf(at)} ${monthOf(at, language)}`
  if (at.year !== today.year) return `${date} ${at.year}`
  if (at.month === today.month && at.day === today.day) return `${at.hour}:${at.minute}:${at.second}`
  return `${date} ${at.hour}:${at.minute}`
}

/** In details: `2026-11-15 09:41:22.104` / `15/11/2026 09:41:22,104`. */
export function detailTime(iso: string, { language, zone = ownZone() }: TimeOptions): string {
  const at = new Date(iso)
  const { year, month, day } = partsOf(at, zone)
  const date = language === 'en' ? `${year}-${month}-${day}` : `${day}/${month}/${year}`
  return `${date} ${clockTime(iso, { language, zone })}`
}

/** Steps of a track: `09:41:22.104` / `09:41:22,104`. */
export function clockTime(iso: string, { language, zone = ownZone() }: TimeOptions): string {
  const at = new Date(iso)
  const { hour, minute, second } = partsOf(at, zone)
  const milliseconds = String(at.getUTCMilliseconds()).padStart(3, '0')
  return `${hour}:${minute}:${second}${language === 'en' ? '.' : ','}${milliseconds}`
}

/** In a sentence, to the minute: today `09:41`, any other day `18 Nov 09:41`. */
export function minuteTime(
  iso: string,
  { language, zone = ownZone(), now = new Date() }: TimeOptions,
): string {
  const at = partsOf(new Date(iso), zone)
  const today = partsOf(now, zone)
  const time = `${at.hour}:${at.minute}`
  if (at.year !== today.year) return `${dayText(iso, { language, zone })} ${time}`
  if (at.month === today.month && at.day === today.day) return time
  return `${dayOf(at)} ${monthOf(at, language)} ${time}`
}

/** `15 Nov 2026` / `15 nov. 2026`. */
export function dayText(iso: string, { language, zone = ownZone() }: TimeOptions): string {
  const at = partsOf(new Date(iso), zone)
  return `${dayOf(at)} ${monthOf(at, language)} ${at.year}`
}

/** `15 November 2026` / `15 de novembro de 2026`. */
export const longDay = (iso: string, { language, zone = ownZone() }: TimeOptions): string =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : 'pt-BR', {
    timeZone: zone,
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  }).format(new Date(iso))

/** For `title` and CSV: `2026-11-15 12:41:22.104 UTC`. */
export const utcTime = (iso: string): string =>
  `${new Date(iso).toISOString().replace('T', ' ').replace('Z', '')} UTC`

/** The name shown for a time zone: `São Paulo` for `America/Sao_Paulo`. */
export function zoneName(zone: string = ownZone()): string {
  if (zone === 'America/Sao_Paulo') return 'São Paulo'
  return (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')
}

/** The reader's offset from UTC today: `UTC−3`. */
export function offsetText(): string {
  const minutes = -new Date().getTimezoneOffset()
  const hours = Math.trunc(Math.abs(minutes) / 60)
  const rest = Math.abs(minutes) % 60
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

/** `96 ms`, `1.2 s`, `2 min 31 s`, `2 h 06 min`, `3 d 4 h`. */
export function durationText(milliseconds: number, language: Language): string {
  const ms = Math.max(0, Math.round(milliseconds))
  if (ms < 1_000) return `${ms} ms`
  if (ms < 59_950) {
    const tenths = Math.round(ms / 100)
    return `${Math.floor(tenths / 10)}${language === 'en' ? '.' : ','}${tenths % 10} s`
  }
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
  const hours = Math.floor(minutes / 60)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Elapsed time in its largest units: `4 s`, `14 min`, `2 h 06 min`, `3 d`. */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`
  return `${Math.floor(hours / 24)} d`
}
