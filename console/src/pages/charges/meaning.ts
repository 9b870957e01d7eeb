import type { Calls, PixCharge } from '../../api/types.ts'

export type Payment = Calls['console.charges.get']['reply']['payments'][number]

/** What a payment is for its charge. `waits`: it is not credited yet. */
export type PaymentKind = 'whole' | 'part' | 'rest' | 'more' | 'again' | 'waits'

type Seen = Pick<Payment, 'amount' | 'paid_at'> & { readonly deposit: unknown }
type Asked = Pick<PixCharge, 'amount' | 'expires_at'>

/** The kind of each payment, in the order of the payments. */
export function kindsOf(
  charge: Asked,
  payments: readonly Seen[],
): readonly { readonly kind: PaymentKind; readonly late: boolean }[] {
  const asked = BigInt(charge.amount)
  let received = 0n
  return payments.map(({ amount, paid_at, deposit }) => {
    const late = Date.parse(paid_at) > Date.parse(charge.expires_at)
    if (deposit === null) return { kind: 'waits', late }
    const before = received
    received += BigInt(amount)
    if (before >= asked) return { kind: 'again', late }
    if (received < asked) return { kind: 'part', late }
    if (received > asked) return { kind: 'more', late }
    return { kind: before === 0n ? 'whole' : 'rest', late }
  })
}

type Meaning =
  | { readonly kind: 'part_open' | 'part_expired'; readonly missing: string }
  | { readonly kind: 'again' | 'more'; readonly above: string }
  | { readonly kind: 'waits'; readonly amount: string }
  | { readonly kind: 'unpaid' | 'late' }

type Known = Asked & Pick<PixCharge, 'status' | 'amount_received' | 'paid_at'>

/** What a partner should know about the payments of a charge, if it is more than that it was paid. */
export function meaningsOf(charge: Known, payments: readonly Seen[]): readonly Meaning[] {
  const { status, amount, amount_received, paid_at } = charge
  const received = BigInt(amount_received)
  const missing = String(BigInt(amount) - received)
  const above = String(received - BigInt(amount))
  const kinds = kindsOf(charge, payments)
  const waiting = payments.filter(({ deposit }) => deposit === null)
  const is_late = paid_at !== undefined && Date.parse(paid_at) > Date.parse(charge.expires_at)
  const said: (Meaning | false)[] = [
    status === 'open' && received > 0n && { kind: 'part_open', missing },
    status === 'expired' && received > 0n && { kind: 'part_expired', missing },
    status === 'expired' && received === 0n && { kind: 'unpaid' },
    status === 'paid' && is_late && { kind: 'late' },
    status === 'paid' &&
      received > BigInt(amount) && {
        kind: kinds.some(({ kind }) => kind === 'again') ? 'again' : 'more',
        above,
      },
    ...waiting.map(({ amount }): Meaning => ({ kind: 'waits', amount })),
  ]
  return said.filter((one) => one !== false)
}
