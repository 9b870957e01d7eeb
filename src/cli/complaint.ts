import { Refusal } from '../core/errors.ts'
import { type CliCommand, NotAllowed, UsageError } from './command.ts'
import { exit, Interrupted, NotShown } from './exit.ts'
import { usageOf } from './help.ts'

/** What went wrong with a command: the mistake and the way out, no stack, unless nobody foresaw it. */
export type Complaint = {
  readonly code: string
  readonly message: string
  readonly exit: number
  /** For a person, in front of the message and behind it. */
  readonly before?: string
  readonly behind?: string
  /** For a program, beside the message. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** What knows the SDK's errors, or the database's, is loaded only where such an error can come from. */
export async function complaintOf(error: unknown, command: CliCommand): Promise<Complaint> {
  if (error instanceof UsageError) return typedWrong(error.message, usageOf(command))
  if (error instanceof Interrupted)
    return { code: 'interrupted', message: 'Interrupted; nothing was done.', exit: exit.interrupted }
  if (error instanceof NotShown) return notShown(error)
  if (error instanceof NotAllowed)
    return { code: 'not_allowed', message: error.message, exit: exit.not_allowed }
  if (error instanceof Refusal) return complaintOfRefusal(error)
  const { complaintOf } =
    command.who === 'key' ? await import('./api/complaint.ts') : await import('./service-complaint.ts')
  return complaintOf(error)
}

export const notShown = ({ message }: NotShown): Complaint => ({
  code: 'not_shown',
  message,
  exit: exit.unknown,
})

export const typedWrong = (message: string, usage?: string): Complaint => ({
  code: 'usage',
  message,
  exit: exit.typed_wrong,
  ...(usage === undefined ? {} : { behind: `\n${usage}` }),
})

/** From the service's own rules, which operators' commands call without HTTP between. */
function complaintOfRefusal({ code, status, message, param, details }: Refusal): Complaint {
  return {
    code,
    message,
    exit: exitOfStatus(status),
    more: { ...(param ? { param } : {}), ...(details ? { details } : {}) },
  }
}

export function exitOfStatus(status: number): number {
  if (status === 401 || status === 403) return exit.not_allowed
  return status === 429 || status === 503 ? exit.later : exit.refused
}

/** With --json as the API says it. */
export function renderComplaint(complaint: Complaint, json: boolean): string {
  const { code, message, before = '', behind = '', more } = complaint
  return withoutSecrets(
    json ? `${JSON.stringify({ error: { code, message, ...more } })}\n` : `${before}${message}\n${behind}`,
  )
}

/** A complaint quotes what was typed, and standard error is often kept in a log: key values and webhook secrets stay out. */
const withoutSecrets = (text: string): string =>
  text.replaceAll(/\b(svc_(?:live|test)_sk_|whsec_)[\w+/=]+/g, '$1…')
