import { ApiError, ConnectionError } from '#sdk'
import { describeError, messageOf } from '../../core/error-report.ts'
import { type ErrorOutput, exitOfStatus } from '../error-output.ts'
import { exit } from '../exit.ts'

/** Turns an error of the SDK into the error output, with the API's own message and a link to its page. */
export function apiErrorOutput(error: unknown): ErrorOutput {
  if (error instanceof ApiError) return ofApi(error)
  if (error instanceof ConnectionError) return ofConnection(error)
  const plain = error instanceof Error && error.constructor === Error
  return {
    code: plain ? 'failed' : 'unforeseen',
    message: plain ? messageOf(error as never) : describeError(error as Error),
    exit: exit.refused,
  }
}

/**
 * An unreachable service may have a wrong address, so the message asks for --url. After an unknown outcome another address
 * would be wrong.
 */
function ofConnection({ message, outcome }: ConnectionError): ErrorOutput {
  if (outcome === 'unknown') return { code: 'outcome_unknown', message, exit: exit.unknown }
  return {
    code: 'unreachable',
    message,
    exit: exit.later,
    behind: 'Is the service running there? --url, TRILHO_URL or a profile says where it is.\n',
  }
}

function ofApi(error: ApiError): ErrorOutput {
  const { type, code, message, param, details, docUrl, requestId, retryAfter } = error
  const lines = [
    ['field', param],
    ['request', requestId],
    ['read more', docUrl],
    ['try again', retryAfter === undefined ? undefined : `in ${retryAfter} s`],
  ].filter(([, value]) => value !== undefined)
  return {
    code,
    message,
    exit: error.outcome === 'unknown' ? exit.unknown : exitOfError(error),
    before: `${code}: `,
    behind: lines.map(([name, value]) => `  ${name!.padEnd(9)}  ${value}\n`).join(''),
    more: {
      type,
      ...(param === undefined ? {} : { param }),
      ...(details === undefined ? {} : { details }),
      ...(docUrl === undefined ? {} : { doc_url: docUrl }),
      ...(requestId === undefined ? {} : { request_id: requestId }),
    },
  }
}

/** After a 5xx error that certainly did nothing, a retry may work. */
const exitOfError = ({ status }: ApiError): number => (status >= 500 ? exit.later : exitOfStatus(status))
