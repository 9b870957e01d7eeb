/**
 * What the answers of Stark Bank mean (decision 0073). An answer without a row is `unknown`. Its reference names no word with which it
 * refuses a transfer for good before it takes it, so no answer to a send is a refusal: a transfer that it never took fails as `never_sent`.
 *
 * Uncertain: whether a repeated `externalId` answers with the first transfer, as the reference says, or with an error, as the SDKs say.
 * Neither returns money: the first is `accepted`, the second `unknown`, and the status tells.
 */

/** The words of errors, with HTTP 400, of calls that were not carried out: the signature or the key is wrong. */
export const notCarriedOut: readonly string[] = ['invalidAccessId', 'invalidAccessTime', 'invalidSignature']

/** States of a transfer. A state that is not here is `unknown`. */
export const transferStates: Readonly<Record<string, 'accepted' | 'settled' | 'refused'>> = {
  created: 'accepted',
  processing: 'accepted',
  success: 'settled',
  failed: 'refused',
  canceled: 'refused',
}
