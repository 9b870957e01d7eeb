import { type CliCommand, NotAllowed, UsageError } from './command.ts'
import { exit, Interrupted, NotShown } from './exit.ts'
import { usageText } from './help.ts'

/** The error report of a command: what is wrong and what to do. Only an unforeseen error has a stack trace. */
export type ErrorOutput = {
  readonly code: string
  readonly message: string
  readonly exit: number
  /** Text for a person, printed before and after the message. */
  readonly before?: string
  readonly behind?: string
  /** Further fields of the JSON error object. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** The report of an error that any command can throw. */
export function errorOutputOf(error: unknown, command: CliCommand): ErrorOutput | undefined {
  if (error instanceof UsageError) return typedWrong(error.message, usageText(command))
  if (error instanceof Interrupted)
    return { code: 'interrupted', message: 'Interrupted; nothing was done.', exit: exit.interrupted }
  if (error instanceof NotShown) return notShown(error)
  if (error instanceof NotAllowed)
    return { code: 'not_allowed', message: error.message, exit: exit.not_allowed }
  return undefined
}

export const notShown = ({ message }: NotShown): ErrorOutput => ({
  code: 'not_shown',
  message,
  exit: exit.unknown,
})

export const typedWrong = (message: string, usage?: string): ErrorOutput => ({
  code: 'usage',
  message,
  exit: exit.typed_wrong,
  ...(usage === undefined ? {} : { behind: `\n${usage}` }),
})

export function exitOfStatus(status: number): number {
  if (status === 401 || status === 403) return exit.not_allowed
  return status === 429 || status === 503 ? exit.later : exit.refused
}

/** Renders an error as text, or with --json as the error object of the API. */
export function renderErrorOutput(output: ErrorOutput, json: boolean): string {
  const { code, message, before = '', behind = '', more } = output
  return withoutSecrets(
    json ? `${JSON.stringify({ error: { code, message, ...more } })}\n` : `${before}${message}\n${behind}`,
  )
}

/** Removes API keys and webhook secrets: an error quotes the command line, and standard error is often logged. */
const withoutSecrets = (text: string): string =>
  text.replaceAll(/\b(svc_(?:live|test)_sk_|whsec_)[\w+/=]+/g, '$1…')
