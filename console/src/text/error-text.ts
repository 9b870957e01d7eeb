import type { ApiError } from '../api/errors.ts'
import type { ui } from './en/ui.ts'

/** An error in the words of the form: the API's message names parameters and is written for programs. */
export function errorText(
  { errors, reasons, fields, failed }: Pick<typeof ui, 'errors' | 'reasons' | 'fields' | 'failed'>,
  error: ErrorParts,
) {
  const field = error.param?.split(/[.[]/)[0]
  const of_field = error.status === 400 && field !== undefined ? fields[field] : undefined
  const of_reason = reasons[String(error.details.reason)]
  return (
    of_field ?? of_reason ?? errors[error.code] ?? (error.status === 404 ? failed.not_found : error.message)
  )
}

type ErrorParts = Pick<ApiError, 'code' | 'param' | 'status' | 'message' | 'details'>
