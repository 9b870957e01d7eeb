// Written by `npm run generate` from openapi.json. Not to be edited.

import type { Call, CallOptions, Listing } from '../call.js'

/** The values known today, and any that a later version may send. */
export type Open<Known extends string> = Known | (string & {})

/** A whole number of the smallest unit. A number of JavaScript would lose digits. */
export type Amount = bigint | string

export type Customer = {
  /** Starts with cus_ */
  id: string
  name: string
  /** CPF or CNPJ, masked */
  document: string
  document_type: Open<'cpf' | 'cnpj'>
  email?: string
  external_id?: string
  metadata: Record<string, string>
  /** A blocked customer can be read and starts nothing; what is paid to it is credited */
  status: Open<'active' | 'blocked'>
  /** Whether the operator arranged that this customer may pay other documents; its own setting, beside that of the partner */
  third_party_payouts?: boolean
  /** ISO 8601, UTC, milliseconds */
  created_at: string
}

export type Balance = {
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Whole number of the smallest unit */
  available: string
  /** Whole number of the smallest unit */
  in_transit: string
  /** Whole number of the smallest unit */
  total: string
  decimals: number
}

export type StatementLine = {
  /** Names this line, and no other: the customer, the asset and seq */
  id: string
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Counts the lines of this asset from 1, without a gap */
  seq: number
  /** Whole number of the smallest unit; negative when it left the balance */
  amount: string
  /** Whole number of the smallest unit */
  balance_after: string
  decimals: number
  cause: {
    /** `reversal` is money that a failed payout or transfer returned, with the id of that payout or transfer, or a credit that the operator took back (`adj_…`). `return` is money of a completed Pix payment that went back: `of` names the payment */
    type: Open<'payout' | 'transfer' | 'trade' | 'deposit' | 'reversal' | 'return' | 'adjustment'>
    /** The object that moved the money; its prefix tells its type */
    id: string
    /** For a `return`: the payout or deposit of which the money went back */
    of?: string
  }
  /** ISO 8601, UTC, milliseconds */
  created_at: string
}

export type ToPixKey = {
  type: 'pix_key'
  /** CPF, CNPJ, e-mail, phone (+55…) or random key */
  pix_key: string
  /** The holder’s CPF or CNPJ: another holder’s key is refused. Default: whoever the directory names; where it cannot be asked, the customer’s own document, so a payout to somebody else needs it */
  document?: string | undefined
}

export type ToBankAccount = {
  type: 'bank_account'
  /** The bank’s ISPB, eight characters */
  ispb: string
  /** Branch, without its check digit */
  branch: string
  /** Account with its check digit, digits only */
  account_number: string
  account_type: 'checking' | 'savings' | 'payment' | 'salary'
  /** The holder’s name */
  name: string
  /** The holder’s CPF or CNPJ */
  document: string
}

export type PixPayout = {
  /** Starts with po_ */
  id: string
  /** Starts with cus_ */
  customer_id: string
  direction: Open<'outbound'>
  /** Whole number of the smallest unit */
  amount: string
  /** Fee in centavos */
  fee: string
  decimals: 2
  /** completed and failed are final */
  status: Open<'pending' | 'processing' | 'completed' | 'failed'>
  counterparty: {
    /** Empty if the payment provider names no holders, and it is not the customer */
    name: string
    /** Masked */
    document: string
    /** Normalised; null for a bank account */
    pix_key: string | null
    ispb?: string
    branch?: string
    account_number?: string
    account_type?: string
  }
  description?: string
  /** Id in the Pix network; null until completed */
  end_to_end_id: string | null
  /** Why it failed; null otherwise */
  failure: {
    code: Open<'recipient_account_invalid' | 'recipient_account_blocked' | 'recipient_account_closed' | 'recipient_document_mismatch' | 'recipient_key_not_found' | 'recipient_limit_exceeded' | 'payment_not_supported' | 'rejected_by_recipient_bank' | 'suspected_fraud' | 'regulatory_block' | 'network_timeout' | 'never_sent' | 'provider_error' | 'resolved_by_operator'>
    message: string
    /** As the Pix network said it */
    rail_code?: string
  } | null
  idempotency_key: string
  /** Your own texts, as the request had them */
  metadata?: Record<string, string>
  /** What came back of the payment after it was completed, in centavos; absent if nothing did */
  amount_returned?: string
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  /** When it was paid */
  completed_at?: string
  /** When it failed, and the money was given back */
  failed_at?: string
}

export type PixPayoutDryRun = {
  dry_run: true
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Decimals of asset */
  decimals: number
  /** Whole number of the smallest unit */
  fee: string
  /** Whole number of the smallest unit */
  balance_after: string
  counterparty?: {
    /** Empty if the payment provider names no holders, and it is not the customer */
    name: string
    /** Masked */
    document: string
    /** Normalised; null for a bank account */
    pix_key: string | null
    ispb?: string
    branch?: string
    account_number?: string
    account_type?: string
  }
  /** This very request was made before: it would get that answer, and nothing would move */
  would_replay: boolean
}

export type PixKey = {
  type: Open<'cpf' | 'cnpj' | 'email' | 'phone' | 'random'>
  /** Normalised */
  pix_key: string
  /** Who holds the key. Absent where the payment provider lets nobody look keys up: it checks the holder when it pays */
  holder?: {
    name: string
    /** Masked */
    document: string
  }
  /** Whether the customer asked about may pay it; absent if this shows only when the payment is made */
  payable?: boolean
}

export type PixCharge = {
  /** Starts with chg_ */
  id: string
  /** Starts with cus_ */
  customer_id: string
  /** Whole number of the smallest unit */
  amount: string
  decimals: 2
  /** pending is being registered with the payment provider; open can be paid; paid and failed are final; expired becomes paid if a late payment completes the amount */
  status: Open<'pending' | 'open' | 'paid' | 'expired' | 'failed'>
  /** The sum of the payments that were credited, in centavos; it may be above `amount` */
  amount_received: string
  /** The BR Code that the payer copies, or scans as a QR code; null until the charge is open */
  pix_copia_e_cola: string | null
  /** The charge’s reference in the Pix network */
  txid: string
  description?: string
  /** Why it failed */
  failure?: {
    code: Open<'provider_error' | 'provider_unreachable'>
    message: string
    /** As the payment provider said it */
    rail_code?: string
  }
  idempotency_key: string
  /** Your own texts, as the request had them */
  metadata?: Record<string, string>
  /** Until when it can be paid */
  expires_at: string
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  /** When the payment was made that completed the amount */
  paid_at?: string
  /** When it failed */
  failed_at?: string
}

export type PixPayment = {
  /** The id of the payment in the Pix network */
  end_to_end_id: string
  /** The charge that was paid */
  charge_id: string | null
  /** Whole number of the smallest unit */
  amount: string
  /** Its credit; null if nothing was credited */
  deposit_id: string | null
}

export type Deposit = {
  /** Starts with dep_ */
  id: string
  /** Starts with cus_ */
  customer_id: string
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Whole number of the smallest unit */
  amount: string
  decimals: number
  /** completed is final: the balance has it. pending was seen on its network, and waits for confirmations; dropped was removed from the chain before that, and becomes pending again if it comes back */
  status: Open<'completed' | 'pending' | 'dropped'>
  /** The network on which it came in */
  network?: Open<'polygon' | 'arbitrum' | 'optimism' | 'tron' | 'ethereum' | 'bitcoin'>
  /** The deposit address that was paid */
  address?: string
  /** The transaction that paid it */
  tx_hash?: string
  /** Which output of the transaction, or which of its log entries; with tx_hash it names one deposit */
  output_index?: number
  confirmations?: {
    /** Blocks with and above the transaction, when it was last looked at */
    seen: number
    /** It is credited when so many were seen */
    needed: number
  }
  /** There, and true, when it is below the minimum of its network: then it stays pending */
  below_minimum?: boolean
  /** The id of the payment in the Pix network */
  end_to_end_id?: string
  /** The charge that was paid */
  charge_id?: string
  /** The amount that was returned to the payer and debited again; absent if nothing was */
  amount_returned?: string
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  /** When the balance got it */
  completed_at?: string
}

export type OnchainTransfer = {
  /** Starts with tr_ */
  id: string
  /** Starts with cus_ */
  customer_id: string
  direction: Open<'outbound'>
  asset: Open<'USDT' | 'BTC'>
  network: Open<'polygon' | 'arbitrum' | 'optimism' | 'tron' | 'ethereum' | 'bitcoin'>
  /** What leaves the balance: amount_net + fee */
  amount_gross: string
  /** What the recipient gets */
  amount_net: string
  /** Network fee */
  fee: string
  decimals: number
  /** confirmed and failed are final */
  status: Open<'pending' | 'processing' | 'confirmed' | 'failed'>
  destination_address: string
  /** Null until broadcast */
  tx_hash: string | null
  /** Why it failed; null otherwise */
  failure: {
    code: Open<'refused_before_broadcast' | 'reverted' | 'canceled' | 'resolved_by_operator'>
    message: string
    /** As the network said it */
    rail_code?: string
  } | null
  idempotency_key: string
  /** Your own texts, as the request had them */
  metadata?: Record<string, string>
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  /** When it was confirmed */
  completed_at?: string
  /** When it failed, and the money was given back */
  failed_at?: string
}

export type OnchainTransferDryRun = {
  dry_run: true
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Decimals of asset */
  decimals: number
  /** Whole number of the smallest unit */
  fee: string
  /** Whole number of the smallest unit */
  balance_after: string
  /** This very request was made before: it would get that answer, and nothing would move */
  would_replay: boolean
}

export type NetworkFee = {
  network: Open<'polygon' | 'arbitrum' | 'optimism' | 'tron' | 'ethereum' | 'bitcoin'>
  asset: Open<'USDT' | 'BTC'>
  /** Whole number of the smallest unit */
  fee: string
  decimals: number
}

/** In smallest units of from_asset; total is partner plus service */
export type Fees = {
  /** Whole number of the smallest unit */
  total: string
  /** partner_bps + service_bps */
  total_bps: number
  /** Whole number of the smallest unit */
  partner: string
  /** The partner’s part, in basis points */
  partner_bps: number
  /** Whole number of the smallest unit */
  service: string
  /** The service’s part, in basis points */
  service_bps: number
}

export type Quote = {
  /** Starts with qt_ */
  id: string
  /** Starts with cus_ */
  customer_id: string
  /** What is paid */
  from_asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** What is received */
  to_asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** What leaves the balance, fees included */
  from_amount: string
  /** What is added to the balance */
  to_amount: string
  from_decimals: number
  to_decimals: number
  /** What 1 to_asset costs, in smallest units of from_asset; for display */
  price: string
  /** Shown price = price / 10^price_decimals */
  price_decimals: number
  /** Quote asset per base asset, exact: what the amounts were computed with */
  market_price: string
  /** What the customer does with the base asset of the pair */
  side: Open<'buy' | 'sell'>
  fees: Fees
  /** expired once 30 seconds have passed without execution */
  status: Open<'pending' | 'expired' | 'executed'>
  /** The trade it became, once it was executed */
  trade_id?: string
  /** Your own texts, as the request had them */
  metadata?: Record<string, string>
  /** 30 seconds after created_at */
  expires_at: string
  /** ISO 8601, UTC, milliseconds */
  created_at: string
}

export type Trade = {
  /** Starts with td_ */
  id: string
  /** Starts with qt_ */
  quote_id: string
  /** Starts with cus_ */
  customer_id: string
  /** A failed trade moved nothing */
  status: Open<'completed' | 'failed'>
  /** What is paid */
  from_asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** What is received */
  to_asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** What leaves the balance, fees included */
  from_amount: string
  /** What is added to the balance */
  to_amount: string
  from_decimals: number
  to_decimals: number
  /** The quote’s price */
  executed_price: string
  /** Shown price = price / 10^price_decimals */
  price_decimals: number
  /** Quote asset per base asset, exact: what the amounts were computed with */
  market_price: string
  /** What the customer does with the base asset of the pair */
  side: Open<'buy' | 'sell'>
  fees: Fees
  /** Why it failed; null otherwise */
  failure: {
    code: Open<'treasury_limit'>
    message: string
  } | null
  /** Your own texts, as the request had them */
  metadata?: Record<string, string>
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  /** ISO 8601, UTC, milliseconds */
  completed_at: string
}

export type TradeDryRun = {
  dry_run: true
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Decimals of asset */
  decimals: number
  /** Whole number of the smallest unit */
  fee: string
  /** Whole number of the smallest unit */
  balance_after: string
  /** Present when the trade would be, or was, made as `failed`: nothing would move */
  would_fail?: {
    code: string
    message: string
  }
  /** This very request was made before: it would get that answer, and nothing would move */
  would_replay: boolean
}

export type Price = {
  /** Base asset / quote asset */
  pair: Open<'USDT/BRL' | 'BTC/USDT' | 'BTC/BRL'>
  /** Quote asset for one base asset, as the market has it */
  price: string
  /** What a quote that buys the base asset would lock */
  buy_price: string
  /** What a quote that sells the base asset would lock */
  sell_price: string
  /** Where the price was seen */
  source: string
  /** ISO 8601, UTC, milliseconds */
  observed_at: string
  /** How long ago that was */
  age_ms: number
  /** false: too old to quote from, a quote gets price_unavailable */
  fresh: boolean
}

export type Account = {
  /** Starts with ptn_ */
  id: string
  name: string
  environment: Open<'production' | 'sandbox'>
  tier: Open<'standard' | 'growth' | 'enterprise'>
  /** What was agreed */
  fees: {
    pix: {
      /** Whole number of the smallest unit */
      fee: string
      asset: Open<'BRL'>
    }
    conversion: {
      /** The service’s fee, in basis points */
      service_bps: number
      /** How much of your own fee goes to the operator, in percent */
      share_pct: number
    }
  }
  /** Payouts may go to other documents than the customer’s */
  third_party_payouts: boolean
  partner_fees: {
    /** BRL, USDT or BTC */
    asset: Open<'BRL' | 'USDT' | 'BTC'>
    /** Earned by your fees on conversions and not yet paid out to you */
    accrued: string
    decimals: number
  }[]
  /** ISO 8601, UTC, milliseconds */
  created_at: string
}

export type FeePayout = {
  /** Starts with fp_ */
  id: string
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Whole number of the smallest unit */
  amount: string
  decimals: number
  /** Whose balance it was paid to; absent when it was paid outside */
  customer_id?: string
  /** The operator’s reference */
  reference: string
  /** ISO 8601, UTC, milliseconds */
  created_at: string
}

export type DepositAddress = {
  /** Starts with da_ */
  id: string
  /** Starts with cus_ */
  customer_id: string
  network: Open<'polygon' | 'arbitrum' | 'optimism' | 'tron' | 'ethereum' | 'bitcoin'>
  /** What may be sent to it; anything else is lost */
  asset: Open<'USDT' | 'BTC'>
  address: string
  /** A smaller deposit is not credited by itself: whole number of the smallest unit */
  minimum_amount: string
  decimals: number
  /** Blocks with and above a transaction before it is credited */
  confirmations_needed: number
  /** ISO 8601, UTC, milliseconds */
  created_at: string
}

export type Request = {
  /** As in the header X-Request-Id */
  id: string
  /** Starts with key_ */
  key_id: string
  method: string
  /** Route template; absent if no route matched */
  route?: string
  /** The HTTP status of the response */
  status: number
  /** error.code of the response, if it was refused */
  error_code?: string
  duration_ms: number
  /** IP address of the caller */
  address: string
  /** Id of the object in the response, or else the last id in the path */
  object_id?: string
  /** ISO 8601, UTC, milliseconds */
  created_at: string
}

export type WebhookEndpointWithSecret = {
  /** Starts with whe_ */
  id: string
  /** Where to POST: https (in the sandbox also http), a public address */
  url: string
  /** Event types; * is every type, also those to come */
  events: Open<'customer.created' | 'customer.updated' | 'customer.blocked' | 'customer.unblocked' | 'deposit.pending' | 'deposit.completed' | 'deposit.dropped' | 'deposit.returned' | 'pix.payout.created' | 'pix.payout.processing' | 'pix.payout.completed' | 'pix.payout.failed' | 'pix.payout.returned' | 'pix.charge.open' | 'pix.charge.paid' | 'pix.charge.expired' | 'pix.charge.failed' | 'onchain.transfer.created' | 'onchain.transfer.processing' | 'onchain.transfer.confirmed' | 'onchain.transfer.failed' | 'trade.completed' | 'trade.failed' | 'fee_payout.completed' | 'api_key.created' | 'api_key.rotated' | 'api_key.revoked' | 'webhook_endpoint.disabled' | '*'>[]
  /** For yourself */
  description?: string
  status: Open<'enabled' | 'disabled'>
  /** gone: it returned 410; failing: nothing but failures for five days */
  disabled_reason?: Open<'by_request' | 'gone' | 'failing'>
  /** ISO 8601, UTC, milliseconds */
  disabled_at?: string
  /** Time of the first failure since the last success, change of URL or enabling */
  failing_since?: string
  /** Until then every request is signed with the secret before the last rotation too */
  previous_secret_until?: string
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  /** Signs what is sent; shown this once */
  secret: string
}

export type WebhookEndpoint = {
  /** Starts with whe_ */
  id: string
  /** Where to POST: https (in the sandbox also http), a public address */
  url: string
  /** Event types; * is every type, also those to come */
  events: Open<'customer.created' | 'customer.updated' | 'customer.blocked' | 'customer.unblocked' | 'deposit.pending' | 'deposit.completed' | 'deposit.dropped' | 'deposit.returned' | 'pix.payout.created' | 'pix.payout.processing' | 'pix.payout.completed' | 'pix.payout.failed' | 'pix.payout.returned' | 'pix.charge.open' | 'pix.charge.paid' | 'pix.charge.expired' | 'pix.charge.failed' | 'onchain.transfer.created' | 'onchain.transfer.processing' | 'onchain.transfer.confirmed' | 'onchain.transfer.failed' | 'trade.completed' | 'trade.failed' | 'fee_payout.completed' | 'api_key.created' | 'api_key.rotated' | 'api_key.revoked' | 'webhook_endpoint.disabled' | '*'>[]
  /** For yourself */
  description?: string
  status: Open<'enabled' | 'disabled'>
  /** gone: it returned 410; failing: nothing but failures for five days */
  disabled_reason?: Open<'by_request' | 'gone' | 'failing'>
  /** ISO 8601, UTC, milliseconds */
  disabled_at?: string
  /** Time of the first failure since the last success, change of URL or enabling */
  failing_since?: string
  /** Until then every request is signed with the secret before the last rotation too */
  previous_secret_until?: string
  /** ISO 8601, UTC, milliseconds */
  created_at: string
}

export type WebhookDelivery = {
  /** Starts with evt_ */
  event_id: string
  /** Starts with whe_ */
  endpoint_id: string
  type: Open<'customer.created' | 'customer.updated' | 'customer.blocked' | 'customer.unblocked' | 'deposit.pending' | 'deposit.completed' | 'deposit.dropped' | 'deposit.returned' | 'pix.payout.created' | 'pix.payout.processing' | 'pix.payout.completed' | 'pix.payout.failed' | 'pix.payout.returned' | 'pix.charge.open' | 'pix.charge.paid' | 'pix.charge.expired' | 'pix.charge.failed' | 'onchain.transfer.created' | 'onchain.transfer.processing' | 'onchain.transfer.confirmed' | 'onchain.transfer.failed' | 'trade.completed' | 'trade.failed' | 'fee_payout.completed' | 'api_key.created' | 'api_key.rotated' | 'api_key.revoked' | 'webhook_endpoint.disabled' | 'webhook_endpoint.test'>
  /** exhausted: every attempt of the schedule failed; canceled: the endpoint was disabled or deleted before it was delivered. Both can be redelivered. There may be more in the future */
  status: Open<'pending' | 'delivered' | 'exhausted' | 'canceled'>
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  /** While it is pending */
  next_attempt_at?: string
  /** ISO 8601, UTC, milliseconds */
  ended_at?: string
  /** What is sent, to the byte, the same in every attempt */
  body?: string
  /** The last 20 */
  attempts: {
    attempt: number
    /** ISO 8601, UTC, milliseconds */
    started_at: string
    duration_ms: number
    request: {
      url: string
      headers: Record<string, string>
    }
    answer?: {
      status: number
      /** Selected response headers, up to 256 characters each */
      headers?: Record<string, string>
      /** Its beginning: of a success 1 KiB, of a failure 4 KiB; in lists 1,024 characters. Kept of the last three attempts, and up to 32 MiB of responses a day; otherwise empty */
      body?: string
      /** There is more of it in the single delivery */
      body_cut?: true
    }
    /** Why there was no complete response */
    error?: string
  }[]
}

export type Usage = {
  minute: {
    limit: number
    used: number
    remaining: number
    /** ISO 8601, UTC, milliseconds */
    resets_at: string
  }
  day: {
    limit: number
    used: number
    remaining: number
    /** ISO 8601, UTC, milliseconds */
    resets_at: string
  }
  endpoints: {
    endpoint: string
    limit: number
    used: number
    remaining: number
    /** ISO 8601, UTC, milliseconds */
    resets_at: string
  }[]
  /** Look-ups of Pix keys, per minute */
  lookups: {
    limit: number
    used: number
    remaining: number
    /** ISO 8601, UTC, milliseconds */
    resets_at: string
  }
}

export type ApiKey = {
  /** Starts with key_ */
  id: string
  /** Starts with ptn_ */
  partner_id: string
  environment: Open<'production' | 'sandbox'>
  name: string
  /** The end of its value */
  last_four: string
  scopes: Open<'read' | 'customers' | 'payouts' | 'transfers' | 'quotes' | 'webhooks'>[]
  /** Empty: any address */
  ip_allowlist: string[]
  /** When it stops working */
  expires_at: string | null
  /** When it was revoked */
  revoked_at: string | null
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  /** When it was used last */
  last_used_at: string | null
  /** From where */
  last_used_address: string | null
}

/** `error.details` of `insufficient_balance` */
export type InsufficientBalanceDetails = {
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Whole number of the smallest unit */
  needed: string
  /** Whole number of the smallest unit */
  available: string
}

/** `error.details` of `customer_exists` */
export type CustomerExistsDetails = {
  /** Starts with cus_ */
  customer_id: string
}

/** `error.details` of `limit_exceeded` */
export type LimitExceededDetails = {
  limit: Open<'payout_order' | 'payout_day' | 'payout_night' | 'transfer_order' | 'transfer_day'>
  /** BRL, USDT or BTC */
  asset: Open<'BRL' | 'USDT' | 'BTC'>
  /** Whole number of the smallest unit */
  allowed: string
  /** Whole number of the smallest unit */
  used: string
  /** Null for the limit of a single order */
  resets_at: string | null
}

/** `error.details` of `rate_limit_exceeded` */
export type RateLimitExceededDetails = {
  /** Absent where too many requests or connections were open at once */
  window?: Open<'minute' | 'day' | 'endpoint' | 'lookups' | 'address' | 'waits'>
  limit: number
  retry_after_seconds: number
}

export type CustomersCreateParams = {
  /** Full name */
  name: string
  /** CPF or CNPJ */
  document: string
  /** E-mail address */
  email?: string | undefined
  /** Your own id of this customer; unique */
  external_id?: string | undefined
  /** Up to 20 texts of your own */
  metadata?: Record<string, string> | undefined
}

export type CustomersListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** A blocked customer can be read and starts nothing; what is paid to it is credited */
  status?: 'active' | 'blocked' | undefined
  /** CPF or CNPJ, bare or fully punctuated */
  document?: string | undefined
  /** Your own id of this customer; unique */
  external_id?: string | undefined
}

export type CustomersUpdateParams = {
  /** Full name */
  name?: string | undefined
  email?: string | null | undefined
  /** Up to 20 texts of your own */
  metadata?: Record<string, string> | undefined
}

export type CustomersStatementParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** BRL, USDT or BTC */
  asset?: 'BRL' | 'USDT' | 'BTC' | undefined
}

export type PixPayoutsCreateParams = {
  /** Starts with cus_ */
  customer_id: string
  /** Whole number of the smallest unit, as a string */
  amount: Amount
  /** Where the money goes */
  counterparty: ToPixKey | ToBankAccount
  /** Visible to the recipient */
  description?: string | undefined
  /** Yours; the same key with the same body is one operation, for 24 hours */
  idempotency_key: string
  /** Up to 20 texts of your own */
  metadata?: Record<string, string> | undefined
}

export type PixPayoutsListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** Starts with cus_ */
  customer_id?: string | undefined
  /** completed and failed are final */
  status?: 'pending' | 'processing' | 'completed' | 'failed' | undefined
  /** Made under this idempotency key: 1 to 255 printable ASCII characters */
  idempotency_key?: string | undefined
  /** The payment’s id in the Pix network: letters and digits */
  end_to_end_id?: string | undefined
}

export type PixKeysGetParams = {
  /** Starts with cus_ */
  customer_id?: string | undefined
}

export type PixPayoutsReceiptParams = {
  /** The language: pt (Brazilian Portuguese) or en; pt when absent */
  lang?: 'pt' | 'en' | undefined
}

export type SandboxPayoutsSendBackParams = {
  /** Whole number of the smallest unit, as a string */
  amount?: Amount | undefined
}

export type PixChargesCreateParams = {
  /** Starts with cus_ */
  customer_id: string
  /** Whole number of the smallest unit, as a string */
  amount: Amount
  /** For how long it can be paid. Default: 3600 */
  expires_in_seconds?: number | undefined
  /** Visible to the payer */
  description?: string | undefined
  /** Yours; the same key with the same body is one operation, for 24 hours */
  idempotency_key: string
  /** Up to 20 texts of your own */
  metadata?: Record<string, string> | undefined
}

export type PixChargesListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** Starts with cus_ */
  customer_id?: string | undefined
  /** pending is being registered with the payment provider; open can be paid; paid and failed are final; expired becomes paid if a late payment completes the amount */
  status?: 'pending' | 'open' | 'paid' | 'expired' | 'failed' | undefined
  /** Made under this idempotency key: 1 to 255 printable ASCII characters */
  idempotency_key?: string | undefined
}

export type SandboxPaymentsCreateParams = {
  /** Default: the payment names no charge */
  charge_id?: string | undefined
  /** Default: the amount of the charge */
  amount?: Amount | undefined
}

export type SandboxPaymentsSendBackParams = {
  /** Whole number of the smallest unit, as a string */
  amount?: Amount | undefined
}

export type OnchainTransfersCreateParams = {
  /** Starts with cus_ */
  customer_id: string
  asset: 'USDT' | 'BTC'
  /** polygon, arbitrum, optimism, tron or ethereum for USDT; bitcoin for BTC */
  network: 'polygon' | 'arbitrum' | 'optimism' | 'tron' | 'ethereum' | 'bitcoin'
  /** Whole number of the smallest unit, as a string */
  amount: Amount
  /** Where it goes */
  destination_address: string
  /** Yours; the same key with the same body is one operation, for 24 hours */
  idempotency_key: string
  /** Up to 20 texts of your own */
  metadata?: Record<string, string> | undefined
}

export type OnchainTransfersListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** Starts with cus_ */
  customer_id?: string | undefined
  /** confirmed and failed are final */
  status?: 'pending' | 'processing' | 'confirmed' | 'failed' | undefined
  asset?: 'USDT' | 'BTC' | undefined
  network?: 'polygon' | 'arbitrum' | 'optimism' | 'tron' | 'ethereum' | 'bitcoin' | undefined
  /** Made under this idempotency key: 1 to 255 printable ASCII characters */
  idempotency_key?: string | undefined
  /** The transaction’s hash, as the transfer shows it once it is broadcast */
  tx_hash?: string | undefined
}

export type OnchainTransfersReceiptParams = {
  /** The language: pt (Brazilian Portuguese) or en; pt when absent */
  lang?: 'pt' | 'en' | undefined
}

export type QuotesCreateParams = {
  /** Starts with cus_ */
  customer_id: string
  /** BRL, USDT or BTC */
  from_asset: 'BRL' | 'USDT' | 'BTC'
  /** BRL, USDT or BTC */
  to_asset: 'BRL' | 'USDT' | 'BTC'
  /** Whole number of the smallest unit, as a string */
  amount: Amount
  /** from_asset or to_asset; from_asset when absent */
  amount_asset?: 'BRL' | 'USDT' | 'BTC' | undefined
  /** gross: fees included, when absent; net: fees on top */
  amount_type?: 'gross' | 'net' | undefined
  /** Your own fee, in basis points; at most 1000 unless agreed otherwise */
  partner_fee_bps?: number | undefined
  /** Up to 20 texts of your own */
  metadata?: Record<string, string> | undefined
}

export type QuotesListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** Starts with cus_ */
  customer_id?: string | undefined
  /** What is paid */
  from_asset?: 'BRL' | 'USDT' | 'BTC' | undefined
  /** What is received */
  to_asset?: 'BRL' | 'USDT' | 'BTC' | undefined
  /** expired once 30 seconds have passed without execution */
  status?: 'pending' | 'expired' | 'executed' | undefined
}

export type TradesListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** Starts with cus_ */
  customer_id?: string | undefined
  /** What is paid */
  from_asset?: 'BRL' | 'USDT' | 'BTC' | undefined
  /** What is received */
  to_asset?: 'BRL' | 'USDT' | 'BTC' | undefined
  /** A failed trade moved nothing */
  status?: 'completed' | 'failed' | undefined
  /** Starts with qt_ */
  quote_id?: string | undefined
}

export type SandboxPricesSetParams = {
  pair: 'USDT/BRL' | 'BTC/USDT'
  /** Above zero, up to 8 digits before and 8 after the point */
  price: string
  age_seconds?: number | undefined
}

export type SandboxPricesSetResult = {
  data: Price[]
}

export type AccountFeePayoutsParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
}

export type DepositAddressesCreateParams = {
  /** polygon, arbitrum, optimism, tron, ethereum, bitcoin */
  network: 'polygon' | 'arbitrum' | 'optimism' | 'tron' | 'ethereum' | 'bitcoin'
}

export type DepositsListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** Starts with cus_ */
  customer_id?: string | undefined
  /** BRL, USDT or BTC */
  asset?: 'BRL' | 'USDT' | 'BTC' | undefined
  /** completed is final: the balance has it. pending was seen on its network, and waits for confirmations; dropped was removed from the chain before that, and becomes pending again if it comes back */
  status?: 'completed' | 'pending' | 'dropped' | undefined
}

export type SandboxDepositsCreateParams = {
  /** Starts with cus_ */
  customer_id: string
  /** BRL, USDT or BTC */
  asset: 'BRL' | 'USDT' | 'BTC'
  /** Whole number of the smallest unit, as a string */
  amount: Amount
}

export type SandboxDepositsReceiveParams = {
  /** A deposit address of one of your customers */
  address?: string | undefined
  /** Starts with cus_ */
  customer_id?: string | undefined
  /** polygon, arbitrum, optimism, tron, ethereum, bitcoin; needed with customer_id, and for an address that is in use on several */
  network?: 'polygon' | 'arbitrum' | 'optimism' | 'tron' | 'ethereum' | 'bitcoin' | undefined
  /** Whole number of the smallest unit, as a string */
  amount: Amount
}

export type EventsListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** An event’s id, a next_cursor, start or now */
  after?: string | undefined
  /** Seconds to wait when there is nothing yet, 0 to 30 */
  wait?: number | undefined
  /** Events of this type */
  type?: 'customer.created' | 'customer.updated' | 'customer.blocked' | 'customer.unblocked' | 'deposit.pending' | 'deposit.completed' | 'deposit.dropped' | 'deposit.returned' | 'pix.payout.created' | 'pix.payout.processing' | 'pix.payout.completed' | 'pix.payout.failed' | 'pix.payout.returned' | 'pix.charge.open' | 'pix.charge.paid' | 'pix.charge.expired' | 'pix.charge.failed' | 'onchain.transfer.created' | 'onchain.transfer.processing' | 'onchain.transfer.confirmed' | 'onchain.transfer.failed' | 'trade.completed' | 'trade.failed' | 'fee_payout.completed' | 'api_key.created' | 'api_key.rotated' | 'api_key.revoked' | 'webhook_endpoint.disabled' | 'webhook_endpoint.test' | undefined
  /** Events of this object */
  object_id?: string | undefined
}

export type RequestsListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  /** A request’s id, a next_cursor, start or now */
  after?: string | undefined
  /** Seconds to wait when there is nothing yet, 0 to 30 */
  wait?: number | undefined
  /** Answered with this status */
  status?: string | undefined
  /** Made with this key */
  key_id?: string | undefined
}

export type WebhookEndpointsCreateParams = {
  /** Where to POST: https (in the sandbox also http), a public address */
  url: string
  /** Event types; * is every type, also those to come */
  events: readonly ('customer.created' | 'customer.updated' | 'customer.blocked' | 'customer.unblocked' | 'deposit.pending' | 'deposit.completed' | 'deposit.dropped' | 'deposit.returned' | 'pix.payout.created' | 'pix.payout.processing' | 'pix.payout.completed' | 'pix.payout.failed' | 'pix.payout.returned' | 'pix.charge.open' | 'pix.charge.paid' | 'pix.charge.expired' | 'pix.charge.failed' | 'onchain.transfer.created' | 'onchain.transfer.processing' | 'onchain.transfer.confirmed' | 'onchain.transfer.failed' | 'trade.completed' | 'trade.failed' | 'fee_payout.completed' | 'api_key.created' | 'api_key.rotated' | 'api_key.revoked' | 'webhook_endpoint.disabled' | '*')[]
  /** For yourself */
  description?: string | undefined
}

export type WebhookEndpointsListParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
}

export type WebhookEndpointsUpdateParams = {
  /** Where to POST: https (in the sandbox also http), a public address */
  url?: string | undefined
  /** Event types; * is every type, also those to come */
  events?: readonly ('customer.created' | 'customer.updated' | 'customer.blocked' | 'customer.unblocked' | 'deposit.pending' | 'deposit.completed' | 'deposit.dropped' | 'deposit.returned' | 'pix.payout.created' | 'pix.payout.processing' | 'pix.payout.completed' | 'pix.payout.failed' | 'pix.payout.returned' | 'pix.charge.open' | 'pix.charge.paid' | 'pix.charge.expired' | 'pix.charge.failed' | 'onchain.transfer.created' | 'onchain.transfer.processing' | 'onchain.transfer.confirmed' | 'onchain.transfer.failed' | 'trade.completed' | 'trade.failed' | 'fee_payout.completed' | 'api_key.created' | 'api_key.rotated' | 'api_key.revoked' | 'webhook_endpoint.disabled' | '*')[] | undefined
  description?: string | null | undefined
  status?: 'enabled' | 'disabled' | undefined
}

export type WebhookEndpointsRotateSecretParams = {
  /** How long both are valid, in hours; 24 when absent */
  grace_hours?: number | undefined
}

export type WebhookEndpointsDeliveriesParams = {
  /** How many, 1 to 100; 20 when absent */
  limit?: number | undefined
  /** next_cursor of the page before, with the same filters */
  cursor?: string | undefined
  /** Created at this time or later */
  created_after?: string | undefined
  /** Created before this time */
  created_before?: string | undefined
  status?: 'pending' | 'delivered' | 'exhausted' | 'canceled' | undefined
}

export type WebhookEndpointsRedeliverParams = {
  /** Inclusive */
  from: string
  /** Exclusive */
  to: string
}

export type WebhookEndpointsRedeliverResult = {
  /** How many deliveries begin anew */
  redelivered: number
  /** The range holds more than one call takes: call again with this as from */
  next_from?: string
}

export type EventsRedeliverParams = {
  /** Starts with whe_ */
  endpoint_id?: string | undefined
}

export type EventsRedeliverResult = {
  /** To how many endpoints */
  redelivered: number
}

export type SandboxEventsCreateKind = 'customer.created' | 'customer.updated' | 'customer.blocked' | 'customer.unblocked' | 'deposit.pending' | 'deposit.completed' | 'deposit.dropped' | 'deposit.returned' | 'pix.payout.created' | 'pix.payout.processing' | 'pix.payout.completed' | 'pix.payout.failed' | 'pix.payout.returned' | 'pix.charge.open' | 'pix.charge.paid' | 'pix.charge.expired' | 'pix.charge.failed' | 'onchain.transfer.created' | 'onchain.transfer.processing' | 'onchain.transfer.confirmed' | 'onchain.transfer.failed' | 'trade.completed' | 'trade.failed' | 'fee_payout.completed' | 'api_key.created' | 'api_key.rotated' | 'api_key.revoked' | 'webhook_endpoint.disabled'

export type SandboxEventsCreateParams = {
  /** Fields of the object, as GET shows them; not its id */
  override?: Record<string, unknown> | undefined
}

/** One event: of the log, and in the body of a webhook. */
export type EventOf<Type, Object> = {
  /** Starts with evt_ */
  id: string
  /** What happened */
  type: Type
  /** ISO 8601, UTC, milliseconds */
  created_at: string
  environment: Open<'production' | 'sandbox'>
  /** Rises per object: drop what is lower than what you have */
  sequence: number
  data: {
    /** The object as GET shows it at that moment; the webhook of each type says which */
    object: Object
  }
}

export type CustomerCreatedEvent = EventOf<'customer.created', Customer>
export type CustomerUpdatedEvent = EventOf<'customer.updated', Customer>
export type CustomerBlockedEvent = EventOf<'customer.blocked', Customer>
export type CustomerUnblockedEvent = EventOf<'customer.unblocked', Customer>
export type DepositPendingEvent = EventOf<'deposit.pending', Deposit>
export type DepositCompletedEvent = EventOf<'deposit.completed', Deposit>
export type DepositDroppedEvent = EventOf<'deposit.dropped', Deposit>
export type DepositReturnedEvent = EventOf<'deposit.returned', Deposit>
export type PixPayoutCreatedEvent = EventOf<'pix.payout.created', PixPayout>
export type PixPayoutProcessingEvent = EventOf<'pix.payout.processing', PixPayout>
export type PixPayoutCompletedEvent = EventOf<'pix.payout.completed', PixPayout>
export type PixPayoutFailedEvent = EventOf<'pix.payout.failed', PixPayout>
export type PixPayoutReturnedEvent = EventOf<'pix.payout.returned', PixPayout>
export type PixChargeOpenEvent = EventOf<'pix.charge.open', PixCharge>
export type PixChargePaidEvent = EventOf<'pix.charge.paid', PixCharge>
export type PixChargeExpiredEvent = EventOf<'pix.charge.expired', PixCharge>
export type PixChargeFailedEvent = EventOf<'pix.charge.failed', PixCharge>
export type OnchainTransferCreatedEvent = EventOf<'onchain.transfer.created', OnchainTransfer>
export type OnchainTransferProcessingEvent = EventOf<'onchain.transfer.processing', OnchainTransfer>
export type OnchainTransferConfirmedEvent = EventOf<'onchain.transfer.confirmed', OnchainTransfer>
export type OnchainTransferFailedEvent = EventOf<'onchain.transfer.failed', OnchainTransfer>
export type TradeCompletedEvent = EventOf<'trade.completed', Trade>
export type TradeFailedEvent = EventOf<'trade.failed', Trade>
export type FeePayoutCompletedEvent = EventOf<'fee_payout.completed', FeePayout>
export type ApiKeyCreatedEvent = EventOf<'api_key.created', ApiKey>
export type ApiKeyRotatedEvent = EventOf<'api_key.rotated', ApiKey>
export type ApiKeyRevokedEvent = EventOf<'api_key.revoked', ApiKey>
export type WebhookEndpointDisabledEvent = EventOf<'webhook_endpoint.disabled', WebhookEndpoint>
export type WebhookEndpointTestEvent = EventOf<'webhook_endpoint.test', WebhookEndpoint>

/** Every event type known today, and what its event looks like. */
export type EventMap = {
  'customer.created': CustomerCreatedEvent
  'customer.updated': CustomerUpdatedEvent
  'customer.blocked': CustomerBlockedEvent
  'customer.unblocked': CustomerUnblockedEvent
  'deposit.pending': DepositPendingEvent
  'deposit.completed': DepositCompletedEvent
  'deposit.dropped': DepositDroppedEvent
  'deposit.returned': DepositReturnedEvent
  'pix.payout.created': PixPayoutCreatedEvent
  'pix.payout.processing': PixPayoutProcessingEvent
  'pix.payout.completed': PixPayoutCompletedEvent
  'pix.payout.failed': PixPayoutFailedEvent
  'pix.payout.returned': PixPayoutReturnedEvent
  'pix.charge.open': PixChargeOpenEvent
  'pix.charge.paid': PixChargePaidEvent
  'pix.charge.expired': PixChargeExpiredEvent
  'pix.charge.failed': PixChargeFailedEvent
  'onchain.transfer.created': OnchainTransferCreatedEvent
  'onchain.transfer.processing': OnchainTransferProcessingEvent
  'onchain.transfer.confirmed': OnchainTransferConfirmedEvent
  'onchain.transfer.failed': OnchainTransferFailedEvent
  'trade.completed': TradeCompletedEvent
  'trade.failed': TradeFailedEvent
  'fee_payout.completed': FeePayoutCompletedEvent
  'api_key.created': ApiKeyCreatedEvent
  'api_key.rotated': ApiKeyRotatedEvent
  'api_key.revoked': ApiKeyRevokedEvent
  'webhook_endpoint.disabled': WebhookEndpointDisabledEvent
  'webhook_endpoint.test': WebhookEndpointTestEvent
}
export type EventType = keyof EventMap

/** A type that this version does not know. No text equals it, so that comparing `type` narrows to the known ones. */
export declare enum OtherType {
  other = 'a type of a later version',
}
export type OtherEvent = EventOf<OtherType, Record<string, unknown>>
export type Event = EventMap[EventType] | OtherEvent

export type ErrorType =
  | 'authentication_error'
  | 'permission_error'
  | 'invalid_request_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'business_error'
  | 'rate_limit_error'
  | 'api_error'

export type ErrorCode =
  | 'missing_authorization'
  | 'invalid_api_key'
  | 'revoked_api_key'
  | 'expired_api_key'
  | 'ip_not_allowed'
  | 'insufficient_scope'
  | 'sandbox_only'
  | 'customer_blocked'
  | 'invalid_json'
  | 'invalid_request'
  | 'invalid_amount'
  | 'invalid_pix_key'
  | 'invalid_address'
  | 'unsupported_network'
  | 'route_not_found'
  | 'customer_not_found'
  | 'deposit_not_found'
  | 'payout_not_found'
  | 'charge_not_found'
  | 'transfer_not_found'
  | 'quote_not_found'
  | 'trade_not_found'
  | 'event_not_found'
  | 'webhook_endpoint_not_found'
  | 'request_not_found'
  | 'method_not_allowed'
  | 'quote_expired'
  | 'idempotency_conflict'
  | 'already_final'
  | 'receipt_not_available'
  | 'webhook_endpoint_disabled'
  | 'too_many_webhook_endpoints'
  | 'customer_exists'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'request_timeout'
  | 'headers_too_large'
  | 'insufficient_balance'
  | 'pix_key_not_found'
  | 'counterparty_not_allowed'
  | 'unsupported_pair'
  | 'amount_too_small'
  | 'amount_too_large'
  | 'limit_exceeded'
  | 'rate_limit_exceeded'
  | 'too_many_redeliveries'
  | 'internal_error'
  | 'rail_unavailable'
  | 'price_unavailable'
  | 'service_unavailable'

/** What `details` holds, by code. */
export type ErrorDetails = {
  insufficient_balance: InsufficientBalanceDetails
  customer_exists: CustomerExistsDetails
  limit_exceeded: LimitExceededDetails
  rate_limit_exceeded: RateLimitExceededDetails
}

/** The methods of the client. */
export type Resources = {
  readonly customers: {
    /** Create a customer. `POST /v1/customers` */
    create(params: CustomersCreateParams, options?: CallOptions): Call<Customer>
    /** List customers, newest first. `GET /v1/customers` */
    list(params?: CustomersListParams, options?: CallOptions): Listing<Customer>
    /** Read a customer. `GET /v1/customers/{customer_id}` */
    get(customer_id: string, options?: CallOptions): Call<Customer>
    /** Change a customer’s name, e-mail or metadata. `PATCH /v1/customers/{customer_id}` */
    update(customer_id: string, params: CustomersUpdateParams, options?: CallOptions): Call<Customer>
    /** A customer’s balances. `GET /v1/customers/{customer_id}/balances` */
    balances(customer_id: string, options?: CallOptions): Listing<Balance, { data: Balance[] }>
    /** A customer’s statement, newest first. `GET /v1/customers/{customer_id}/statement` */
    statement(customer_id: string, params?: CustomersStatementParams, options?: CallOptions): Listing<StatementLine>
  }
  readonly pix: {
    readonly payouts: {
      /** Send a Pix payment. `POST /v1/pix/payouts` */
      create(params: PixPayoutsCreateParams, options?: CallOptions): Call<PixPayout>
      /** Send a Pix payment: check only, nothing moves. `POST /v1/pix/payouts?dry_run=true` */
      dryRun(params: PixPayoutsCreateParams, options?: CallOptions): Call<PixPayoutDryRun>
      /** List payouts, newest first. `GET /v1/pix/payouts` */
      list(params?: PixPayoutsListParams, options?: CallOptions): Listing<PixPayout>
      /** Read a payout. `GET /v1/pix/payouts/{payout_id}` */
      get(payout_id: string, options?: CallOptions): Call<PixPayout>
      /** Download the receipt (comprovante) of a payout. `GET /v1/pix/payouts/{payout_id}/receipt` */
      receipt(payout_id: string, params?: PixPayoutsReceiptParams, options?: CallOptions): Call<Uint8Array>
    }
    readonly keys: {
      /** Check a Pix key before paying it. `GET /v1/pix/keys/{pix_key}` */
      get(pix_key: string, params?: PixKeysGetParams, options?: CallOptions): Call<PixKey>
    }
    readonly charges: {
      /** Ask for a Pix payment. `POST /v1/pix/charges` */
      create(params: PixChargesCreateParams, options?: CallOptions): Call<PixCharge>
      /** List charges, newest first. `GET /v1/pix/charges` */
      list(params?: PixChargesListParams, options?: CallOptions): Listing<PixCharge>
      /** Read a charge. `GET /v1/pix/charges/{charge_id}` */
      get(charge_id: string, options?: CallOptions): Call<PixCharge>
    }
  }
  readonly sandbox: {
    readonly payouts: {
      /** Let a processing payout complete. `POST /v1/sandbox/pix/payouts/{payout_id}/complete` */
      complete(payout_id: string, options?: CallOptions): Call<PixPayout>
      /** Let a processing payout fail. `POST /v1/sandbox/pix/payouts/{payout_id}/fail` */
      fail(payout_id: string, options?: CallOptions): Call<PixPayout>
      /** Let a completed payout come back. `POST /v1/sandbox/pix/payouts/{payout_id}/return` */
      sendBack(payout_id: string, params?: SandboxPayoutsSendBackParams, options?: CallOptions): Call<PixPayout>
    }
    readonly payments: {
      /** Let somebody pay by Pix. `POST /v1/sandbox/pix/payments` */
      create(params: SandboxPaymentsCreateParams, options?: CallOptions): Call<PixPayment>
      /** Let a received payment be given back. `POST /v1/sandbox/pix/payments/{end_to_end_id}/return` */
      sendBack(end_to_end_id: string, params?: SandboxPaymentsSendBackParams, options?: CallOptions): Call<Deposit>
    }
    readonly charges: {
      /** Let a charge expire now. `POST /v1/sandbox/pix/charges/{charge_id}/expire` */
      expire(charge_id: string, options?: CallOptions): Call<PixCharge>
    }
    readonly transfers: {
      /** Let a transfer be confirmed. `POST /v1/sandbox/onchain/transfers/{transfer_id}/confirm` */
      confirm(transfer_id: string, options?: CallOptions): Call<OnchainTransfer>
      /** Let a transfer fail. `POST /v1/sandbox/onchain/transfers/{transfer_id}/fail` */
      fail(transfer_id: string, options?: CallOptions): Call<OnchainTransfer>
    }
    readonly prices: {
      /** Move a sandbox price. `POST /v1/sandbox/prices` */
      set(params: SandboxPricesSetParams, options?: CallOptions): Call<SandboxPricesSetResult>
    }
    readonly quotes: {
      /** Let a quote expire now. `POST /v1/sandbox/quotes/{quote_id}/expire` */
      expire(quote_id: string, options?: CallOptions): Call<Quote>
    }
    readonly deposits: {
      /** Credit a test balance. `POST /v1/sandbox/deposits` */
      create(params: SandboxDepositsCreateParams, options?: CallOptions): Call<Deposit>
      /** Let a deposit arrive on a network. `POST /v1/sandbox/onchain/deposits` */
      receive(params: SandboxDepositsReceiveParams, options?: CallOptions): Call<Deposit>
    }
    readonly events: {
      /** Make a sample event. `POST /v1/sandbox/events/{kind}` */
      create(kind: SandboxEventsCreateKind, params?: SandboxEventsCreateParams, options?: CallOptions): Call<Event>
    }
  }
  readonly onchain: {
    readonly transfers: {
      /** Send USDT or BTC to an address. `POST /v1/onchain/transfers` */
      create(params: OnchainTransfersCreateParams, options?: CallOptions): Call<OnchainTransfer>
      /** Send USDT or BTC to an address: check only, nothing moves. `POST /v1/onchain/transfers?dry_run=true` */
      dryRun(params: OnchainTransfersCreateParams, options?: CallOptions): Call<OnchainTransferDryRun>
      /** List transfers, newest first. `GET /v1/onchain/transfers` */
      list(params?: OnchainTransfersListParams, options?: CallOptions): Listing<OnchainTransfer>
      /** Read a transfer. `GET /v1/onchain/transfers/{transfer_id}` */
      get(transfer_id: string, options?: CallOptions): Call<OnchainTransfer>
      /** Download the receipt of a transfer. `GET /v1/onchain/transfers/{transfer_id}/receipt` */
      receipt(transfer_id: string, params?: OnchainTransfersReceiptParams, options?: CallOptions): Call<Uint8Array>
    }
    readonly fees: {
      /** What a transfer costs right now, per network. `GET /v1/onchain/fees` */
      list(options?: CallOptions): Listing<NetworkFee, { data: NetworkFee[] }>
    }
  }
  readonly quotes: {
    /** Lock a price for 30 seconds. `POST /v1/quotes` */
    create(params: QuotesCreateParams, options?: CallOptions): Call<Quote>
    /** List quotes, newest first. `GET /v1/quotes` */
    list(params?: QuotesListParams, options?: CallOptions): Listing<Quote>
    /** Execute a quote. `POST /v1/quotes/{quote_id}/execute` */
    execute(quote_id: string, options?: CallOptions): Call<Trade>
    /** Execute a quote: check only, nothing moves. `POST /v1/quotes/{quote_id}/execute?dry_run=true` */
    dryRun(quote_id: string, options?: CallOptions): Call<TradeDryRun>
    /** Read a quote. `GET /v1/quotes/{quote_id}` */
    get(quote_id: string, options?: CallOptions): Call<Quote>
  }
  readonly trades: {
    /** List trades, newest first. `GET /v1/trades` */
    list(params?: TradesListParams, options?: CallOptions): Listing<Trade>
    /** Read a trade. `GET /v1/trades/{trade_id}` */
    get(trade_id: string, options?: CallOptions): Call<Trade>
  }
  readonly prices: {
    /** What each pair is worth right now. `GET /v1/prices` */
    list(options?: CallOptions): Listing<Price, { data: Price[] }>
  }
  readonly account: {
    /** Your own terms, and the fees you have earned. `GET /v1/account` */
    get(options?: CallOptions): Call<Account>
    /** The fees that were paid out to you, newest first. `GET /v1/account/fee_payouts` */
    feePayouts(params?: AccountFeePayoutsParams, options?: CallOptions): Listing<FeePayout>
  }
  readonly depositAddresses: {
    /** Get the deposit address of a customer on a network. `POST /v1/customers/{customer_id}/deposit_addresses` */
    create(customer_id: string, params: DepositAddressesCreateParams, options?: CallOptions): Call<DepositAddress>
    /** The deposit addresses of a customer. `GET /v1/customers/{customer_id}/deposit_addresses` */
    list(customer_id: string, options?: CallOptions): Listing<DepositAddress, { data: DepositAddress[] }>
  }
  readonly deposits: {
    /** List deposits, newest first. `GET /v1/deposits` */
    list(params?: DepositsListParams, options?: CallOptions): Listing<Deposit>
    /** Read a deposit. `GET /v1/deposits/{deposit_id}` */
    get(deposit_id: string, options?: CallOptions): Call<Deposit>
  }
  readonly events: {
    /** Read the event log. `GET /v1/events` */
    list(params?: EventsListParams, options?: CallOptions): Listing<Event>
    /** Read an event. `GET /v1/events/{event_id}` */
    get(event_id: string, options?: CallOptions): Call<Event>
    /** Send an event again. `POST /v1/events/{event_id}/redeliver` */
    redeliver(event_id: string, params?: EventsRedeliverParams, options?: CallOptions): Call<EventsRedeliverResult>
  }
  readonly requests: {
    /** Read the log of requests. `GET /v1/requests` */
    list(params?: RequestsListParams, options?: CallOptions): Listing<Request>
    /** Read a request. `GET /v1/requests/{request_id}` */
    get(request_id: string, options?: CallOptions): Call<Request>
  }
  readonly webhookEndpoints: {
    /** Create a webhook endpoint. `POST /v1/webhook_endpoints` */
    create(params: WebhookEndpointsCreateParams, options?: CallOptions): Call<WebhookEndpointWithSecret>
    /** List webhook endpoints, newest first. `GET /v1/webhook_endpoints` */
    list(params?: WebhookEndpointsListParams, options?: CallOptions): Listing<WebhookEndpoint>
    /** Read a webhook endpoint. `GET /v1/webhook_endpoints/{endpoint_id}` */
    get(endpoint_id: string, options?: CallOptions): Call<WebhookEndpoint>
    /** Change, enable or disable a webhook endpoint. `PATCH /v1/webhook_endpoints/{endpoint_id}` */
    update(endpoint_id: string, params: WebhookEndpointsUpdateParams, options?: CallOptions): Call<WebhookEndpoint>
    /** Delete a webhook endpoint. `DELETE /v1/webhook_endpoints/{endpoint_id}` */
    delete(endpoint_id: string, options?: CallOptions): Call<void>
    /** Give a webhook endpoint a new secret. `POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret` */
    rotateSecret(endpoint_id: string, params?: WebhookEndpointsRotateSecretParams, options?: CallOptions): Call<WebhookEndpointWithSecret>
    /** What was sent to a webhook endpoint, and what came back, newest first. `GET /v1/webhook_endpoints/{endpoint_id}/deliveries` */
    deliveries(endpoint_id: string, params?: WebhookEndpointsDeliveriesParams, options?: CallOptions): Listing<WebhookDelivery>
    /** One delivery, with all that is kept of the responses. `GET /v1/webhook_endpoints/{endpoint_id}/deliveries/{event_id}` */
    delivery(endpoint_id: string, event_id: string, options?: CallOptions): Call<WebhookDelivery>
    /** Send a test event to a webhook endpoint. `POST /v1/webhook_endpoints/{endpoint_id}/test` */
    test(endpoint_id: string, options?: CallOptions): Call<WebhookDelivery>
    /** Send everything of a time range again. `POST /v1/webhook_endpoints/{endpoint_id}/redeliver` */
    redeliver(endpoint_id: string, params: WebhookEndpointsRedeliverParams, options?: CallOptions): Call<WebhookEndpointsRedeliverResult>
  }
  readonly usage: {
    /** What is left of this key’s limits. `GET /v1/usage` */
    get(options?: CallOptions): Call<Usage>
  }
}
