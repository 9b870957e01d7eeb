import type { PixCharge } from '../../api/types.ts'
import { plural } from '../plural.ts'

const n = plural('en')

export type ChargeFailure = NonNullable<PixCharge['failure']>

export const charges = {
  title: 'Charges',
  about: 'What customers want to be paid by Pix',
  one: 'Charge',
  several: 'Pix charges',
  count: (count: number) => n(count, { one: '# charge', other: '# charges' }),
  expired_count: (count: number) => n(count, { one: '# expired', other: '# expired' }),
  on_page: (count: number) => n(count, { one: '# charge on this page', other: '# charges on this page' }),
  all: 'All',
  created: 'Created',
  description: 'Description',
  description_hint: 'The payer reads it. Up to 140 characters',
  received: 'Received',
  received_in: 'Received, BRL',
  expires: 'Expires',
  expired_at: 'Expired',
  txid: 'Txid',
  paid_at: 'Paid',
  failed_at: 'Failed',
  failure: 'Failure',
  /** The API has its messages in English. */
  failure_text: ({ message }: ChargeFailure): string => message,
  for_name: (name: string) => `for ${name}`,
  until: (when: string) => `can be paid until ${when}`,
  state: {
    pending: 'Pending',
    open: 'Open',
    paid: 'Paid',
    expired: 'Expired',
    failed: 'Failed',
  } as Readonly<Record<PixCharge['status'], string>>,
  empty: 'No charges yet',
  empty_text:
    'A charge asks a payer for an amount by Pix, with a QR code and a Pix Copia e Cola. Each payment is credited to the customer. Create a charge on the page of a customer, or with this call.',
  empty_live: 'The first production charge appears here. Try charges in the sandbox first.',
  none: 'No charge yet.',
  all_of_customer: 'All charges',
  code: {
    about: 'The payer scans the QR code in the app of a bank, or pastes the text there.',
    qr: 'QR code of this charge',
    copy: 'Copy the code',
    sandbox: 'This code is of the sandbox: apps of banks refuse it. The button Pay plays the payer.',
    pending: 'The charge is being registered with the payment provider. Its code appears here.',
  },
  payments: {
    title: 'Payments',
    about: 'Each one is credited as a deposit',
    none: 'Nobody has paid yet.',
    time: 'Paid',
    payer: 'Payer',
    kind: 'What it is',
    amount: 'Amount, BRL',
    sum: 'Received in all',
    deposit: 'Deposit',
    returned: (amount: string) => `${amount} returned`,
    whole: 'The whole amount',
    part: 'A part',
    rest: 'The rest',
    more: 'More than was asked for',
    again: 'Paid again',
    waits: 'Waits for room in the balance',
    late: (kind: string) => `${kind}, late`,
  },
  means: {
    part_open: (received: string, missing: string, until: string) =>
      `Paid in part: ${received} is in the customer’s balance, ${missing} is missing. The charge stays open until ${until}.`,
    part_expired: (received: string, missing: string) =>
      `The charge expired with a part paid: ${received} is in the customer’s balance, ${missing} is missing. Create another charge for the rest, or return the part to the payer.`,
    unpaid:
      'Nobody paid in time. A payment that comes now is late: it is credited all the same, and makes the charge paid if the amount is complete.',
    again: (more: string) =>
      `Paid more than once: ${more} came on top of the amount, and is in the customer’s balance. The charge stays paid; you decide whether the payer gets it back.`,
    more: (more: string) =>
      `The payer sent ${more} more than was asked for. It is in the customer’s balance; you decide whether the payer gets it back.`,
    late: 'The amount was completed after the charge had expired. It is credited like any other payment, and the charge is paid.',
    waits: (amount: string) =>
      `A payment of ${amount} is not credited yet: the balance would exceed the largest amount. It is credited as soon as there is room.`,
  },
  create: {
    button: 'Create charge',
    title: (name: string) => `Charge by Pix for ${name}`,
    about:
      'The charge gets a QR code and a Pix Copia e Cola. What the payer sends is credited to this customer.',
    amount: 'Amount, BRL',
    expires: 'Can be paid for',
    lasts: {
      '900': '15 minutes',
      '3600': '1 hour',
      '86400': '1 day',
      '604800': '7 days',
      '2592000': '30 days',
    } as Readonly<Record<string, string>>,
    verb: 'Create',
    busy: 'Creating…',
    key: 'Sent with the API key of the playground. In production charges are created with the API.',
  },
  pay: {
    button: 'Pay',
    title: 'Pay this charge',
    about:
      'You play the payer. A smaller amount is a part, a second payment comes on top, and after the end it is late.',
    amount: 'Amount, BRL',
    verb: 'Pay',
    busy: 'Paying…',
  },
  expire: 'Expire now',
  expiring: 'Expiring…',
}
