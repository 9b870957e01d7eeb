import { WrongSecretKey } from '../control/secrets/check.ts'
import { describeError, messageOf } from '../core/error-report.ts'
import { Refusal } from '../core/errors.ts'
import { DataDirBusy, NoDatabase } from '../db/embedded/folder.ts'
import { SameOriginRuns } from '../db/embedded/identity.ts'
import { DataDirSuperseded } from '../db/embedded/superseded.ts'
import { isTooSlow, isUnreachable } from '../db/failure.ts'
import { MigrationBlocked } from '../db/migrate.ts'
import { PoolerInTheWay } from '../db/server-state.ts'
import { UntrustedServer } from '../db/tls.ts'
import { ConfigError } from '../node/config.ts'
import { SignerLogBroken, SignerLogFailed } from '../rails/signer/log.ts'
import { type ErrorOutput, exitOfStatus } from './error-output.ts'
import { exit } from './exit.ts'

/** Turns an error of the service or the database into the error output. */
export function serviceErrorOutput(error: unknown): ErrorOutput {
  if (error instanceof ConfigError)
    return {
      code: 'configuration',
      message: error.message.trimEnd(),
      exit: exit.refused,
      more: { mistakes: error.mistakes },
    }
  if (error instanceof Refusal) return refusalOutput(error)
  const known = foreseen.find(([kind]) => error instanceof kind)
  if (known) return { code: known[1], message: (error as Error).message, exit: known[2] ?? exit.refused }
  return errorOutputByCode(error as CodedError)
}

/** A refusal by a rule of the service: operator commands call the rules directly, without HTTP. */
function refusalOutput({ code, status, message, param, details }: Refusal): ErrorOutput {
  return {
    code,
    message,
    exit: exitOfStatus(status),
    more: { ...(param ? { param } : {}), ...(details ? { details } : {}) },
  }
}

/** Errors whose message is written for the user. */
const foreseen: readonly (readonly [
  kind: abstract new (...args: never[]) => Error,
  code: string,
  exit?: number,
])[] = [
  [DataDirBusy, 'data_dir_busy', exit.later],
  [DataDirSuperseded, 'data_dir_superseded'],
  [SameOriginRuns, 'same_origin_runs'],
  [NoDatabase, 'no_database'],
  [MigrationBlocked, 'migration_blocked'],
  [PoolerInTheWay, 'pooler_in_the_way'],
  [UntrustedServer, 'untrusted_server'],
  [WrongSecretKey, 'wrong_secret_key'],
  [SignerLogBroken, 'signer_log_broken'],
  [SignerLogFailed, 'signer_log_failed'],
]

const NOT_SET_UP = 'The database is not set up yet. Run: trilho migrate'
/** PostgreSQL does not say which of the two it is. */
const NO_LOGIN =
  'The database is not set up yet, or it was set up with another SECRET_KEY. Run: trilho migrate'

type CodedError = Error & { readonly code?: string; readonly [name: string]: unknown }

function errorOutputByCode(error: CodedError): ErrorOutput {
  const { code } = error
  const message = messageOf(error)
  if (code === '28000' || code === '42P01' || code === '3F000') return notSetUp(NOT_SET_UP)
  if (isLoginRefused(error)) return notSetUp(NO_LOGIN)
  if (isUnreachable(error))
    return {
      code: 'database_unreachable',
      message: `The database cannot be reached: ${message || code}`,
      // A retry does not help against a wrong password.
      exit: code === '28P01' ? exit.refused : exit.later,
    }
  if (isTooSlow(error))
    return {
      code: 'database_busy',
      message: `The database took too long, so this step was rolled back. Run the command again. (${message})`,
      exit: exit.later,
    }
  const ofPort = code === 'EACCES' && !('port' in error) ? undefined : portMistakes[code ?? '']
  if (ofPort) return { code: 'cannot_listen', message: ofPort, exit: exit.refused }
  const plain = error instanceof Error && error.constructor === Error && code === undefined
  return plain
    ? { code: 'failed', message, exit: exit.refused }
    : { code: 'unforeseen', message: describeError(error), exit: exit.refused }
}

const notSetUp = (message: string): ErrorOutput => ({
  code: 'database_not_set_up',
  message,
  exit: exit.refused,
})

const portMistakes: Readonly<Record<string, string>> = {
  EADDRINUSE: 'The port is taken by another program. Set PORT to a free one, or stop the other program.',
  EADDRNOTAVAIL: 'HOST is not an address of this machine. Set it to one, or to 0.0.0.0 for all of them.',
  EACCES: 'PORT may not be used without special rights. Set it to one above 1023.',
}

export const isLoginRefused = (error: unknown): boolean =>
  (error as { code?: string }).code === '28P01' &&
  /_(live|sandbox|shared)\b/.test(messageOf(error as Error & { readonly [name: string]: unknown }))
