import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { reportError } from '../core/error-report.ts'
import { textLines } from './log-text.ts'

export type LogFormat = 'text' | 'json'

/** Lines for people on a terminal, JSON for whoever collects them. Errors are reported, whatever they are called. */
export function createLog(options: {
  readonly level: string
  readonly format?: LogFormat | undefined
  readonly destination?: DestinationStream
}): Logger {
  const { level } = options
  const terminal = process.stdout.isTTY === true
  const format = options.format ?? (terminal ? 'text' : 'json')
  const destination = options.destination ?? (format === 'text' ? atOnce() : gathered())
  const colour = terminal && !process.env.NO_COLOR
  return pino(pinoOptions(level), format === 'json' ? destination : textLines(destination, { colour }))
}

/** A person reads it beside what is printed, so it must keep its place there. */
const atOnce = () => pino.destination({ dest: 1, sync: true })

const GATHERED_BYTES = 15_000
const GATHERED_MS = 100

/** Every write to the system costs more than the line in it. What is left at the end of the process is written then. */
function gathered(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: false, minLength: GATHERED_BYTES })
  setInterval(() => destination.flush(), GATHERED_MS).unref()
  return destination
}

/** What the database says of an error may quote rows, so no error is written as it came. */
function pinoOptions(level: string): LoggerOptions {
  const isError = (value: unknown) => value instanceof Error
  const report = (value: unknown) => (isError(value) ? reportError(value as Error) : value)
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Instead of pino's own, which takes whatever has a message for an error as it came.
    serializers: { err: (reported: unknown) => reported },
    formatters: {
      log: (line) =>
        Object.values(line).some(isError)
          ? Object.fromEntries(Object.entries(line).map(([name, value]) => [name, report(value)]))
          : line,
    },
    hooks: {
      // An error alone would have its message taken for the line's.
      logMethod(line, method) {
        method.apply(this, line[0] instanceof Error ? [{ err: line[0] }, line[1] ?? 'error'] : line)
      },
    },
  }
}
