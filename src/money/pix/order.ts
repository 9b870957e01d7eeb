import { money } from '../../core/money.ts'
import type { PixOrder } from '../../rails/pix/rail.ts'
import type { Payout } from './store.ts'

/** The payout as the rail gets it. Only `attempt` and `accepted` differ between tries. */
export function pixOrderOf(payout: Payout): PixOrder {
  const { name, document } = payout.counterparty
  const to = payout.counterparty
  return {
    send_id: payout.send_id,
    amount: money('BRL', payout.amount),
    to:
      to.type === 'pix_key'
        ? { name, document, pix_key: to.pix_key }
        : {
            name,
            document,
            bank_account: {
              ispb: to.ispb,
              branch: to.branch,
              account_number: to.account_number,
              account_type: to.account_type,
            },
          },
    description: payout.description,
    sent_at: payout.created_at,
    attempt: payout.attempts,
    ...(payout.accepted_at === null ? {} : { accepted: true }),
  }
}
