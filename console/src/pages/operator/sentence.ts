import { amountText, type Language } from '../../format/amount.ts'
import { isolated } from '../../format/id.ts'
import type { Texts } from '../../text/en/en.ts'
import { railName } from './rail-names.ts'

type Told = {
  readonly action: string
  readonly amount: string | null
  readonly asset: string | null
  readonly customer: { readonly name: string } | null
  readonly partner: { readonly name: string } | null
  readonly details: Readonly<Record<string, string>>
  /** The sentence of the service, in English. */
  readonly what: string
}

/**
 * A sentence that says what an approval will do. It names the person and, if money moves, the amount; a proposal whose object
 * is missing has neither, and says so in the words of the service.
 */
export function sentenceOf(
  { action, amount, asset, customer, partner, details, what }: Told,
  { operator }: Pick<Texts, 'operator'>,
  language: Language,
): string {
  const say = operator.proposals.sentence[action]
  const pays_fees = action === 'pay_fees'
  const name = pays_fees ? partner?.name : customer?.name
  const rail = details.rail === undefined ? undefined : railName(details.rail)
  const who = name === undefined ? (details.email ?? rail ?? details.customer_id) : isolated(name)
  const has_amount = amount !== null && asset !== null
  const moves_money = details.email === undefined && rail === undefined
  if (say === undefined || who === undefined || (moves_money && !has_amount)) return what
  return say({
    amount: has_amount ? amountText(amount, asset, { language }) : '',
    who,
    to: pays_fees && customer !== null ? isolated(customer.name) : '',
    paid: details.outcome !== 'failed',
    role: operator.people.roles[details.role ?? ''] ?? '',
    end_to_end_id: details.end_to_end_id ?? '',
    inward: details.direction === 'to_rail',
  })
}
