import type { RefusalReason } from '../../rails/pix/rail.ts'

/** Failure codes of payouts with their messages for partners, and below their mapping from the codes of the Pix network. */
export const payoutFailureMessages = {
  recipient_account_invalid: 'The recipient’s account or branch does not exist.',
  recipient_account_blocked: 'The recipient’s account is blocked.',
  recipient_account_closed: 'The recipient’s account is closed.',
  recipient_document_mismatch: 'The document does not belong to the recipient’s account.',
  recipient_key_not_found: 'Nobody has this Pix key.',
  recipient_limit_exceeded: 'The amount exceeds what the recipient’s account may receive.',
  payment_not_supported: 'The recipient’s account cannot receive this kind of payment.',
  rejected_by_recipient_bank: 'The recipient’s bank rejected the payment.',
  suspected_fraud: 'The payment was refused on suspicion of fraud.',
  regulatory_block: 'The payment was refused for regulatory reasons.',
  network_timeout: 'The Pix network gave the payment up in time; nothing was paid.',
  never_sent: 'The payment could not be handed to the payment provider in time; nothing was paid.',
  provider_error: 'The payment provider refused the payment.',
  resolved_by_operator: 'The operator established that the payment was not made.',
} as const

type Refused = { readonly rail_code: string; readonly reason?: RefusalReason }

type PayoutFailureCode = keyof typeof payoutFailureMessages
export const failureCodes = Object.keys(payoutFailureMessages) as PayoutFailureCode[]

const byRailCode: Readonly<Record<string, PayoutFailureCode>> = {
  AC03: 'recipient_account_invalid',
  AC14: 'recipient_account_invalid',
  RC10: 'recipient_account_invalid',
  AC06: 'recipient_account_blocked',
  AC07: 'recipient_account_closed',
  BE01: 'recipient_document_mismatch',
  CH11: 'recipient_document_mismatch',
  AM02: 'recipient_limit_exceeded',
  AG03: 'payment_not_supported',
  AG12: 'payment_not_supported',
  DS27: 'payment_not_supported',
  DS04: 'rejected_by_recipient_bank',
  AB09: 'rejected_by_recipient_bank',
  BE17: 'rejected_by_recipient_bank',
  ED05: 'rejected_by_recipient_bank',
  FRAD: 'suspected_fraud',
  RR04: 'regulatory_block',
  AB03: 'network_timeout',
  AB11: 'network_timeout',
  // Not codes of the network: the provider never got the payout, or an operator resolved it.
  never_sent: 'never_sent',
  resolved_by_operator: 'resolved_by_operator',
}

/** The payout also keeps the network's own code, as `rail_code`. */
export const failureOf = ({ rail_code, reason }: Refused): PayoutFailureCode =>
  reason ?? byRailCode[rail_code] ?? 'provider_error'
