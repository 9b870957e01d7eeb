import { type ErrorCode, errors, Refusal } from '../../core/errors.ts'
import { type IdKind, isId } from '../../core/ids.ts'
import { isCleanText } from '../../core/text.ts'
import type { ConsoleEndpoint } from './endpoint.ts'

type Given = Readonly<Record<string, string>>

/** An id of impossible form gets the same answer as an unknown id, without a query. */
export function assertPossibleIds({ params }: ConsoleEndpoint, given: Given): void {
  for (const [param, text] of Object.entries(given)) {
    const kind = params?.properties[param]?.['x-id' as never] as IdKind | undefined
    const possible = kind === undefined ? isCleanText(text) : isId(kind, text)
    if (!possible) throw new Refusal(absentCode(kind), { param })
  }
}

function absentCode(kind: IdKind | undefined): ErrorCode {
  const code = `${kind}_not_found`
  return code in errors ? (code as ErrorCode) : 'object_not_found'
}

/** PostgreSQL rejects text with a NUL, and no stored text has one. */
export function assertStorable(query: Given): void {
  const param = Object.keys(query).find((name) => query[name]!.includes('\0'))
  if (param === undefined) return
  throw new Refusal('invalid_request', { param, message: `${param} may not hold control characters.` })
}
