import type { PixPayout } from '../../api/types.ts'
import { shortAddress } from '../../format/id.ts'

/** The destination of a payout: a Pix key (a random one shortened), or the three parts of a bank account. */
export function destinationText({
  pix_key,
  ispb,
  branch,
  account_number,
}: PixPayout['counterparty']): string {
  if (pix_key !== null) return /^[0-9a-f-]{36}$/.test(pix_key) ? shortAddress(pix_key) : pix_key
  return [ispb, branch, account_number].filter(Boolean).join(' · ')
}
