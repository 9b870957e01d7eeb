/**
 * The order in which the collections call every operation once, plus the extra calls that bring about the state that each
 * operation needs. Bodies are the examples of openapi.json; a step holds only its differences.
 */
export type Step = {
  /** The operation's name, as in `x-name`. */
  readonly call: string
  /** Name and title of an additional call of an operation. */
  readonly as?: { readonly name: string; readonly title: string }
  readonly body?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, string>>
  /** Path parameters that are not ids, such as an event type. */
  readonly path?: Readonly<Record<string, string>>
  /** Later calls use the first item of this list. */
  readonly first?: true
}

export type Chapter = { readonly title: string; readonly steps: readonly (string | Step)[] }

/**
 * Values that the reader can change in one place. The document differs from that of the demo customer, which exists already.
 */
export const variables = { document: '246.813.579-28', run: '1' } as const

/** Example values of openapi.json that are replaced by variables, so that a second run can use others. */
export const replaced: Readonly<Record<string, string>> = {
  '529.982.247-25': '{{document}}',
  [variables.document]: '{{document}}',
  'user-4711': 'user-4711-{{run}}',
  'invoice-1042': 'invoice-1042-{{run}}',
  'order-1042': 'order-1042-{{run}}',
  'withdrawal-77': 'withdrawal-77-{{run}}',
}

/** A Pix key whose payout stays in progress for 15 seconds, so that it can be completed by hand. */
const slow = { type: 'pix_key', pix_key: 'slow@sandbox.test' }

export const walk: readonly Chapter[] = [
  { title: 'Your account', steps: ['account.get', 'usage.get'] },
  {
    title: 'A customer',
    steps: [
      'customers.create',
      // Finds the customer in a second run too, in which the request before was refused.
      { call: 'customers.list', query: { document: '{{document}}' }, first: true },
      'customers.get',
      'customers.update',
    ],
  },
  {
    title: 'Money in',
    steps: [
      { call: 'sandbox.deposits.create', body: { amount: '500000' } },
      'deposits.list',
      'deposits.get',
      'deposit_addresses.create',
      'deposit_addresses.list',
      'sandbox.deposits.receive',
      'customers.balances',
    ],
  },
  {
    title: 'Pix payouts',
    steps: [
      'pix.keys.get',
      'pix.payouts.create',
      'pix.payouts.list',
      'pix.payouts.get',
      {
        call: 'pix.payouts.create',
        as: { name: 'payout_to_complete', title: 'Create a payout that stays under way, to complete it' },
        body: { counterparty: slow, idempotency_key: 'to-complete-{{run}}' },
      },
      'sandbox.payouts.complete',
      'pix.payouts.receipt',
      'sandbox.payouts.send_back',
      {
        call: 'pix.payouts.create',
        as: {
          name: 'payout_to_fail',
          title: 'Create a payout that stays under way, to fail it within 15 seconds',
        },
        body: { counterparty: slow, idempotency_key: 'to-fail-{{run}}' },
      },
      'sandbox.payouts.fail',
    ],
  },
  {
    title: 'Pix charges',
    steps: [
      'pix.charges.create',
      'pix.charges.list',
      'pix.charges.get',
      'sandbox.payments.create',
      'sandbox.payments.send_back',
      {
        call: 'pix.charges.create',
        as: { name: 'charge_to_expire', title: 'Create a charge, to let it expire' },
        body: { idempotency_key: 'to-expire-{{run}}' },
      },
      'sandbox.charges.expire',
    ],
  },
  {
    title: 'Conversions',
    steps: [
      'prices.list',
      'sandbox.prices.set',
      'quotes.create',
      'quotes.get',
      'quotes.execute',
      'quotes.list',
      'trades.list',
      'trades.get',
      { call: 'quotes.create', as: { name: 'quote_to_expire', title: 'Create a quote, to let it expire' } },
      'sandbox.quotes.expire',
      'account.fee_payouts',
    ],
  },
  {
    title: 'On-chain transfers',
    steps: [
      'onchain.fees.list',
      'onchain.transfers.create',
      'onchain.transfers.list',
      'onchain.transfers.get',
      'sandbox.transfers.confirm',
      'onchain.transfers.receipt',
      {
        call: 'onchain.transfers.create',
        as: { name: 'transfer_to_fail', title: 'Create a transfer that stays under way, to fail it' },
        body: { amount: '25009003', idempotency_key: 'to-revert-{{run}}' },
      },
      'sandbox.transfers.fail',
      'customers.statement',
    ],
  },
  {
    title: 'Webhooks and events',
    steps: [
      'webhook_endpoints.create',
      'webhook_endpoints.list',
      'webhook_endpoints.get',
      'webhook_endpoints.update',
      'webhook_endpoints.rotate_secret',
      'webhook_endpoints.test',
      'webhook_endpoints.deliveries',
      'webhook_endpoints.delivery',
      { call: 'sandbox.events.create', path: { kind: 'pix.payout.completed' } },
      { call: 'events.list', first: true },
      'events.get',
      'events.redeliver',
      'webhook_endpoints.redeliver',
      'webhook_endpoints.delete',
    ],
  },
  { title: 'Requests', steps: [{ call: 'requests.list', first: true }, 'requests.get'] },
]
