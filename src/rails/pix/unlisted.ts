import { parseDocument } from '../../core/document.ts'
import type { AccountHolder, Directory } from './rail.ts'

/** What is known of a key without a look-up: a CPF or CNPJ key is its holder's document. */
export function unlistedHolder(pix_key: string, asking: AccountHolder | undefined): Directory {
  const document = parseDocument(pix_key)?.value
  if (document === undefined) return { kind: 'unlisted' }
  return asking?.document === document ? { kind: 'held', holder: asking } : { kind: 'unlisted', document }
}
