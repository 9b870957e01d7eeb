import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { reportError } from '../core/error-report.ts'
import { textLines } from './log-text.ts'

type LogFormat = 'text' | 'json'

/** Text on a terminal, JSON for log collectors. Error objects are rendered by `reportError`, under whatever name they come. */
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

/** Synchronous: on a terminal, log lines must keep their order with printed output. */
const atOnce = () => pino.destination({ dest: 1, sync: true })

const GATHERED_BYTES = 15_000
const GATHERED_MS = 100

/** Buffered: a system call costs more than the line it writes. The rest is written when the process ends. */
function gathered(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: false, minLength: GATHERED_BYTES })
  setInterval(() => destination.flush(), GATHERED_MS).unref()
  return destination
}

/** Errors of the database may quote rows, so no error is written unchanged. */
function pinoOptions(level: string): LoggerOptions {
  const isError = (value: unknown) => value instanceof Error
  const report = (value: unknown) => (isError(value) ? reportError(value as Error) : value)
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Replaces pino's serializer, which would render any object with a message as a raw error.
    serializers: { err: (reported: unknown) => reported },
    formatters: {
      log: (line) =>
        Object.values(line).some(isError)
          ? Object.fromEntries(Object.entries(line).map(([name, value]) => [name, report(value)]))
          : line,
    },
    hooks: {
      // For an error as the only argument, pino would use the error's message as the line's message.
      logMethod(line, method) {
        method.apply(this, line[0] instanceof Error ? [{ err: line[0] }, line[1] ?? 'error'] : line)
      },
    },
  }
}
