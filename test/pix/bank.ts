import { randomBytes } from 'node:crypto'

/**
 * An account at a bank that a test has in its hands: what was ordered, what somebody paid, what went back, and the balance that follows
 * from all of it. It knows no HTTP: a stub of one provider tells it over the provider's calls (efi-stub.ts).
 */
export type Bank = {
  readonly ispb: string
  /** Payments that the bank took, by the id of the order. */
  readonly sent: ReadonlyMap<string, SentPayment>
  readonly charges: ReadonlyMap<string, BankCharge>
  /** Payments that came in, by their end-to-end id. */
  readonly received: ReadonlyMap<string, ReceivedPayment>
  /** Takes an order once. Undefined: it has one under this id. */
  take(order: { id: string; amount: bigint; order: unknown }): SentPayment | undefined
  /** How payments end from now on. */
  decide(end: (payment: Pick<SentPayment, 'id' | 'amount' | 'order'>) => SentEnd): void
  /** Registers a charge once. Undefined: it has one under this txid. */
  charge(charge: Omit<BankCharge, 'created_at'>): BankCharge | undefined
  /** Somebody pays: a charge, all of it unless an amount says otherwise, or the key itself. Expiry and state are not looked at. */
  pay(payment: { txid?: string; amount?: bigint; paid_at?: Date }): ReceivedPayment
  /** Gives a payment back that came in, all that is left of it unless an amount says otherwise. */
  giveBack(end_to_end_id: string, given?: GivenBack): BankReturn
  /** Somebody gives back what was sent to them. */
  comeBack(id: string, given?: GivenBack): BankReturn
  /** In centavos. What is under way has left the account. */
  balance(): { readonly available: bigint; readonly blocked: bigint }
  /** Makes the balance what it says, as of now. */
  hold(balance: { available: bigint; blocked?: bigint }): void
}

/** `open`: it stays under way. */
export type SentEnd = 'settled' | 'open' | { readonly refused: string }

export type SentPayment = {
  readonly id: string
  readonly end_to_end_id: string
  readonly amount: bigint
  readonly taken_at: number
  /** As the provider's call had it. */
  readonly order: unknown
  end: SentEnd
  readonly returns: BankReturn[]
}

export type BankCharge = {
  readonly txid: string
  readonly amount: bigint
  readonly pix_key: string
  readonly seconds: number
  readonly description: string | undefined
  readonly created_at: Date
}

export type ReceivedPayment = {
  readonly end_to_end_id: string
  readonly txid: string | undefined
  readonly amount: bigint
  readonly paid_at: Date
  /** When the bank saw it: lists may have it later than it was paid. */
  readonly seen_at: number
  readonly returns: BankReturn[]
}

export type BankReturn = {
  readonly id: string
  readonly amount: bigint
  readonly at: Date
  state: 'settled' | 'open' | 'refused'
}

type GivenBack = { readonly amount?: bigint; readonly state?: BankReturn['state'] }

export function openBank({ ispb = '09089356', opening = 100_000_000n } = {}): Bank {
  const sent = new Map<string, SentPayment>()
  const charges = new Map<string, BankCharge>()
  const received = new Map<string, ReceivedPayment>()
  let endOf: Parameters<Bank['decide']>[0] = () => 'settled'
  let held = { opening, blocked: 0n }

  function giveBack(payment: SentPayment | ReceivedPayment | undefined, given: GivenBack = {}): BankReturn {
    if (!payment) throw new Error('The bank has no such payment')
    const left = payment.amount - sumOf(payment.returns.filter(({ state }) => state !== 'refused'))
    const { amount = left, state = 'settled' } = given
    const one: BankReturn = { id: networkId('D', ispb), amount, at: new Date(), state }
    payment.returns.push(one)
    return one
  }

  /** All that the payments moved since the account was opened. */
  const moved = () =>
    sumOf([...received.values()]) -
    sumOf([...received.values()].flatMap(settledReturns)) -
    sumOf([...sent.values()].filter(({ end }) => typeof end === 'string')) +
    sumOf([...sent.values()].flatMap(settledReturns))

  return {
    ...{ ispb, sent, charges, received },
    take({ id, amount, order }) {
      if (sent.has(id)) return undefined
      const payment: SentPayment = {
        ...{ id, amount, order, end_to_end_id: networkId('E', ispb), taken_at: Date.now(), returns: [] },
        end: endOf({ id, amount, order }),
      }
      sent.set(id, payment)
      return payment
    },
    decide(end) {
      endOf = end
    },
    charge(charge) {
      if (charges.has(charge.txid)) return undefined
      const made = { ...charge, created_at: new Date() }
      charges.set(charge.txid, made)
      return made
    },
    pay({ txid, amount = charges.get(txid ?? '')?.amount, paid_at = new Date() }) {
      if (amount === undefined) throw new Error('Nobody knows how much to pay')
      const end_to_end_id = networkId('E', '60701190')
      const payment = { end_to_end_id, txid, amount, paid_at, seen_at: Date.now(), returns: [] }
      received.set(end_to_end_id, payment)
      return payment
    },
    giveBack: (end_to_end_id, given) => giveBack(received.get(end_to_end_id), given),
    comeBack: (id, given) => giveBack(sent.get(id), given),
    balance: () => ({ available: held.opening + moved() - held.blocked, blocked: held.blocked }),
    hold({ available, blocked = 0n }) {
      held = { opening: available + blocked - moved(), blocked }
    },
  }
}

const settledReturns = ({ returns }: { returns: readonly BankReturn[] }) =>
  returns.filter(({ state }) => state === 'settled')

const sumOf = (parts: readonly { readonly amount: bigint }[]): bigint =>
  parts.reduce((sum, { amount }) => sum + amount, 0n)

/** E of a payment or D of a return, the bank, the minute in UTC, and eleven letters and digits. */
function networkId(kind: 'E' | 'D', ispb: string): string {
  const minute = new Date().toISOString().replaceAll(/[-:T]/g, '').slice(0, 12)
  return `${kind}${ispb}${minute}${randomBytes(6).toString('hex').slice(0, 11)}`
}
