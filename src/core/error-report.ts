/**
 * An error as it may be logged. PostgreSQL's errors quote rows, parameters and statements, and those contain documents,
 * names and keys. So only the codes and object names of such errors are kept; of other errors only fields that say where
 * the error happened, never the data that was handled.
 */
export type ReportedError = {
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly cause?: ReportedError
  readonly errors?: readonly ReportedError[]
  readonly [name: string]: unknown
}

/** An allowlist: `detail`, `hint`, `where`, `internalQuery`, `query`, `parameters` and all other fields are left out. */
const OF_DATABASE = ['code', 'severity', 'schema', 'table', 'column', 'dataType', 'constraint', 'routine']
const OF_OTHERS = ['code', 'errno', 'syscall', 'hostname', 'address', 'port', 'path', 'status', 'signal']

/**
 * SQLSTATEs whose messages are about the server, rights and locks, and never quote a row: connections (08),
 * transactions (25, 40), signing in (28), databases and schemas (3D, 3F), rights, missing tables and columns, resources
 * (53), locks (55), operators (57), the system (58). The message of any other may quote a value.
 */
const HARMLESS = /^(08|25|28|3D|3F|40|42501|42703|42883|42P01|53|55|57|58)/

const DEPTH_MAX = 5
const ERRORS_MAX = 10

export function reportError(error: unknown, depth = 0): ReportedError {
  if (typeof error !== 'object' || error === null) return { type: typeof error, message: 'no error object' }
  const reported = error as Error & { readonly [name: string]: unknown }
  const type = typeof reported.name === 'string' ? reported.name : 'Error'
  const message = messageOf(reported)
  const frames = typeof reported.stack === 'string' ? reported.stack.match(/^ +at .*$/gm) : null
  const { cause } = reported
  const errors: unknown = reported instanceof AggregateError ? reported.errors : undefined
  const deeper = depth < DEPTH_MAX
  return {
    type,
    message,
    ...picked(reported, isOfDatabase(reported) ? OF_DATABASE : OF_OTHERS),
    ...(frames ? { stack: [`${type}: ${message}`, ...frames].join('\n') } : {}),
    ...(deeper && typeof cause === 'object' && cause !== null
      ? { cause: reportError(cause, depth + 1) }
      : {}),
    ...(deeper && Array.isArray(errors)
      ? { errors: errors.slice(0, ERRORS_MAX).map((one) => reportError(one, depth + 1)) }
      : {}),
  }
}

/** The report of an error as text, for a terminal. */
export function describeError(error: unknown): string {
  const { type, message, stack = `${type}: ${message}`, cause, errors, ...names } = reportError(error)
  const rest = Object.entries(names).map(([name, value]) => `  ${name}: ${String(value)}`)
  return [stack, ...rest, ...(cause ? [`caused by ${cause.stack ?? cause.message}`] : [])].join('\n')
}

/** The message of an error, in one line that quotes no data. */
export function messageOf(error: { readonly message?: unknown; readonly [name: string]: unknown }): string {
  if (!isOfDatabase(error)) return typeof error.message === 'string' ? error.message : 'no message'
  if (HARMLESS.test(error.code)) return error.message
  const { table, constraint, column } = error as Record<string, unknown>
  const place = [table, constraint ?? column].filter((name) => typeof name === 'string').join(', ')
  return `the database answered with ${error.code}${place === '' ? '' : ` (${place})`}`
}

/** An error or a notice of PostgreSQL: both have a SQLSTATE and a severity. */
function isOfDatabase(error: object): error is { code: string; message: string } {
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
}

function picked(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const simple = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  return Object.fromEntries(names.filter((name) => simple(from[name])).map((name) => [name, from[name]]))
}
