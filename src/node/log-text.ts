import type { DestinationStream } from 'pino'
import type { ReportedError } from '../core/error-report.ts'

/** Log lines for people: time, level, message, the few fields that matter. Everything else is in the JSON. */
type Line = {
  readonly level: number
  readonly time: string
  readonly msg?: string
  readonly err?: ReportedError
  readonly [name: string]: unknown
}

export function textLines(destination: DestinationStream, options: { colour: boolean }): DestinationStream {
  const paint = options.colour ? inColour : plain
  return { write: (json) => destination.write(renderLogLine(JSON.parse(json), paint)) }
}

type Tone = 'dim' | 'red' | 'yellow' | 'green'
type Paint = (tone: Tone, text: string) => string

const codes: Readonly<Record<Tone, number>> = { dim: 2, red: 31, yellow: 33, green: 32 }
const inColour: Paint = (tone, text) => (text === '' ? '' : `\x1b[${codes[tone]}m${text}\x1b[0m`)
const plain: Paint = (_, text) => text

function renderLogLine({ level, time, msg = '', err, ...fields }: Line, paint: Paint = plain): string {
  const text = msg === 'request' ? requestOf(fields, paint) : messageOf(msg, fields, paint)
  const trouble = err ? `\n${indent(describe(err))}` : ''
  return `${paint('dim', clockOf(time))} ${levelOf(level, paint)} ${text}${trouble}\n`
}

function requestOf(fields: Readonly<Record<string, unknown>>, paint: Paint): string {
  const { method, route, status, error_code, ms, object_id, key_id, request_id } = fields
  const tone = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green'
  const outcome = [status, error_code].filter(isGiven).map(cleaned).join(' ')
  const rest = [`${ms} ms`, object_id, key_id, request_id].filter(isGiven).map(cleaned).join('  ')
  return `${cleaned(method)} ${cleaned(route)} ${paint(tone, outcome)}  ${paint('dim', rest)}`
}

function messageOf(msg: string, fields: Readonly<Record<string, unknown>>, paint: Paint): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => isGiven(value))
    .map(([name, value]) => `${name}=${shown(value)}`)
  return [cleaned(msg), ...(pairs.length > 0 ? [paint('dim', pairs.join(' '))] : [])].join('  ')
}

const isGiven = (value: unknown) => value !== undefined && value !== null

/** Longer values are truncated, to keep lines readable. */
const SHOWN_MAX = 120

const shown = (value: unknown): string => {
  const text = typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
  return cleaned(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)
}

/** Text from outside must not move the cursor, nor begin a line that looks like a log line. */
const cleaned = (value: unknown): string => String(value).replaceAll(/\p{Cc}+/gu, ' ')

/** The time of day in the local time zone. */
function clockOf(time: string): string {
  const at = new Date(time)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

const levels: readonly (readonly [from: number, name: string, tone: Tone | undefined])[] = [
  [60, 'FATAL', 'red'],
  [50, 'ERROR', 'red'],
  [40, 'WARN ', 'yellow'],
  [30, 'INFO ', undefined],
  [20, 'DEBUG', 'dim'],
  [0, 'TRACE', 'dim'],
]

function levelOf(level: number, paint: Paint): string {
  const [, name, tone] = levels.find(([from]) => level >= from)!
  return tone ? paint(tone, name) : name
}

function describe({ type, message, stack, cause, errors, code }: ReportedError): string {
  const head = `${stack ?? `${type}: ${message}`}${isGiven(code) ? `  (${code})` : ''}`
  const others = [...(cause ? [cause] : []), ...(errors ?? [])].map((one) => `caused by ${describe(one)}`)
  return [head, ...others].join('\n')
}

const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `    ${cleaned(line)}`)
    .join('\n')
