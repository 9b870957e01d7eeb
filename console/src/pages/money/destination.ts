import type { PixPayout } from '../../api/types.ts'
import { shortAddress } from '../../format/id.ts'

/** A Pix key as it is, a random one shortened; a bank account by its three parts. */
export function destinationText({
  pix_key,
  ispb,
  branch,
  account_number,
}: PixPayout['counterparty']): string {
  if (pix_key !== null) return /^[0-9a-f-]{36}$/.test(pix_key) ? shortAddress(pix_key) : pix_key
  return [ispb, branch, account_number].filter(Boolean).join(' · ')
}
