// Written by `npm run generate` from the console's endpoints in src/doors/console-api. Not to be edited.

export type ApiRequest = { readonly id: string | null; readonly route: string; readonly key: { readonly id: string; readonly name: string; readonly last_four: string }; readonly logged: { readonly address: string; readonly duration_ms: number } | null; readonly body: unknown; readonly answer: { readonly status: number; readonly body: unknown } | null }

export type Balance = { readonly asset: "BRL" | "USDT" | "BTC"; readonly available: string; readonly in_transit: string; readonly total: string; readonly decimals: number }

export type ConsoleDelivery = { readonly event_id: string; readonly endpoint_id: string; readonly type: string; readonly status: "pending" | "delivered" | "exhausted" | "canceled"; readonly attempts: number; readonly next_attempt_at: string | null; readonly created_at: string; readonly answer_status: number | null; readonly error: string | null }

export type ConsoleKey = { readonly id: string; readonly name: string; readonly last_four: string; readonly scopes: readonly ("read" | "customers" | "payouts" | "transfers" | "quotes" | "webhooks")[]; readonly ip_allowlist: readonly (string)[]; readonly expires_at: string | null; readonly revoked_at: string | null; readonly created_at: string; readonly last_used_at: string | null; readonly last_used_address: string | null; readonly state: "active" | "rotating" | "expired" | "revoked"; readonly old_values: readonly ({ readonly last_four: string; readonly valid_until: string })[]; readonly playground: boolean }

export type ConsoleWebhook = { readonly id: string; readonly url: string; readonly events: readonly ("customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "*")[]; readonly description?: string | undefined; readonly status: "enabled" | "disabled"; readonly disabled_reason?: "by_request" | "gone" | "failing" | undefined; readonly disabled_at?: string | undefined; readonly failing_since?: string | undefined; readonly previous_secret_until?: string | undefined; readonly created_at: string; readonly waiting: number; readonly next_attempt_at: string | null; readonly last: ConsoleDelivery | null }

export type Customer = { readonly id: string; readonly name: string; readonly document: string; readonly document_type: "cpf" | "cnpj"; readonly email?: string | undefined; readonly external_id?: string | undefined; readonly metadata: { readonly [name: string]: string }; readonly status: "active" | "blocked"; readonly third_party_payouts?: boolean | undefined; readonly created_at: string }

export type Deposit = { readonly id: string; readonly customer_id: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly decimals: number; readonly status: "completed" | "pending" | "dropped"; readonly network?: "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin" | undefined; readonly address?: string | undefined; readonly tx_hash?: string | undefined; readonly output_index?: number | undefined; readonly confirmations?: { readonly seen: number; readonly needed: number } | undefined; readonly below_minimum?: boolean | undefined; readonly end_to_end_id?: string | undefined; readonly charge_id?: string | undefined; readonly amount_returned?: string | undefined; readonly created_at: string; readonly completed_at?: string | undefined }

export type DepositAddress = { readonly id: string; readonly customer_id: string; readonly network: "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin"; readonly asset: "USDT" | "BTC"; readonly address: string; readonly minimum_amount: string; readonly decimals: number; readonly confirmations_needed: number; readonly created_at: string }

export type Exchange = { readonly request_id: string; readonly status: number; readonly headers: { readonly [name: string]: string }; readonly body: unknown; readonly duration_ms: number; readonly object_id: string | null }

export type Fees = { readonly total: string; readonly total_bps: number; readonly partner: string; readonly partner_bps: number; readonly service: string; readonly service_bps: number }

export type Found = { readonly kind: "customer" | "deposit" | "charge" | "payout" | "transfer" | "quote" | "trade" | "event" | "webhook_endpoint" | "key" | "request" | "partner" | "proposal" | "exception"; readonly id: string; readonly title: string; readonly detail: string; readonly path: string }

export type ListTotals = { readonly complete: boolean; readonly rows_most: number; readonly groups: readonly ({ readonly status: string | null; readonly asset: string | null; readonly to_asset: string | null; readonly count: number; readonly amount: string | null; readonly to_amount: string | null })[] }

export type Movement = { readonly name: string; readonly created_at: string; readonly entries: readonly ({ readonly account: string; readonly owner: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly balance_after: string | null })[] }

export type OnchainTransfer = { readonly id: string; readonly customer_id: string; readonly direction: "outbound"; readonly asset: "USDT" | "BTC"; readonly network: "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin"; readonly amount_gross: string; readonly amount_net: string; readonly fee: string; readonly decimals: number; readonly status: "pending" | "processing" | "confirmed" | "failed"; readonly destination_address: string; readonly tx_hash: string | null; readonly failure: { readonly code: "refused_before_broadcast" | "reverted" | "canceled" | "resolved_by_operator"; readonly message: string; readonly rail_code?: string | undefined } | null; readonly idempotency_key: string; readonly metadata?: { readonly [name: string]: string } | undefined; readonly created_at: string; readonly completed_at?: string | undefined; readonly failed_at?: string | undefined }

export type PixCharge = { readonly id: string; readonly customer_id: string; readonly amount: string; readonly decimals: 2; readonly status: "pending" | "open" | "paid" | "expired" | "failed"; readonly amount_received: string; readonly pix_copia_e_cola: string | null; readonly txid: string; readonly description?: string | undefined; readonly failure?: { readonly code: "provider_error" | "provider_unreachable"; readonly message: string; readonly rail_code?: string | undefined } | undefined; readonly idempotency_key: string; readonly metadata?: { readonly [name: string]: string } | undefined; readonly expires_at: string; readonly created_at: string; readonly paid_at?: string | undefined; readonly failed_at?: string | undefined }

export type PixPayout = { readonly id: string; readonly customer_id: string; readonly direction: "outbound"; readonly amount: string; readonly fee: string; readonly decimals: 2; readonly status: "pending" | "processing" | "completed" | "failed"; readonly counterparty: { readonly name: string; readonly document: string; readonly pix_key: string | null; readonly ispb?: string | undefined; readonly branch?: string | undefined; readonly account_number?: string | undefined; readonly account_type?: string | undefined }; readonly description?: string | undefined; readonly end_to_end_id: string | null; readonly failure: { readonly code: "recipient_account_invalid" | "recipient_account_blocked" | "recipient_account_closed" | "recipient_document_mismatch" | "recipient_key_not_found" | "recipient_limit_exceeded" | "payment_not_supported" | "rejected_by_recipient_bank" | "suspected_fraud" | "regulatory_block" | "network_timeout" | "never_sent" | "provider_error" | "resolved_by_operator"; readonly message: string; readonly rail_code?: string | undefined } | null; readonly idempotency_key: string; readonly metadata?: { readonly [name: string]: string } | undefined; readonly amount_returned?: string | undefined; readonly created_at: string; readonly completed_at?: string | undefined; readonly failed_at?: string | undefined }

export type Price = { readonly pair: "USDT/BRL" | "BTC/USDT" | "BTC/BRL"; readonly price: string; readonly buy_price: string; readonly sell_price: string; readonly source: string; readonly observed_at: string; readonly age_ms: number; readonly fresh: boolean }

export type PublishedEvent = { readonly id: string; readonly type: string; readonly sequence: number; readonly created_at: string; readonly deliveries: readonly ({ readonly endpoint_id: string; readonly url: string; readonly status: "pending" | "delivered" | "exhausted" | "canceled"; readonly attempts: number; readonly next_attempt_at: string | null; readonly answer_status: number | null; readonly error: string | null; readonly duration_ms: number | null })[] }

export type Quote = { readonly id: string; readonly customer_id: string; readonly from_asset: "BRL" | "USDT" | "BTC"; readonly to_asset: "BRL" | "USDT" | "BTC"; readonly from_amount: string; readonly to_amount: string; readonly from_decimals: number; readonly to_decimals: number; readonly price: string; readonly price_decimals: number; readonly market_price: string; readonly side: "buy" | "sell"; readonly fees: Fees; readonly status: "pending" | "expired" | "executed"; readonly trade_id?: string | undefined; readonly metadata?: { readonly [name: string]: string } | undefined; readonly expires_at: string; readonly created_at: string }

export type Request = { readonly id: string; readonly key_id: string; readonly method: string; readonly route?: string | undefined; readonly status: number; readonly error_code?: string | undefined; readonly duration_ms: number; readonly address: string; readonly object_id?: string | undefined; readonly created_at: string }

export type SavedView = { readonly id: string; readonly environment: "production" | "sandbox" | null; readonly page: "payouts" | "transfers" | "customers" | "charges" | "quotes" | "trades" | "events" | "requests" | "webhook" | "audit"; readonly name: string; readonly filters: { readonly [name: string]: string } }

export type StatementLine = { readonly id: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly seq: number; readonly amount: string; readonly balance_after: string; readonly decimals: number; readonly cause: { readonly type: "payout" | "transfer" | "trade" | "deposit" | "reversal" | "return" | "adjustment"; readonly id: string; readonly of?: string | undefined }; readonly created_at: string }

export type ToBankAccount = { readonly type: "bank_account"; readonly ispb: string; readonly branch: string; readonly account_number: string; readonly account_type: "checking" | "savings" | "payment" | "salary"; readonly name: string; readonly document: string }

export type ToPixKey = { readonly type: "pix_key"; readonly pix_key: string; readonly document?: string | undefined }

export type Trade = { readonly id: string; readonly quote_id: string; readonly customer_id: string; readonly status: "completed" | "failed"; readonly from_asset: "BRL" | "USDT" | "BTC"; readonly to_asset: "BRL" | "USDT" | "BTC"; readonly from_amount: string; readonly to_amount: string; readonly from_decimals: number; readonly to_decimals: number; readonly executed_price: string; readonly price_decimals: number; readonly market_price: string; readonly side: "buy" | "sell"; readonly fees: Fees; readonly failure: { readonly code: "treasury_limit"; readonly message: string } | null; readonly metadata?: { readonly [name: string]: string } | undefined; readonly created_at: string; readonly completed_at: string }

export type Usage = { readonly minute: { readonly limit: number; readonly used: number; readonly remaining: number; readonly resets_at: string }; readonly day: { readonly limit: number; readonly used: number; readonly remaining: number; readonly resets_at: string }; readonly endpoints: readonly ({ readonly endpoint: string; readonly limit: number; readonly used: number; readonly remaining: number; readonly resets_at: string })[]; readonly lookups: { readonly limit: number; readonly used: number; readonly remaining: number; readonly resets_at: string } }

export type WebhookDelivery = { readonly event_id: string; readonly endpoint_id: string; readonly type: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test"; readonly status: "pending" | "delivered" | "exhausted" | "canceled"; readonly created_at: string; readonly next_attempt_at?: string | undefined; readonly ended_at?: string | undefined; readonly body?: string | undefined; readonly attempts: readonly ({ readonly attempt: number; readonly started_at: string; readonly duration_ms: number; readonly request: { readonly url: string; readonly headers: { readonly [name: string]: string } }; readonly answer?: { readonly status: number; readonly headers?: { readonly [name: string]: string } | undefined; readonly body?: string | undefined; readonly body_cut?: true | undefined } | undefined; readonly error?: string | undefined })[] }

/** What the console may ask for, by name. */
export type Calls = {
  'console.session.get': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly signed_in: false } | { readonly signed_in: true; readonly csrf_token: string; readonly person: { readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer" | "admin" | "resolver" | "reader"; readonly language: "en" | "pt-BR" | null }; readonly partner: { readonly id: string; readonly name: string } | null; readonly permits: readonly (string)[]; readonly factor: boolean; readonly proved_until: string | null }
  }
  'console.session.sign_in': {
    params: undefined
    query: undefined
    body: { readonly email: string; readonly password: string; readonly code?: string | undefined }
    reply: { readonly signed_in: true; readonly csrf_token: string; readonly person: { readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer" | "admin" | "resolver" | "reader"; readonly language: "en" | "pt-BR" | null }; readonly partner: { readonly id: string; readonly name: string } | null; readonly permits: readonly (string)[]; readonly factor: boolean; readonly proved_until: string | null; readonly new_password?: string | undefined }
  }
  'console.session.sign_out': {
    params: undefined
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.session.prove': {
    params: undefined
    query: undefined
    body: { readonly code?: string | undefined; readonly password?: string | undefined }
    reply: { readonly signed_in: true; readonly csrf_token: string; readonly person: { readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer" | "admin" | "resolver" | "reader"; readonly language: "en" | "pt-BR" | null }; readonly partner: { readonly id: string; readonly name: string } | null; readonly permits: readonly (string)[]; readonly factor: boolean; readonly proved_until: string | null }
  }
  'console.me.get': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer" | "admin" | "resolver" | "reader"; readonly language: "en" | "pt-BR" | null; readonly created_at: string; readonly factor: { readonly since: string; readonly recovery_codes_left: number } | null; readonly keys_shut_until: string | null }
  }
  'console.me.change': {
    params: undefined
    query: undefined
    body: { readonly name?: string | undefined; readonly language?: "en" | "pt-BR" | null | undefined }
    reply: { readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer" | "admin" | "resolver" | "reader"; readonly language: "en" | "pt-BR" | null; readonly created_at: string; readonly factor: { readonly since: string; readonly recovery_codes_left: number } | null; readonly keys_shut_until: string | null }
  }
  'console.me.change_password': {
    params: undefined
    query: undefined
    body: { readonly password: string; readonly new_password: string }
    reply: undefined
  }
  'console.me.begin_factor': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly secret: string; readonly uri: string }
  }
  'console.me.disable_factor': {
    params: undefined
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.me.confirm_factor': {
    params: undefined
    query: undefined
    body: { readonly code: string }
    reply: { readonly recovery_codes: readonly (string)[] }
  }
  'console.me.renew_recovery_codes': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly recovery_codes: readonly (string)[] }
  }
  'console.me.sessions.list': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly address: string | null; readonly agent: string | null; readonly created_at: string; readonly used_at: string; readonly current: boolean })[] }
  }
  'console.me.sessions.end_others': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly ended: number }
  }
  'console.me.sessions.end': {
    params: { readonly session_id: string }
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.me.views.list': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly data: readonly (SavedView)[] }
  }
  'console.me.views.save': {
    params: undefined
    query: undefined
    body: { readonly environment: "production" | "sandbox" | null; readonly page: "payouts" | "transfers" | "customers" | "charges" | "quotes" | "trades" | "events" | "requests" | "webhook" | "audit"; readonly name: string; readonly filters: { readonly [name: string]: string } }
    reply: SavedView
  }
  'console.me.views.rename': {
    params: { readonly view_id: string }
    query: undefined
    body: { readonly name: string }
    reply: SavedView
  }
  'console.me.views.delete': {
    params: { readonly view_id: string }
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.account.get': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly id: string; readonly name: string; readonly tier: "standard" | "growth" | "enterprise"; readonly pix_fee: string; readonly service_fee_bps: number; readonly partner_fee_share_pct: number; readonly third_party_payouts: boolean; readonly limits: { readonly per_minute: number | null; readonly per_day: number | null; readonly endpoint_per_minute: number | null; readonly lookup_per_minute: number | null }; readonly endpoint_limits: readonly ({ readonly endpoint: string; readonly per_minute: number })[]; readonly own_limits: readonly ("per_minute" | "per_day" | "endpoint_per_minute" | "lookup_per_minute")[]; readonly money_limits: { readonly production: { readonly payout_order: string | null; readonly payout_day: string | null; readonly payout_night: string | null; readonly transfer_order_usdt: string | null; readonly transfer_order_btc: string | null; readonly transfer_day_usdt: string | null; readonly transfer_day_btc: string | null }; readonly sandbox: { readonly payout_order: string | null; readonly payout_day: string | null; readonly payout_night: string | null; readonly transfer_order_usdt: string | null; readonly transfer_order_btc: string | null; readonly transfer_day_usdt: string | null; readonly transfer_day_btc: string | null } }; readonly created_at: string }
  }
  'console.team.get': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly people: readonly ({ readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer"; readonly factor: boolean; readonly last_seen_at: string | null; readonly created_at: string })[]; readonly invitations: readonly ({ readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer"; readonly made_by: string; readonly created_at: string; readonly expires_at: string })[] }
  }
  'console.team.change_role': {
    params: { readonly user_id: string }
    query: undefined
    body: { readonly role: "owner" | "developer" | "finance" | "viewer" }
    reply: undefined
  }
  'console.team.remove': {
    params: { readonly user_id: string }
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.team.reset_factor': {
    params: { readonly user_id: string }
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.invitations.create': {
    params: undefined
    query: undefined
    body: { readonly form_id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer" }
    reply: { readonly id: string; readonly link: string; readonly expires_at: string }
  }
  'console.invitations.withdraw': {
    params: { readonly link_id: string }
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.resets.create': {
    params: undefined
    query: undefined
    body: { readonly form_id: string; readonly user_id: string }
    reply: { readonly id: string; readonly link: string; readonly expires_at: string }
  }
  'console.links.look': {
    params: undefined
    query: undefined
    body: { readonly token: string }
    reply: { readonly kind: "invitation" | "reset"; readonly email: string; readonly name: string; readonly partner: string; readonly role: "owner" | "developer" | "finance" | "viewer" | null; readonly expires_at: string }
  }
  'console.links.use': {
    params: undefined
    query: undefined
    body: { readonly token: string; readonly password: string }
    reply: { readonly email: string }
  }
  'console.acts.list': {
    params: undefined
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly at: string; readonly actor: { readonly id: string | null; readonly email: string | null }; readonly session_id: string | null; readonly address: string | null; readonly action: string; readonly object_id: string | null; readonly before: { readonly [name: string]: unknown } | null; readonly after: { readonly [name: string]: unknown } | null; readonly hash: string })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.acts.csv': {
    params: undefined
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.acts.totals': {
    params: undefined
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.me.notifications.list': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly kind: "sign_in" | "key_created" | "key_expiring" | "webhook_disabled" | "webhook_failing" | "limit_near" | "exception_opened" | "proposal_waiting"; readonly place: "" | "production" | "sandbox"; readonly topic: string; readonly count: number; readonly samples: readonly ({ readonly id: string; readonly note?: string | undefined })[]; readonly last_at: string; readonly read: boolean; readonly path: string })[]; readonly unread: number }
  }
  'console.me.notifications.count': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly unread: number }
  }
  'console.me.notifications.read': {
    params: undefined
    query: undefined
    body: { readonly seen: readonly ({ readonly id: string; readonly count: number })[] }
    reply: { readonly unread: number }
  }
  'console.me.notifications.settings': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly email: string; readonly works: boolean; readonly state: "confirmed" | "unconfirmed" | "asked" | "not_mailable"; readonly kinds: readonly ({ readonly kind: "sign_in" | "key_created" | "key_expiring" | "webhook_disabled" | "webhook_failing" | "limit_near" | "exception_opened" | "proposal_waiting"; readonly mail: boolean })[] }
  }
  'console.me.notifications.change': {
    params: undefined
    query: undefined
    body: { readonly kind: "sign_in" | "key_created" | "key_expiring" | "webhook_disabled" | "webhook_failing" | "limit_near" | "exception_opened" | "proposal_waiting"; readonly mail: boolean }
    reply: { readonly email: string; readonly works: boolean; readonly state: "confirmed" | "unconfirmed" | "asked" | "not_mailable"; readonly kinds: readonly ({ readonly kind: "sign_in" | "key_created" | "key_expiring" | "webhook_disabled" | "webhook_failing" | "limit_near" | "exception_opened" | "proposal_waiting"; readonly mail: boolean })[] }
  }
  'console.me.notifications.ask': {
    params: undefined
    query: undefined
    body: undefined
    reply: { readonly email: string; readonly works: boolean; readonly state: "confirmed" | "unconfirmed" | "asked" | "not_mailable"; readonly kinds: readonly ({ readonly kind: "sign_in" | "key_created" | "key_expiring" | "webhook_disabled" | "webhook_failing" | "limit_near" | "exception_opened" | "proposal_waiting"; readonly mail: boolean })[] }
  }
  'console.me.notifications.confirm': {
    params: undefined
    query: undefined
    body: { readonly token: string }
    reply: { readonly email: string; readonly works: boolean; readonly state: "confirmed" | "unconfirmed" | "asked" | "not_mailable"; readonly kinds: readonly ({ readonly kind: "sign_in" | "key_created" | "key_expiring" | "webhook_disabled" | "webhook_failing" | "limit_near" | "exception_opened" | "proposal_waiting"; readonly mail: boolean })[] }
  }
  'console.overview.get': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly period?: "24h" | "7d" | "30d" | "90d" | undefined }
    body: undefined
    reply: { readonly period: "24h" | "7d" | "30d" | "90d"; readonly now: string; readonly settled: boolean; readonly is_new: boolean; readonly has_key: boolean; readonly pix_ready: boolean; readonly attention: { readonly unanswered: readonly ({ readonly rail: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly count: number; readonly amount: string; readonly since: string })[]; readonly webhooks: readonly ({ readonly id: string; readonly url: string; readonly status: "enabled" | "disabled"; readonly disabled_reason: string | null; readonly since: string | null; readonly waiting: number; readonly exhausted: number; readonly next_attempt_at: string | null; readonly answered: number | null; readonly error: string | null })[]; readonly old_values: readonly ({ readonly id: string; readonly name: string; readonly last_four: string; readonly valid_until: string })[]; readonly acts: readonly ({ readonly seq: string; readonly at: string; readonly action: string; readonly actor_kind: string; readonly actor_email: string | null; readonly object_email: string | null })[] }; readonly balances: readonly ({ readonly asset: "BRL" | "USDT" | "BTC"; readonly held: string; readonly available: string; readonly in_transit: string; readonly customers: number; readonly days: readonly ({ readonly day: string; readonly held: string | null })[] })[]; readonly starts: readonly (string)[]; readonly series: readonly ({ readonly kind: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly to_asset: "BRL" | "USDT" | "BTC" | null; readonly completed: number; readonly failed: number; readonly completed_sum: string; readonly failed_sum: string; readonly median_ms: number | null; readonly each: readonly ({ readonly completed: number; readonly failed: number; readonly completed_sum: string; readonly failed_sum: string })[] })[]; readonly latest: readonly ({ readonly kind: "payout" | "transfer" | "trade" | "deposit"; readonly id: string; readonly created_at: string; readonly customer: { readonly id: string; readonly name: string }; readonly network: string | null; readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly status: string })[]; readonly tier: "standard" | "growth" | "enterprise"; readonly limits: readonly ({ readonly key_id: string; readonly name: string; readonly window: "minute" | "day"; readonly used: number; readonly limit: number })[]; readonly prices: readonly (Price)[] }
  }
  'console.overview.dismiss': {
    params: { readonly seq: string }
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.payouts.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined; readonly api_key_id?: string | undefined; readonly failure_code?: string | undefined; readonly end_to_end_id?: string | undefined; readonly status?: "pending" | "processing" | "completed" | "failed" | "open" | "no_answer" | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly payout: PixPayout; readonly customer: { readonly id: string; readonly name: string }; readonly no_answer: boolean })[]; readonly has_more: boolean; readonly next_cursor: string | null; readonly open: { readonly count: number; readonly no_answer: number } }
  }
  'console.payouts.csv': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined; readonly api_key_id?: string | undefined; readonly failure_code?: string | undefined; readonly end_to_end_id?: string | undefined; readonly status?: "pending" | "processing" | "completed" | "failed" | "open" | "no_answer" | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.payouts.totals': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined; readonly api_key_id?: string | undefined; readonly failure_code?: string | undefined; readonly end_to_end_id?: string | undefined; readonly status?: "pending" | "processing" | "completed" | "failed" | "open" | "no_answer" | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.payouts.get': {
    params: { readonly environment: "production" | "sandbox"; readonly payout_id: string }
    query: undefined
    body: undefined
    reply: { readonly payout: PixPayout; readonly send_id: string; readonly customer: Customer; readonly no_answer: boolean; readonly track: readonly ({ readonly kind: "accepted" | "sent" | "asked" | "unknown" | "answered" | "completed" | "confirmed" | "failed"; readonly at: string; readonly said: string | null; readonly times: number; readonly last_at: string })[]; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest; readonly resolution: { readonly outcome: string; readonly resolved_at: string } | null; readonly held: boolean }
  }
  'console.payouts.receipt': {
    params: { readonly environment: "production" | "sandbox"; readonly payout_id: string }
    query: { readonly lang?: "pt" | "en" | undefined }
    body: undefined
    reply: string
  }
  'console.payouts.redeliver': {
    params: { readonly environment: "production" | "sandbox"; readonly payout_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: { readonly redelivered: number }
  }
  'console.payouts.complete': {
    params: { readonly environment: "production" | "sandbox"; readonly payout_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: PixPayout
  }
  'console.payouts.fail': {
    params: { readonly environment: "production" | "sandbox"; readonly payout_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: PixPayout
  }
  'console.transfers.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined; readonly api_key_id?: string | undefined; readonly failure_code?: string | undefined; readonly asset?: "USDT" | "BTC" | undefined; readonly network?: "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin" | undefined; readonly tx_hash?: string | undefined; readonly status?: "pending" | "processing" | "confirmed" | "failed" | "open" | "no_answer" | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly transfer: OnchainTransfer; readonly customer: { readonly id: string; readonly name: string }; readonly no_answer: boolean })[]; readonly has_more: boolean; readonly next_cursor: string | null; readonly open: { readonly count: number; readonly no_answer: number } }
  }
  'console.transfers.csv': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined; readonly api_key_id?: string | undefined; readonly failure_code?: string | undefined; readonly asset?: "USDT" | "BTC" | undefined; readonly network?: "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin" | undefined; readonly tx_hash?: string | undefined; readonly status?: "pending" | "processing" | "confirmed" | "failed" | "open" | "no_answer" | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.transfers.totals': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined; readonly api_key_id?: string | undefined; readonly failure_code?: string | undefined; readonly asset?: "USDT" | "BTC" | undefined; readonly network?: "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin" | undefined; readonly tx_hash?: string | undefined; readonly status?: "pending" | "processing" | "confirmed" | "failed" | "open" | "no_answer" | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.transfers.get': {
    params: { readonly environment: "production" | "sandbox"; readonly transfer_id: string }
    query: undefined
    body: undefined
    reply: { readonly transfer: OnchainTransfer; readonly customer: Customer; readonly no_answer: boolean; readonly track: readonly ({ readonly kind: "accepted" | "sent" | "asked" | "unknown" | "answered" | "completed" | "confirmed" | "failed"; readonly at: string; readonly said: string | null; readonly times: number; readonly last_at: string })[]; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest; readonly resolution: { readonly outcome: string; readonly resolved_at: string } | null; readonly held: boolean }
  }
  'console.transfers.receipt': {
    params: { readonly environment: "production" | "sandbox"; readonly transfer_id: string }
    query: { readonly lang?: "pt" | "en" | undefined }
    body: undefined
    reply: string
  }
  'console.transfers.redeliver': {
    params: { readonly environment: "production" | "sandbox"; readonly transfer_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: { readonly redelivered: number }
  }
  'console.transfers.confirm': {
    params: { readonly environment: "production" | "sandbox"; readonly transfer_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: OnchainTransfer
  }
  'console.transfers.fail': {
    params: { readonly environment: "production" | "sandbox"; readonly transfer_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: OnchainTransfer
  }
  'console.customers.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: "active" | "blocked" | undefined; readonly document?: string | undefined; readonly external_id?: string | undefined; readonly name?: string | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly customer: Customer; readonly balances: readonly (Balance)[] })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.customers.create': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly form_id: string; readonly name: string; readonly document: string; readonly email?: string | undefined; readonly external_id?: string | undefined; readonly metadata?: { readonly [name: string]: string } | undefined }
    reply: Customer
  }
  'console.customers.csv': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: "active" | "blocked" | undefined; readonly document?: string | undefined; readonly external_id?: string | undefined; readonly name?: string | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.customers.totals': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: "active" | "blocked" | undefined; readonly document?: string | undefined; readonly external_id?: string | undefined; readonly name?: string | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.customers.get': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: undefined
    body: undefined
    reply: { readonly customer: Customer; readonly balances: readonly (Balance)[]; readonly limits: readonly ({ readonly name: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly allowed: string; readonly used: string | null; readonly resets_at: string | null })[]; readonly on_its_way: readonly ({ readonly id: string; readonly kind: "payout" | "transfer"; readonly asset: "BRL" | "USDT" | "BTC"; readonly network: string | null; readonly amount: string; readonly status: string; readonly no_answer: boolean; readonly created_at: string })[]; readonly deposit_addresses: readonly (DepositAddress)[]; readonly deposits: readonly (Deposit)[] }
  }
  'console.customers.update': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: undefined
    body: { readonly name?: string | undefined; readonly email?: string | null | undefined; readonly metadata?: { readonly [name: string]: string } | undefined }
    reply: Customer
  }
  'console.customers.create_deposit_address': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: undefined
    body: { readonly network: "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin" }
    reply: DepositAddress
  }
  'console.customers.deposit': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: undefined
    body: { readonly form_id: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string }
    reply: Deposit
  }
  'console.deposits.get': {
    params: { readonly environment: "production" | "sandbox"; readonly deposit_id: string }
    query: undefined
    body: undefined
    reply: { readonly deposit: Deposit; readonly rail: "sandbox" | "operator" | "pix" | "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin"; readonly customer: Customer; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[] }
  }
  'console.customers.statement': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly asset?: "BRL" | "USDT" | "BTC" | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly line: StatementLine; readonly about: { readonly network: string } | { readonly from_asset: "BRL" | "USDT" | "BTC"; readonly to_asset: "BRL" | "USDT" | "BTC" } | null })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.customers.statement_csv': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly asset?: "BRL" | "USDT" | "BTC" | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.charges.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly status?: "pending" | "open" | "paid" | "expired" | "failed" | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly charge: PixCharge; readonly customer: { readonly id: string; readonly name: string } })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.charges.csv': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly status?: "pending" | "open" | "paid" | "expired" | "failed" | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.charges.totals': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly status?: "pending" | "open" | "paid" | "expired" | "failed" | undefined; readonly idempotency_key?: string | undefined; readonly amount_min?: string | undefined; readonly amount_max?: string | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.charges.get': {
    params: { readonly environment: "production" | "sandbox"; readonly charge_id: string }
    query: undefined
    body: undefined
    reply: { readonly charge: PixCharge; readonly customer: Customer; readonly payments: readonly ({ readonly end_to_end_id: string; readonly amount: string; readonly paid_at: string; readonly payer_name: string | null; readonly deposit: Deposit | null })[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest }
  }
  'console.charges.redeliver': {
    params: { readonly environment: "production" | "sandbox"; readonly charge_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: { readonly redelivered: number }
  }
  'console.charges.pay': {
    params: { readonly environment: "production" | "sandbox"; readonly charge_id: string }
    query: undefined
    body: { readonly form_id: string; readonly amount: string }
    reply: PixCharge
  }
  'console.charges.expire': {
    params: { readonly environment: "production" | "sandbox"; readonly charge_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: PixCharge
  }
  'console.quotes.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly from_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly to_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly status?: "pending" | "expired" | "executed" | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly quote: Quote; readonly left_ms: number; readonly customer: { readonly id: string; readonly name: string } })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.quotes.csv': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly from_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly to_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly status?: "pending" | "expired" | "executed" | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.quotes.totals': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly from_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly to_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly status?: "pending" | "expired" | "executed" | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.quotes.get': {
    params: { readonly environment: "production" | "sandbox"; readonly quote_id: string }
    query: undefined
    body: undefined
    reply: { readonly quote: Quote; readonly left_ms: number; readonly trade: Trade | null; readonly customer: Customer; readonly pricing: { readonly pair: string; readonly source: string | null; readonly spread_bps: number }; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest }
  }
  'console.quotes.expire': {
    params: { readonly environment: "production" | "sandbox"; readonly quote_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: Quote
  }
  'console.trades.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly from_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly to_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly status?: "completed" | "failed" | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly trade: Trade; readonly customer: { readonly id: string; readonly name: string } })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.trades.csv': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly from_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly to_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly status?: "completed" | "failed" | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.trades.totals': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly customer_id?: string | undefined; readonly from_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly to_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly status?: "completed" | "failed" | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.trades.get': {
    params: { readonly environment: "production" | "sandbox"; readonly trade_id: string }
    query: undefined
    body: undefined
    reply: { readonly trade: Trade; readonly quote: Quote | null; readonly customer: Customer; readonly pricing: { readonly pair: string; readonly source: string | null; readonly spread_bps: number }; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest }
  }
  'console.trades.redeliver': {
    params: { readonly environment: "production" | "sandbox"; readonly trade_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: { readonly redelivered: number }
  }
  'console.prices.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly data: readonly (Price)[] }
  }
  'console.prices.set': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly pair: "USDT/BRL" | "BTC/USDT"; readonly price: string; readonly age_seconds?: number | undefined }
    reply: { readonly data: readonly (Price)[] }
  }
  'console.keys.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly name: string; readonly last_four: string; readonly scopes: readonly ("read" | "customers" | "payouts" | "transfers" | "quotes" | "webhooks")[]; readonly ip_allowlist: readonly (string)[]; readonly expires_at: string | null; readonly revoked_at: string | null; readonly created_at: string; readonly last_used_at: string | null; readonly last_used_address: string | null; readonly state: "active" | "rotating" | "expired" | "revoked"; readonly old_values: readonly ({ readonly last_four: string; readonly valid_until: string })[]; readonly playground: boolean; readonly minute: { readonly limit: number; readonly used: number; readonly remaining: number; readonly resets_at: string }; readonly day: { readonly limit: number; readonly used: number; readonly remaining: number; readonly resets_at: string } })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.keys.create': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly form_id: string; readonly name: string; readonly scopes: readonly ("read" | "customers" | "payouts" | "transfers" | "quotes" | "webhooks")[]; readonly ip_allowlist: readonly (string)[]; readonly expires_at?: string | undefined }
    reply: { readonly key: ConsoleKey; readonly value: string }
  }
  'console.keys.get': {
    params: { readonly environment: "production" | "sandbox"; readonly key_id: string }
    query: undefined
    body: undefined
    reply: { readonly key: ConsoleKey; readonly usage: Usage; readonly requests: readonly (Request)[]; readonly old_calls: readonly ({ readonly last_four: string; readonly in_last_hour: number })[] }
  }
  'console.keys.change': {
    params: { readonly environment: "production" | "sandbox"; readonly key_id: string }
    query: undefined
    body: { readonly name?: string | undefined; readonly ip_allowlist?: readonly (string)[] | undefined }
    reply: ConsoleKey
  }
  'console.keys.calls': {
    params: { readonly environment: "production" | "sandbox"; readonly key_id: string }
    query: undefined
    body: undefined
    reply: { readonly days: readonly ({ readonly day: string; readonly calls: number; readonly refused: number; readonly median_ms: number | null; readonly complete: boolean })[]; readonly counted_most: number }
  }
  'console.keys.rotate': {
    params: { readonly environment: "production" | "sandbox"; readonly key_id: string }
    query: undefined
    body: { readonly form_id: string; readonly grace_hours: number }
    reply: { readonly key: ConsoleKey; readonly value: string }
  }
  'console.keys.revoke': {
    params: { readonly environment: "production" | "sandbox"; readonly key_id: string }
    query: undefined
    body: undefined
    reply: ConsoleKey
  }
  'console.allowlist.check': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly ranges: readonly (string)[]; readonly key_id?: string | undefined }
    reply: { readonly faults: readonly ({ readonly line: number; readonly text: string; readonly kind: "host_bits" | "wildcard" | "prefix" | "no_address"; readonly range?: string | undefined; readonly address?: string | undefined; readonly longest?: number | undefined })[]; readonly everybody: boolean; readonly you: { readonly address: string; readonly allowed: boolean }; readonly last_use: { readonly address: string; readonly allowed: boolean } | null }
  }
  'console.webhooks.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined }
    body: undefined
    reply: { readonly data: readonly (ConsoleWebhook)[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.webhooks.create': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly form_id: string; readonly url: string; readonly events: readonly ("customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "*")[]; readonly description?: string | undefined }
    reply: { readonly endpoint: ConsoleWebhook; readonly secret: string }
  }
  'console.webhooks.get': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: undefined
    body: undefined
    reply: ConsoleWebhook
  }
  'console.webhooks.change': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: undefined
    body: { readonly url?: string | undefined; readonly events?: readonly ("customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "*")[] | undefined; readonly description?: string | null | undefined; readonly status?: "enabled" | "disabled" | undefined }
    reply: ConsoleWebhook
  }
  'console.webhooks.delete': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: undefined
    body: undefined
    reply: undefined
  }
  'console.webhooks.rotate_secret': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: undefined
    body: { readonly form_id: string; readonly grace_hours: number }
    reply: { readonly endpoint: ConsoleWebhook; readonly secret: string }
  }
  'console.webhooks.test': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: undefined
    body: undefined
    reply: { readonly event_id: string }
  }
  'console.webhooks.redeliver': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: undefined
    body: { readonly from: string; readonly to: string; readonly only_failed?: boolean | undefined }
    reply: { readonly redelivered: number; readonly next_from?: string | undefined }
  }
  'console.webhooks.retry_waiting': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: { readonly retried: number; readonly more: boolean }
  }
  'console.webhooks.health': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: undefined
    body: undefined
    reply: { readonly days: readonly ({ readonly day: string; readonly delivered: number; readonly failed: number; readonly pending: number; readonly median_ms: number | null; readonly complete: boolean })[]; readonly counted_most: number }
  }
  'console.deliveries.list': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: "pending" | "delivered" | "exhausted" | "canceled" | undefined; readonly event_id?: string | undefined; readonly type?: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test" | undefined }
    body: undefined
    reply: { readonly data: readonly (ConsoleDelivery)[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.deliveries.totals': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: "pending" | "delivered" | "exhausted" | "canceled" | undefined; readonly event_id?: string | undefined; readonly type?: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test" | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.deliveries.get': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string; readonly event_id: string }
    query: undefined
    body: undefined
    reply: { readonly delivery: WebhookDelivery; readonly under_way: boolean; readonly then_after_ms: readonly (number)[] }
  }
  'console.deliveries.try': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string; readonly event_id: string }
    query: undefined
    body: undefined
    reply: ConsoleDelivery
  }
  'console.events.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly type?: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test" | undefined; readonly object_id?: string | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly type: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test"; readonly created_at: string; readonly environment: "production" | "sandbox"; readonly sequence: number; readonly object_id: string; readonly deliveries: readonly (ConsoleDelivery)[] })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.events.csv': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly type?: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test" | undefined; readonly object_id?: string | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.events.totals': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly type?: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test" | undefined; readonly object_id?: string | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.events.get': {
    params: { readonly environment: "production" | "sandbox"; readonly event_id: string }
    query: undefined
    body: undefined
    reply: { readonly id: string; readonly type: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test"; readonly created_at: string; readonly environment: "production" | "sandbox"; readonly sequence: number; readonly object_id: string; readonly body: string; readonly deliveries: readonly ({ readonly event_id: string; readonly endpoint_id: string; readonly type: string; readonly status: "pending" | "delivered" | "exhausted" | "canceled"; readonly attempts: number; readonly next_attempt_at: string | null; readonly created_at: string; readonly answer_status: number | null; readonly error: string | null; readonly url: string })[] }
  }
  'console.events.redeliver': {
    params: { readonly environment: "production" | "sandbox"; readonly event_id: string }
    query: undefined
    body: { readonly endpoint_id?: string | undefined }
    reply: { readonly redelivered: number }
  }
  'console.requests.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: string | undefined; readonly key_id?: string | undefined; readonly route?: string | undefined; readonly error_code?: string | undefined; readonly refused?: "true" | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly key_id: string; readonly method: string; readonly route?: string | undefined; readonly status: number; readonly error_code?: string | undefined; readonly duration_ms: number; readonly address: string; readonly object_id?: string | undefined; readonly created_at: string; readonly key_name: string | null; readonly key_last_four: string | null })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.requests.csv': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: string | undefined; readonly key_id?: string | undefined; readonly route?: string | undefined; readonly error_code?: string | undefined; readonly refused?: "true" | undefined; readonly language?: "en" | "pt-BR" | undefined }
    body: undefined
    reply: string
  }
  'console.requests.totals': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: string | undefined; readonly key_id?: string | undefined; readonly route?: string | undefined; readonly error_code?: string | undefined; readonly refused?: "true" | undefined }
    body: undefined
    reply: ListTotals
  }
  'console.requests.get': {
    params: { readonly environment: "production" | "sandbox"; readonly request_id: string }
    query: undefined
    body: undefined
    reply: { readonly request: { readonly id: string; readonly key_id: string; readonly method: string; readonly route?: string | undefined; readonly status: number; readonly error_code?: string | undefined; readonly duration_ms: number; readonly address: string; readonly object_id?: string | undefined; readonly created_at: string; readonly key_name: string | null; readonly key_last_four: string | null }; readonly said: string | null; readonly answer: { readonly status: number; readonly body: string } | null }
  }
  'console.playground.get': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly url: string; readonly key: { readonly id: string; readonly name: string } | null; readonly customers: readonly ({ readonly id: string; readonly name: string; readonly document: string; readonly balances: readonly (Balance)[] })[] }
  }
  'console.playground.payout': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly customer_id: string; readonly amount: string; readonly counterparty: ToPixKey | ToBankAccount; readonly description?: string | undefined; readonly idempotency_key: string; readonly metadata?: { readonly [name: string]: string } | undefined }
    reply: Exchange
  }
  'console.playground.charge': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly customer_id: string; readonly amount: string; readonly expires_in_seconds?: number | undefined; readonly description?: string | undefined; readonly idempotency_key: string; readonly metadata?: { readonly [name: string]: string } | undefined }
    reply: Exchange
  }
  'console.playground.transfer': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly customer_id: string; readonly asset: "USDT" | "BTC"; readonly network: string; readonly amount: string; readonly destination_address: string; readonly idempotency_key: string; readonly metadata?: { readonly [name: string]: string } | undefined }
    reply: Exchange
  }
  'console.playground.quote': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly customer_id: string; readonly from_asset: "BRL" | "USDT" | "BTC"; readonly to_asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly amount_asset?: "BRL" | "USDT" | "BTC" | undefined; readonly amount_type?: "gross" | "net" | undefined; readonly partner_fee_bps?: number | undefined; readonly metadata?: { readonly [name: string]: string } | undefined }
    reply: Exchange
  }
  'console.playground.execute': {
    params: { readonly environment: "production" | "sandbox"; readonly quote_id: string }
    query: undefined
    body: Readonly<Record<string, unknown>>
    reply: Exchange
  }
  'console.find.search': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly q: string }
    body: undefined
    reply: { readonly data: readonly (Found)[] }
  }
  'console.operator.search': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly q: string }
    body: undefined
    reply: { readonly data: readonly (Found)[] }
  }
  'console.stream': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: string
  }
  'console.operator.stream': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: string
  }
  'console.operator.overview.get': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly desk: { readonly open: number; readonly waiting: number; readonly oldest_at: string | null }; readonly proposals: { readonly open: number; readonly for_me: number }; readonly exceptions: readonly ({ readonly rail: string; readonly kind: string; readonly count: number; readonly oldest_seconds: number })[]; readonly audit: { readonly last_finished_at: string | null; readonly age_seconds: number | null; readonly findings: number; readonly stage: string | null }; readonly money: { readonly proved_at: string | null; readonly found: number; readonly holdings: readonly ({ readonly asset: "BRL" | "USDT" | "BTC"; readonly owed: string; readonly held: string; readonly own: string; readonly statement: { readonly amount: string; readonly difference: string; readonly as_of: string; readonly source: string; readonly noted_by: string } | null })[]; readonly in_transit: readonly ({ readonly rail: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly count: number; readonly amount: string })[]; readonly oldest: { readonly id: string; readonly rail: string; readonly partner: { readonly id: string; readonly name: string }; readonly created_at: string } | null; readonly paid_out: readonly ({ readonly day: string; readonly rail: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly completed: number; readonly failed: number })[] }; readonly rails: readonly ({ readonly rail: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly simulated: boolean; readonly configured: boolean; readonly message: string | null; readonly paused: { readonly at: string; readonly by: string; readonly reason: string } | null; readonly limits: { readonly order_most: string | null; readonly day_most: string | null; readonly floor: string | null; readonly gas_floor: string | null; readonly sweep_from: string | null; readonly sweep_fee_max: string | null }; readonly pending: number; readonly processing: number; readonly open_amount: string; readonly oldest_seconds: number; readonly oldest_id: string | null; readonly last_failure: { readonly id: string; readonly at: string; readonly code: string } | null; readonly exceptions: number; readonly custody: { readonly gas_coin: string; readonly held: { readonly wallet: string; readonly amount: string; readonly gas_amount: string; readonly block_height: string; readonly age_seconds: number | null } | null; readonly reconciled: { readonly difference: string; readonly block_height: string | null; readonly at: string } | null; readonly endpoints: readonly ({ readonly endpoint: number; readonly healthy: boolean; readonly head: string | null; readonly latency_ms: number | null; readonly last_failure: string | null })[]; readonly sweeps: { readonly gas_account: string; readonly gas_amount: string; readonly unswept: string; readonly addresses: number; readonly under_way: number; readonly under_way_amount: string; readonly read_at: string } | null; readonly unknown_tokens: { readonly count: number; readonly newest: readonly ({ readonly contract: string; readonly address: string; readonly amount: string; readonly tx_hash: string; readonly log_index: number; readonly seen_at: string })[] } | null } | null })[]; readonly operators: { readonly all: number; readonly deciding: number }; readonly partners: number }
  }
  'console.operator.treasury.get': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly limited: boolean; readonly positions: readonly ({ readonly asset: "BRL" | "USDT" | "BTC"; readonly position: string; readonly lowest: string | null; readonly highest: string | null; readonly average_cost: string | null; readonly price: string | null; readonly cost: string; readonly worth: string | null; readonly unrealised: string | null; readonly realised: string })[]; readonly fees: readonly ({ readonly partner: { readonly id: string; readonly name: string }; readonly owed: readonly ({ readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string })[] })[]; readonly charges: readonly ({ readonly network: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly transfers: number; readonly fees: string; readonly charged: string })[]; readonly payouts: readonly ({ readonly id: string; readonly partner_id: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly customer_id: string | null; readonly reason: string; readonly reference: string; readonly created_at: string })[] }
  }
  'console.operator.treasury.limit': {
    params: { readonly environment: "production" | "sandbox"; readonly asset: "BRL" | "USDT" | "BTC" }
    query: undefined
    body: { readonly lowest?: string | null | undefined; readonly highest?: string | null | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.rails.get': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly rails: readonly ({ readonly rail: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly simulated: boolean; readonly configured: boolean; readonly message: string | null; readonly paused: { readonly at: string; readonly by: string; readonly reason: string } | null; readonly limits: { readonly order_most: string | null; readonly day_most: string | null; readonly floor: string | null; readonly gas_floor: string | null; readonly sweep_from: string | null; readonly sweep_fee_max: string | null }; readonly pending: number; readonly processing: number; readonly open_amount: string; readonly oldest_seconds: number; readonly oldest_id: string | null; readonly last_failure: { readonly id: string; readonly at: string; readonly code: string } | null; readonly exceptions: number; readonly custody: { readonly gas_coin: string; readonly held: { readonly wallet: string; readonly amount: string; readonly gas_amount: string; readonly block_height: string; readonly age_seconds: number | null } | null; readonly reconciled: { readonly difference: string; readonly block_height: string | null; readonly at: string } | null; readonly endpoints: readonly ({ readonly endpoint: number; readonly healthy: boolean; readonly head: string | null; readonly latency_ms: number | null; readonly last_failure: string | null })[]; readonly sweeps: { readonly gas_account: string; readonly gas_amount: string; readonly unswept: string; readonly addresses: number; readonly under_way: number; readonly under_way_amount: string; readonly read_at: string } | null; readonly unknown_tokens: { readonly count: number; readonly newest: readonly ({ readonly contract: string; readonly address: string; readonly amount: string; readonly tx_hash: string; readonly log_index: number; readonly seen_at: string })[] } | null } | null })[]; readonly prices: readonly ({ readonly pair: string; readonly price: string; readonly at: string; readonly source: string; readonly fresh: boolean })[]; readonly markets: readonly ({ readonly pair: string; readonly state: string; readonly sources: readonly ({ readonly source: string; readonly state: string; readonly price: string | null; readonly age_seconds: number | null; readonly problem: string | null })[] })[]; readonly price_max_age_ms: number; readonly queues: { readonly events_fresh: number; readonly events_oldest_seconds: number; readonly webhooks_pending: number; readonly webhooks_oldest_due_seconds: number; readonly trades_oldest_unfolded_seconds: number }; readonly audit: { readonly last_finished_at: string | null; readonly age_seconds: number | null; readonly findings: number; readonly stage: string | null }; readonly mail: { readonly configured: boolean; readonly sent_at: string | null; readonly failed_at: string | null; readonly error: string | null; readonly waiting: number; readonly oldest_waiting_seconds: number; readonly given_up: number }; readonly node: { readonly role: string; readonly version: string; readonly up_seconds: number; readonly connections: number; readonly waiting: number } }
  }
  'console.operator.rails.pause': {
    params: { readonly environment: "production" | "sandbox"; readonly rail: "pix" | "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin" }
    query: undefined
    body: { readonly reason: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.rails.resume': {
    params: { readonly environment: "production" | "sandbox"; readonly rail: "pix" | "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin" }
    query: undefined
    body: { readonly reason: string; readonly rehearsed?: boolean | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.rails.limit': {
    params: { readonly environment: "production" | "sandbox"; readonly rail: "pix" | "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin" }
    query: undefined
    body: { readonly order_most?: string | null | undefined; readonly day_most?: string | null | undefined; readonly floor?: string | null | undefined; readonly gas_floor?: string | null | undefined; readonly sweep_from?: string | null | undefined; readonly sweep_fee_max?: string | null | undefined; readonly reason: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.partners.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly name: string; readonly tier: "standard" | "growth" | "enterprise"; readonly pix_fee: number; readonly service_fee_bps: number; readonly partner_fee_share_pct: number; readonly third_party_payouts: boolean; readonly per_minute: number | null; readonly per_day: number | null; readonly endpoint_per_minute: number | null; readonly lookup_per_minute: number | null; readonly created_at: string })[] }
  }
  'console.operator.partners.create': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly form_id: string; readonly name: string; readonly owner_name: string; readonly owner_email: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.partners.get': {
    params: { readonly environment: "production" | "sandbox"; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly partner: { readonly id: string; readonly name: string; readonly tier: "standard" | "growth" | "enterprise"; readonly pix_fee: number; readonly service_fee_bps: number; readonly partner_fee_share_pct: number; readonly third_party_payouts: boolean; readonly per_minute: number | null; readonly per_day: number | null; readonly endpoint_per_minute: number | null; readonly lookup_per_minute: number | null; readonly created_at: string }; readonly usual_limits: { readonly per_minute: number; readonly per_day: number; readonly lookup_per_minute: number }; readonly endpoint_limits: readonly ({ readonly endpoint: string; readonly per_minute: number })[]; readonly money_limits: { readonly payout_order: string | null; readonly payout_day: string | null; readonly payout_night: string | null; readonly transfer_order_usdt: string | null; readonly transfer_order_btc: string | null; readonly transfer_day_usdt: string | null; readonly transfer_day_btc: string | null }; readonly people: readonly ({ readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer" | "admin" | "resolver" | "reader"; readonly second_factor: boolean })[]; readonly keys: readonly ({ readonly id: string; readonly partner_id: string; readonly environment: "production" | "sandbox"; readonly name: string; readonly last_four: string; readonly scopes: readonly ("read" | "customers" | "payouts" | "transfers" | "quotes" | "webhooks")[]; readonly ip_allowlist: readonly (string)[]; readonly expires_at: string | null; readonly revoked_at: string | null; readonly created_at: string; readonly last_used_at: string | null; readonly last_used_address: string | null; readonly state: "active" | "rotating" | "expired" | "revoked" })[]; readonly balances: readonly ({ readonly asset: "BRL" | "USDT" | "BTC"; readonly available: string; readonly in_transit: string; readonly customers: string })[]; readonly fees: readonly ({ readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string })[] }
  }
  'console.operator.partners.change': {
    params: { readonly environment: "production" | "sandbox"; readonly partner_id: string }
    query: undefined
    body: { readonly tier?: "standard" | "growth" | "enterprise" | undefined; readonly pix_fee?: number | undefined; readonly service_fee_bps?: number | undefined; readonly partner_fee_share_pct?: number | undefined; readonly third_party_payouts?: boolean | undefined; readonly per_minute?: number | null | undefined; readonly per_day?: number | null | undefined; readonly endpoint_per_minute?: number | null | undefined; readonly lookup_per_minute?: number | null | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.partners.limit_money': {
    params: { readonly environment: "production" | "sandbox"; readonly partner_id: string }
    query: undefined
    body: { readonly payout_order?: string | null | undefined; readonly payout_day?: string | null | undefined; readonly payout_night?: string | null | undefined; readonly transfer_order_usdt?: string | null | undefined; readonly transfer_order_btc?: string | null | undefined; readonly transfer_day_usdt?: string | null | undefined; readonly transfer_day_btc?: string | null | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.partners.pay_fees': {
    params: { readonly environment: "production" | "sandbox"; readonly partner_id: string }
    query: undefined
    body: { readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly customer_id?: string | undefined; readonly reason: string; readonly reference: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.customers.list': {
    params: { readonly environment: "production" | "sandbox"; readonly partner_id: string }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly status?: "active" | "blocked" | undefined }
    body: undefined
    reply: { readonly data: readonly (Customer)[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.operator.customers.get': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: undefined
    body: undefined
    reply: { readonly customer: Customer; readonly partner: { readonly id: string; readonly name: string }; readonly balances: readonly (Balance)[]; readonly money_limits: { readonly payout_order: string | null; readonly payout_day: string | null; readonly payout_night: string | null; readonly transfer_order_usdt: string | null; readonly transfer_order_btc: string | null; readonly transfer_day_usdt: string | null; readonly transfer_day_btc: string | null }; readonly in_force: { readonly payout_order: string | null; readonly payout_day: string | null; readonly payout_night: string | null; readonly transfer_order_usdt: string | null; readonly transfer_order_btc: string | null; readonly transfer_day_usdt: string | null; readonly transfer_day_btc: string | null }; readonly used: { readonly payout_day: string | null; readonly payout_night: string | null; readonly transfer_day_usdt: string | null; readonly transfer_day_btc: string | null } }
  }
  'console.operator.customers.change': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: undefined
    body: { readonly status?: "active" | "blocked" | undefined; readonly third_party_payouts?: boolean | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.customers.limit_money': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: undefined
    body: { readonly payout_order?: string | null | undefined; readonly payout_day?: string | null | undefined; readonly payout_night?: string | null | undefined; readonly transfer_order_usdt?: string | null | undefined; readonly transfer_order_btc?: string | null | undefined; readonly transfer_day_usdt?: string | null | undefined; readonly transfer_day_btc?: string | null | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.customers.book': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string }
    query: undefined
    body: { readonly kind: "credit" | "debit"; readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly reason: string; readonly reference: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.deposits.reverse': {
    params: { readonly environment: "production" | "sandbox"; readonly deposit_id: string }
    query: undefined
    body: { readonly reason: string; readonly reference: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.desk.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly open: readonly ({ readonly id: string; readonly kind: "payout" | "transfer"; readonly rail: string; readonly partner: { readonly id: string; readonly name: string }; readonly customer: { readonly id: string; readonly name: string }; readonly to: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly in_transit: string; readonly status: string; readonly created_at: string; readonly asked: number; readonly next_at: string; readonly last_word: string | null; readonly accepted_at: string | null; readonly proposal: { readonly id: string; readonly outcome: "completed" | "confirmed" | "failed" | "canceled"; readonly evidence: string; readonly end_to_end_id: string | null; readonly despite_acceptance: boolean; readonly proposed_by: string; readonly proposed_at: string; readonly mine: boolean } | null })[]; readonly resolved: readonly ({ readonly id: string; readonly kind: "payout" | "transfer"; readonly outcome: string; readonly evidence: string; readonly proposal_id: string | null; readonly resolved_by: string; readonly resolved_at: string })[]; readonly under_way: readonly ({ readonly rail: string; readonly count: number })[] }
  }
  'console.operator.desk.get': {
    params: { readonly environment: "production" | "sandbox"; readonly id: string }
    query: undefined
    body: undefined
    reply: { readonly item: { readonly id: string; readonly kind: "payout" | "transfer"; readonly rail: string; readonly partner: { readonly id: string; readonly name: string }; readonly customer: { readonly id: string; readonly name: string }; readonly to: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly in_transit: string; readonly status: string; readonly created_at: string; readonly asked: number; readonly next_at: string; readonly last_word: string | null; readonly accepted_at: string | null; readonly proposal: { readonly id: string; readonly outcome: "completed" | "confirmed" | "failed" | "canceled"; readonly evidence: string; readonly end_to_end_id: string | null; readonly despite_acceptance: boolean; readonly proposed_by: string; readonly proposed_at: string; readonly mine: boolean } | null }; readonly send_id: string | null; readonly end_to_end_id: string | null; readonly tx_hash: string | null; readonly transactions: readonly ({ readonly attempt: number; readonly purpose: "pay" | "cancel"; readonly tx_hash: string; readonly terms: { readonly [name: string]: string }; readonly signed_at: string; readonly block_height: string | null; readonly gas_paid_wei: string | null })[]; readonly cancel_requested_at: string | null; readonly cancelable: boolean; readonly steps: readonly ({ readonly kind: "sent" | "asked" | "unknown" | "answered"; readonly by: "service" | "rail"; readonly said: string | null; readonly at: string; readonly last_at: string; readonly times: number })[]; readonly exceptions: readonly ({ readonly id: string; readonly kind: "contradiction" | "late_success" | "accepted_then_absent" | "invalid_answer" | "superseded" | "stuck" | "audit" | "rail_paused" | "foreign_transactions" | "reconciliation" | "holdings_old" | "deposit_unclear" | "payout_returned" | "return_uncovered" | "unknown_payment"; readonly rail: string; readonly object_id: string; readonly partner_id: string | null; readonly details: { readonly [name: string]: string }; readonly opened_at: string; readonly closed_at: string | null; readonly closed_by: string | null; readonly closed_reason: string | null })[] }
  }
  'console.operator.desk.resolve': {
    params: { readonly environment: "production" | "sandbox"; readonly id: string }
    query: undefined
    body: { readonly paid: boolean; readonly end_to_end_id?: string | undefined; readonly evidence: string; readonly rehearsed?: boolean | undefined; readonly despite_acceptance?: boolean | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.desk.cancel': {
    params: { readonly environment: "production" | "sandbox"; readonly id: string }
    query: undefined
    body: { readonly reason: string; readonly rehearsed?: boolean | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.exceptions.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly closed?: "true" | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly kind: "contradiction" | "late_success" | "accepted_then_absent" | "invalid_answer" | "superseded" | "stuck" | "audit" | "rail_paused" | "foreign_transactions" | "reconciliation" | "holdings_old" | "deposit_unclear" | "payout_returned" | "return_uncovered" | "unknown_payment"; readonly rail: string; readonly object_id: string; readonly partner_id: string | null; readonly details: { readonly [name: string]: string }; readonly opened_at: string; readonly closed_at: string | null; readonly closed_by: string | null; readonly closed_reason: string | null })[] }
  }
  'console.operator.exceptions.close': {
    params: { readonly environment: "production" | "sandbox"; readonly exception_id: string }
    query: undefined
    body: { readonly reason: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.proposals.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly place: "production" | "sandbox" | "shared"; readonly action: string; readonly state: "open" | "approved" | "done" | "rejected" | "withdrawn" | "expired" | "superseded"; readonly what: string; readonly details: { readonly [name: string]: string }; readonly partner: { readonly id: string; readonly name: string } | null; readonly customer: { readonly id: string; readonly name: string; readonly document: string; readonly status: string } | null; readonly asset: "BRL" | "USDT" | "BTC" | null; readonly amount: string | null; readonly reason: string; readonly reference: string | null; readonly proposed_by: string; readonly proposed_at: string; readonly expires_at: string; readonly approved_by: string | null; readonly approved_at: string | null; readonly ended_by: string | null; readonly ended_at: string | null; readonly ended_reason: string | null; readonly resource_id: string | null; readonly mine: boolean })[] }
  }
  'console.operator.proposals.get': {
    params: { readonly environment: "production" | "sandbox"; readonly proposal_id: string }
    query: undefined
    body: undefined
    reply: { readonly proposal: { readonly id: string; readonly place: "production" | "sandbox" | "shared"; readonly action: string; readonly state: "open" | "approved" | "done" | "rejected" | "withdrawn" | "expired" | "superseded"; readonly what: string; readonly details: { readonly [name: string]: string }; readonly partner: { readonly id: string; readonly name: string } | null; readonly customer: { readonly id: string; readonly name: string; readonly document: string; readonly status: string } | null; readonly asset: "BRL" | "USDT" | "BTC" | null; readonly amount: string | null; readonly reason: string; readonly reference: string | null; readonly proposed_by: string; readonly proposed_at: string; readonly expires_at: string; readonly approved_by: string | null; readonly approved_at: string | null; readonly ended_by: string | null; readonly ended_at: string | null; readonly ended_reason: string | null; readonly resource_id: string | null; readonly mine: boolean }; readonly others: readonly ({ readonly email: string; readonly name: string; readonly role: string })[]; readonly lines: readonly (({ readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string }) & ({ readonly at: string; readonly action: string; readonly by: string | null }))[] }
  }
  'console.operator.proposals.approve': {
    params: { readonly environment: "production" | "sandbox"; readonly proposal_id: string }
    query: undefined
    body: undefined
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.proposals.reject': {
    params: { readonly environment: "production" | "sandbox"; readonly proposal_id: string }
    query: undefined
    body: { readonly reason: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.proposals.withdraw': {
    params: { readonly environment: "production" | "sandbox"; readonly proposal_id: string }
    query: undefined
    body: { readonly reason?: string | undefined }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.proof.get': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly latest: { readonly by: string; readonly started_at: string; readonly finished_at: string; readonly entries: string; readonly customers: string; readonly checks: readonly (string)[]; readonly sums: { readonly [name: string]: { readonly [name: string]: string } }; readonly found: number; readonly findings: readonly ({ readonly check: string; readonly found: number; readonly examples: readonly ({ readonly object_id: string; readonly facts: { readonly [name: string]: string } })[] })[] } | null; readonly holdings: readonly ({ readonly asset: "BRL" | "USDT" | "BTC"; readonly owed: string; readonly held: string; readonly own: string; readonly statement: { readonly amount: string; readonly difference: string; readonly as_of: string; readonly source: string; readonly noted_by: string } | null })[]; readonly earlier: readonly ({ readonly by: string; readonly finished_at: string; readonly found: number; readonly entries: string })[]; readonly running: { readonly by: string; readonly started_at: string; readonly done: number; readonly of: number } | null; readonly failure: string | null; readonly background: { readonly last_finished_at: string | null; readonly findings: number; readonly stage: string | null } }
  }
  'console.operator.proof.start': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly latest: { readonly by: string; readonly started_at: string; readonly finished_at: string; readonly entries: string; readonly customers: string; readonly checks: readonly (string)[]; readonly sums: { readonly [name: string]: { readonly [name: string]: string } }; readonly found: number; readonly findings: readonly ({ readonly check: string; readonly found: number; readonly examples: readonly ({ readonly object_id: string; readonly facts: { readonly [name: string]: string } })[] })[] } | null; readonly holdings: readonly ({ readonly asset: "BRL" | "USDT" | "BTC"; readonly owed: string; readonly held: string; readonly own: string; readonly statement: { readonly amount: string; readonly difference: string; readonly as_of: string; readonly source: string; readonly noted_by: string } | null })[]; readonly earlier: readonly ({ readonly by: string; readonly finished_at: string; readonly found: number; readonly entries: string })[]; readonly running: { readonly by: string; readonly started_at: string; readonly done: number; readonly of: number } | null; readonly failure: string | null; readonly background: { readonly last_finished_at: string | null; readonly findings: number; readonly stage: string | null } }
  }
  'console.operator.statements.note': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly asset: "BRL" | "USDT" | "BTC"; readonly amount: string; readonly as_of: string; readonly source: string }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.golive.get': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly running: boolean; readonly failure: string | null; readonly report: { readonly at: string; readonly is_ready: boolean; readonly lines: readonly ({ readonly area: "settings" | "rails" | "round_trips" | "people" | "database" | "watching" | "clock"; readonly check: string; readonly subject: string | null; readonly state: "ok" | "red" | "unknown" | "unused"; readonly about: string; readonly found: string; readonly to_do: string | null; readonly commands: readonly (string)[]; readonly says: string; readonly values: { readonly [name: string]: string } })[] } | null }
  }
  'console.operator.acts.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: { readonly place?: "production" | "sandbox" | "shared" | undefined; readonly action?: string | undefined; readonly actor?: string | undefined; readonly object?: string | undefined; readonly cursor?: string | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string; readonly at: string; readonly actor_kind: "operator" | "person" | "shell" | "service"; readonly actor_email: string | null; readonly partner_id: string | null; readonly session_id: string | null; readonly action: string; readonly object_id: string | null; readonly proposal_id: string | null; readonly before: string | null; readonly after: string | null })[]; readonly next_cursor: string | null; readonly heads: readonly ({ readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string })[] }
  }
  'console.operator.acts.verify': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly anchors?: readonly (string)[] | undefined }
    reply: { readonly ok: boolean; readonly at: string; readonly logs: readonly ({ readonly place: "production" | "sandbox" | "shared"; readonly lines: string; readonly broken: readonly ({ readonly object_id: string; readonly wrong: string })[] })[] }
  }
  'console.operator.people.list': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: undefined
    reply: { readonly data: readonly ({ readonly id: string; readonly email: string; readonly name: string; readonly role: "owner" | "developer" | "finance" | "viewer" | "admin" | "resolver" | "reader"; readonly second_factor: boolean })[]; readonly by_two: boolean }
  }
  'console.operator.people.create': {
    params: { readonly environment: "production" | "sandbox" }
    query: undefined
    body: { readonly email: string; readonly name: string; readonly role: "admin" | "resolver" | "reader" }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.people.set_role': {
    params: { readonly environment: "production" | "sandbox"; readonly user_id: string }
    query: undefined
    body: { readonly role: "admin" | "resolver" | "reader" | "owner" | "developer" | "finance" | "viewer" }
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.people.reset_password': {
    params: { readonly environment: "production" | "sandbox"; readonly user_id: string }
    query: undefined
    body: undefined
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.people.reset_factor': {
    params: { readonly environment: "production" | "sandbox"; readonly user_id: string }
    query: undefined
    body: undefined
    reply: { readonly outcome: "done" | "proposed"; readonly id: string | null; readonly proposal_id: string | null; readonly expires_at: string | null; readonly line: { readonly place: "production" | "sandbox" | "shared"; readonly seq: string; readonly hash: string } | null; readonly link?: string | undefined; readonly password?: string | undefined; readonly activation_code?: string | undefined }
  }
  'console.operator.partners.name': {
    params: { readonly environment: "production" | "sandbox"; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly id: string; readonly name: string }
  }
  'console.operator.view.payouts.get': {
    params: { readonly environment: "production" | "sandbox"; readonly payout_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly payout: PixPayout; readonly send_id: string; readonly customer: Customer; readonly no_answer: boolean; readonly track: readonly ({ readonly kind: "accepted" | "sent" | "asked" | "unknown" | "answered" | "completed" | "confirmed" | "failed"; readonly at: string; readonly said: string | null; readonly times: number; readonly last_at: string })[]; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest; readonly resolution: { readonly outcome: string; readonly resolved_at: string } | null; readonly held: boolean }
  }
  'console.operator.view.transfers.get': {
    params: { readonly environment: "production" | "sandbox"; readonly transfer_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly transfer: OnchainTransfer; readonly customer: Customer; readonly no_answer: boolean; readonly track: readonly ({ readonly kind: "accepted" | "sent" | "asked" | "unknown" | "answered" | "completed" | "confirmed" | "failed"; readonly at: string; readonly said: string | null; readonly times: number; readonly last_at: string })[]; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest; readonly resolution: { readonly outcome: string; readonly resolved_at: string } | null; readonly held: boolean }
  }
  'console.operator.view.deposits.get': {
    params: { readonly environment: "production" | "sandbox"; readonly deposit_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly deposit: Deposit; readonly rail: "sandbox" | "operator" | "pix" | "polygon" | "arbitrum" | "optimism" | "tron" | "ethereum" | "bitcoin"; readonly customer: Customer; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[] }
  }
  'console.operator.view.charges.get': {
    params: { readonly environment: "production" | "sandbox"; readonly charge_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly charge: PixCharge; readonly customer: Customer; readonly payments: readonly ({ readonly end_to_end_id: string; readonly amount: string; readonly paid_at: string; readonly payer_name: string | null; readonly deposit: Deposit | null })[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest }
  }
  'console.operator.view.quotes.get': {
    params: { readonly environment: "production" | "sandbox"; readonly quote_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly quote: Quote; readonly left_ms: number; readonly trade: Trade | null; readonly customer: Customer; readonly pricing: { readonly pair: string; readonly source: string | null; readonly spread_bps: number }; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest }
  }
  'console.operator.view.trades.get': {
    params: { readonly environment: "production" | "sandbox"; readonly trade_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly trade: Trade; readonly quote: Quote | null; readonly customer: Customer; readonly pricing: { readonly pair: string; readonly source: string | null; readonly spread_bps: number }; readonly movements: readonly (Movement)[]; readonly events: readonly (PublishedEvent)[]; readonly request: ApiRequest }
  }
  'console.operator.view.customers.get': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly customer: Customer; readonly balances: readonly (Balance)[]; readonly limits: readonly ({ readonly name: string; readonly asset: "BRL" | "USDT" | "BTC"; readonly allowed: string; readonly used: string | null; readonly resets_at: string | null })[]; readonly on_its_way: readonly ({ readonly id: string; readonly kind: "payout" | "transfer"; readonly asset: "BRL" | "USDT" | "BTC"; readonly network: string | null; readonly amount: string; readonly status: string; readonly no_answer: boolean; readonly created_at: string })[]; readonly deposit_addresses: readonly (DepositAddress)[]; readonly deposits: readonly (Deposit)[] }
  }
  'console.operator.view.customers.statement': {
    params: { readonly environment: "production" | "sandbox"; readonly customer_id: string; readonly partner_id: string }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly asset?: "BRL" | "USDT" | "BTC" | undefined }
    body: undefined
    reply: { readonly data: readonly ({ readonly line: StatementLine; readonly about: { readonly network: string } | { readonly from_asset: "BRL" | "USDT" | "BTC"; readonly to_asset: "BRL" | "USDT" | "BTC" } | null })[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
  'console.operator.view.events.get': {
    params: { readonly environment: "production" | "sandbox"; readonly event_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly id: string; readonly type: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test"; readonly created_at: string; readonly environment: "production" | "sandbox"; readonly sequence: number; readonly object_id: string; readonly body: string; readonly deliveries: readonly ({ readonly event_id: string; readonly endpoint_id: string; readonly type: string; readonly status: "pending" | "delivered" | "exhausted" | "canceled"; readonly attempts: number; readonly next_attempt_at: string | null; readonly created_at: string; readonly answer_status: number | null; readonly error: string | null; readonly url: string })[] }
  }
  'console.operator.view.requests.get': {
    params: { readonly environment: "production" | "sandbox"; readonly request_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly request: { readonly id: string; readonly key_id: string; readonly method: string; readonly route?: string | undefined; readonly status: number; readonly error_code?: string | undefined; readonly duration_ms: number; readonly address: string; readonly object_id?: string | undefined; readonly created_at: string; readonly key_name: string | null; readonly key_last_four: string | null }; readonly said: string | null; readonly answer: { readonly status: number; readonly body: string } | null }
  }
  'console.operator.view.deliveries.get': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string; readonly event_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: { readonly delivery: WebhookDelivery; readonly under_way: boolean; readonly then_after_ms: readonly (number)[] }
  }
  'console.operator.view.webhooks.get': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string; readonly partner_id: string }
    query: undefined
    body: undefined
    reply: ConsoleWebhook
  }
  'console.operator.view.deliveries.list': {
    params: { readonly environment: "production" | "sandbox"; readonly endpoint_id: string; readonly partner_id: string }
    query: { readonly limit?: string | undefined; readonly cursor?: string | undefined; readonly order?: "newest" | "oldest" | undefined; readonly created_after?: string | undefined; readonly created_before?: string | undefined; readonly status?: "pending" | "delivered" | "exhausted" | "canceled" | undefined; readonly event_id?: string | undefined; readonly type?: "customer.created" | "customer.updated" | "customer.blocked" | "customer.unblocked" | "deposit.pending" | "deposit.completed" | "deposit.dropped" | "deposit.returned" | "pix.payout.created" | "pix.payout.processing" | "pix.payout.completed" | "pix.payout.failed" | "pix.payout.returned" | "pix.charge.open" | "pix.charge.paid" | "pix.charge.expired" | "pix.charge.failed" | "onchain.transfer.created" | "onchain.transfer.processing" | "onchain.transfer.confirmed" | "onchain.transfer.failed" | "trade.completed" | "trade.failed" | "fee_payout.completed" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "webhook_endpoint.disabled" | "webhook_endpoint.test" | undefined }
    body: undefined
    reply: { readonly data: readonly (ConsoleDelivery)[]; readonly has_more: boolean; readonly next_cursor: string | null }
  }
}

export const routes = {
  'console.session.get': 'GET /console/api/session',
  'console.session.sign_in': 'POST /console/api/session',
  'console.session.sign_out': 'DELETE /console/api/session',
  'console.session.prove': 'POST /console/api/session/proof',
  'console.me.get': 'GET /console/api/me',
  'console.me.change': 'PATCH /console/api/me',
  'console.me.change_password': 'POST /console/api/me/password',
  'console.me.begin_factor': 'POST /console/api/me/factor',
  'console.me.disable_factor': 'DELETE /console/api/me/factor',
  'console.me.confirm_factor': 'POST /console/api/me/factor/confirm',
  'console.me.renew_recovery_codes': 'POST /console/api/me/factor/recovery-codes',
  'console.me.sessions.list': 'GET /console/api/me/sessions',
  'console.me.sessions.end_others': 'DELETE /console/api/me/sessions',
  'console.me.sessions.end': 'DELETE /console/api/me/sessions/{session_id}',
  'console.me.views.list': 'GET /console/api/me/views',
  'console.me.views.save': 'POST /console/api/me/views',
  'console.me.views.rename': 'PATCH /console/api/me/views/{view_id}',
  'console.me.views.delete': 'DELETE /console/api/me/views/{view_id}',
  'console.account.get': 'GET /console/api/account',
  'console.team.get': 'GET /console/api/team',
  'console.team.change_role': 'PATCH /console/api/team/{user_id}',
  'console.team.remove': 'DELETE /console/api/team/{user_id}',
  'console.team.reset_factor': 'DELETE /console/api/team/{user_id}/factor',
  'console.invitations.create': 'POST /console/api/invitations',
  'console.invitations.withdraw': 'DELETE /console/api/invitations/{link_id}',
  'console.resets.create': 'POST /console/api/resets',
  'console.links.look': 'POST /console/api/links/look',
  'console.links.use': 'POST /console/api/links/use',
  'console.acts.list': 'GET /console/api/audit',
  'console.acts.csv': 'GET /console/api/audit.csv',
  'console.acts.totals': 'GET /console/api/audit/totals',
  'console.me.notifications.list': 'GET /console/api/me/notifications',
  'console.me.notifications.count': 'GET /console/api/me/notifications/unread',
  'console.me.notifications.read': 'POST /console/api/me/notifications/read',
  'console.me.notifications.settings': 'GET /console/api/me/notification-settings',
  'console.me.notifications.change': 'PATCH /console/api/me/notification-settings',
  'console.me.notifications.ask': 'POST /console/api/me/mail',
  'console.me.notifications.confirm': 'POST /console/api/me/mail/confirm',
  'console.overview.get': 'GET /console/api/{environment}/overview',
  'console.overview.dismiss': 'POST /console/api/overview/acts/{seq}/dismiss',
  'console.payouts.list': 'GET /console/api/{environment}/payouts',
  'console.payouts.csv': 'GET /console/api/{environment}/payouts.csv',
  'console.payouts.totals': 'GET /console/api/{environment}/payouts/totals',
  'console.payouts.get': 'GET /console/api/{environment}/payouts/{payout_id}',
  'console.payouts.receipt': 'GET /console/api/{environment}/payouts/{payout_id}/receipt',
  'console.payouts.redeliver': 'POST /console/api/{environment}/payouts/{payout_id}/redeliver',
  'console.payouts.complete': 'POST /console/api/{environment}/payouts/{payout_id}/complete',
  'console.payouts.fail': 'POST /console/api/{environment}/payouts/{payout_id}/fail',
  'console.transfers.list': 'GET /console/api/{environment}/transfers',
  'console.transfers.csv': 'GET /console/api/{environment}/transfers.csv',
  'console.transfers.totals': 'GET /console/api/{environment}/transfers/totals',
  'console.transfers.get': 'GET /console/api/{environment}/transfers/{transfer_id}',
  'console.transfers.receipt': 'GET /console/api/{environment}/transfers/{transfer_id}/receipt',
  'console.transfers.redeliver': 'POST /console/api/{environment}/transfers/{transfer_id}/redeliver',
  'console.transfers.confirm': 'POST /console/api/{environment}/transfers/{transfer_id}/confirm',
  'console.transfers.fail': 'POST /console/api/{environment}/transfers/{transfer_id}/fail',
  'console.customers.list': 'GET /console/api/{environment}/customers',
  'console.customers.create': 'POST /console/api/{environment}/customers',
  'console.customers.csv': 'GET /console/api/{environment}/customers.csv',
  'console.customers.totals': 'GET /console/api/{environment}/customers/totals',
  'console.customers.get': 'GET /console/api/{environment}/customers/{customer_id}',
  'console.customers.update': 'PATCH /console/api/{environment}/customers/{customer_id}',
  'console.customers.create_deposit_address': 'POST /console/api/{environment}/customers/{customer_id}/deposit_addresses',
  'console.customers.deposit': 'POST /console/api/{environment}/customers/{customer_id}/deposits',
  'console.deposits.get': 'GET /console/api/{environment}/deposits/{deposit_id}',
  'console.customers.statement': 'GET /console/api/{environment}/customers/{customer_id}/statement',
  'console.customers.statement_csv': 'GET /console/api/{environment}/customers/{customer_id}/statement.csv',
  'console.charges.list': 'GET /console/api/{environment}/charges',
  'console.charges.csv': 'GET /console/api/{environment}/charges.csv',
  'console.charges.totals': 'GET /console/api/{environment}/charges/totals',
  'console.charges.get': 'GET /console/api/{environment}/charges/{charge_id}',
  'console.charges.redeliver': 'POST /console/api/{environment}/charges/{charge_id}/redeliver',
  'console.charges.pay': 'POST /console/api/{environment}/charges/{charge_id}/pay',
  'console.charges.expire': 'POST /console/api/{environment}/charges/{charge_id}/expire',
  'console.quotes.list': 'GET /console/api/{environment}/quotes',
  'console.quotes.csv': 'GET /console/api/{environment}/quotes.csv',
  'console.quotes.totals': 'GET /console/api/{environment}/quotes/totals',
  'console.quotes.get': 'GET /console/api/{environment}/quotes/{quote_id}',
  'console.quotes.expire': 'POST /console/api/{environment}/quotes/{quote_id}/expire',
  'console.trades.list': 'GET /console/api/{environment}/trades',
  'console.trades.csv': 'GET /console/api/{environment}/trades.csv',
  'console.trades.totals': 'GET /console/api/{environment}/trades/totals',
  'console.trades.get': 'GET /console/api/{environment}/trades/{trade_id}',
  'console.trades.redeliver': 'POST /console/api/{environment}/trades/{trade_id}/redeliver',
  'console.prices.list': 'GET /console/api/{environment}/prices',
  'console.prices.set': 'POST /console/api/{environment}/prices',
  'console.keys.list': 'GET /console/api/{environment}/keys',
  'console.keys.create': 'POST /console/api/{environment}/keys',
  'console.keys.get': 'GET /console/api/{environment}/keys/{key_id}',
  'console.keys.change': 'PATCH /console/api/{environment}/keys/{key_id}',
  'console.keys.calls': 'GET /console/api/{environment}/keys/{key_id}/calls',
  'console.keys.rotate': 'POST /console/api/{environment}/keys/{key_id}/rotate',
  'console.keys.revoke': 'POST /console/api/{environment}/keys/{key_id}/revoke',
  'console.allowlist.check': 'POST /console/api/{environment}/allowlist',
  'console.webhooks.list': 'GET /console/api/{environment}/webhooks',
  'console.webhooks.create': 'POST /console/api/{environment}/webhooks',
  'console.webhooks.get': 'GET /console/api/{environment}/webhooks/{endpoint_id}',
  'console.webhooks.change': 'PATCH /console/api/{environment}/webhooks/{endpoint_id}',
  'console.webhooks.delete': 'DELETE /console/api/{environment}/webhooks/{endpoint_id}',
  'console.webhooks.rotate_secret': 'POST /console/api/{environment}/webhooks/{endpoint_id}/rotate_secret',
  'console.webhooks.test': 'POST /console/api/{environment}/webhooks/{endpoint_id}/test',
  'console.webhooks.redeliver': 'POST /console/api/{environment}/webhooks/{endpoint_id}/redeliver',
  'console.webhooks.retry_waiting': 'POST /console/api/{environment}/webhooks/{endpoint_id}/retry_waiting',
  'console.webhooks.health': 'GET /console/api/{environment}/webhooks/{endpoint_id}/health',
  'console.deliveries.list': 'GET /console/api/{environment}/webhooks/{endpoint_id}/deliveries',
  'console.deliveries.totals': 'GET /console/api/{environment}/webhooks/{endpoint_id}/deliveries/totals',
  'console.deliveries.get': 'GET /console/api/{environment}/webhooks/{endpoint_id}/deliveries/{event_id}',
  'console.deliveries.try': 'POST /console/api/{environment}/webhooks/{endpoint_id}/deliveries/{event_id}/try',
  'console.events.list': 'GET /console/api/{environment}/events',
  'console.events.csv': 'GET /console/api/{environment}/events.csv',
  'console.events.totals': 'GET /console/api/{environment}/events/totals',
  'console.events.get': 'GET /console/api/{environment}/events/{event_id}',
  'console.events.redeliver': 'POST /console/api/{environment}/events/{event_id}/redeliver',
  'console.requests.list': 'GET /console/api/{environment}/requests',
  'console.requests.csv': 'GET /console/api/{environment}/requests.csv',
  'console.requests.totals': 'GET /console/api/{environment}/requests/totals',
  'console.requests.get': 'GET /console/api/{environment}/requests/{request_id}',
  'console.playground.get': 'GET /console/api/{environment}/playground',
  'console.playground.payout': 'POST /console/api/{environment}/playground/payouts',
  'console.playground.charge': 'POST /console/api/{environment}/playground/charges',
  'console.playground.transfer': 'POST /console/api/{environment}/playground/transfers',
  'console.playground.quote': 'POST /console/api/{environment}/playground/quotes',
  'console.playground.execute': 'POST /console/api/{environment}/playground/quotes/{quote_id}/execute',
  'console.find.search': 'GET /console/api/{environment}/search',
  'console.operator.search': 'GET /console/api/operator/{environment}/search',
  'console.stream': 'GET /console/api/{environment}/stream',
  'console.operator.stream': 'GET /console/api/operator/{environment}/stream',
  'console.operator.overview.get': 'GET /console/api/operator/{environment}/overview',
  'console.operator.treasury.get': 'GET /console/api/operator/{environment}/treasury',
  'console.operator.treasury.limit': 'PATCH /console/api/operator/{environment}/treasury/{asset}',
  'console.operator.rails.get': 'GET /console/api/operator/{environment}/rails',
  'console.operator.rails.pause': 'POST /console/api/operator/{environment}/rails/{rail}/pause',
  'console.operator.rails.resume': 'POST /console/api/operator/{environment}/rails/{rail}/resume',
  'console.operator.rails.limit': 'PATCH /console/api/operator/{environment}/rails/{rail}',
  'console.operator.partners.list': 'GET /console/api/operator/{environment}/partners',
  'console.operator.partners.create': 'POST /console/api/operator/{environment}/partners',
  'console.operator.partners.get': 'GET /console/api/operator/{environment}/partners/{partner_id}',
  'console.operator.partners.change': 'PATCH /console/api/operator/{environment}/partners/{partner_id}',
  'console.operator.partners.limit_money': 'PATCH /console/api/operator/{environment}/partners/{partner_id}/money-limits',
  'console.operator.partners.pay_fees': 'POST /console/api/operator/{environment}/partners/{partner_id}/fee-payouts',
  'console.operator.customers.list': 'GET /console/api/operator/{environment}/partners/{partner_id}/customers',
  'console.operator.customers.get': 'GET /console/api/operator/{environment}/customers/{customer_id}',
  'console.operator.customers.change': 'PATCH /console/api/operator/{environment}/customers/{customer_id}',
  'console.operator.customers.limit_money': 'PATCH /console/api/operator/{environment}/customers/{customer_id}/money-limits',
  'console.operator.customers.book': 'POST /console/api/operator/{environment}/customers/{customer_id}/bookings',
  'console.operator.deposits.reverse': 'POST /console/api/operator/{environment}/deposits/{deposit_id}/reversal',
  'console.operator.desk.list': 'GET /console/api/operator/{environment}/desk',
  'console.operator.desk.get': 'GET /console/api/operator/{environment}/desk/{id}',
  'console.operator.desk.resolve': 'POST /console/api/operator/{environment}/desk/{id}/resolution',
  'console.operator.desk.cancel': 'POST /console/api/operator/{environment}/desk/{id}/cancel',
  'console.operator.exceptions.list': 'GET /console/api/operator/{environment}/exceptions',
  'console.operator.exceptions.close': 'POST /console/api/operator/{environment}/exceptions/{exception_id}/close',
  'console.operator.proposals.list': 'GET /console/api/operator/{environment}/proposals',
  'console.operator.proposals.get': 'GET /console/api/operator/{environment}/proposals/{proposal_id}',
  'console.operator.proposals.approve': 'POST /console/api/operator/{environment}/proposals/{proposal_id}/approve',
  'console.operator.proposals.reject': 'POST /console/api/operator/{environment}/proposals/{proposal_id}/reject',
  'console.operator.proposals.withdraw': 'POST /console/api/operator/{environment}/proposals/{proposal_id}/withdraw',
  'console.operator.proof.get': 'GET /console/api/operator/{environment}/proof',
  'console.operator.proof.start': 'POST /console/api/operator/{environment}/proof',
  'console.operator.statements.note': 'POST /console/api/operator/{environment}/statements',
  'console.operator.golive.get': 'GET /console/api/operator/{environment}/golive',
  'console.operator.acts.list': 'GET /console/api/operator/{environment}/acts',
  'console.operator.acts.verify': 'POST /console/api/operator/{environment}/acts/verify',
  'console.operator.people.list': 'GET /console/api/operator/{environment}/people',
  'console.operator.people.create': 'POST /console/api/operator/{environment}/people',
  'console.operator.people.set_role': 'PATCH /console/api/operator/{environment}/people/{user_id}',
  'console.operator.people.reset_password': 'POST /console/api/operator/{environment}/people/{user_id}/password',
  'console.operator.people.reset_factor': 'DELETE /console/api/operator/{environment}/people/{user_id}/factor',
  'console.operator.partners.name': 'GET /console/api/operator/{environment}/partners/{partner_id}/name',
  'console.operator.view.payouts.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/payouts/{payout_id}',
  'console.operator.view.transfers.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/transfers/{transfer_id}',
  'console.operator.view.deposits.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/deposits/{deposit_id}',
  'console.operator.view.charges.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/charges/{charge_id}',
  'console.operator.view.quotes.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/quotes/{quote_id}',
  'console.operator.view.trades.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/trades/{trade_id}',
  'console.operator.view.customers.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/customers/{customer_id}',
  'console.operator.view.customers.statement': 'GET /console/api/operator/{environment}/partners/{partner_id}/customers/{customer_id}/statement',
  'console.operator.view.events.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/events/{event_id}',
  'console.operator.view.requests.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/requests/{request_id}',
  'console.operator.view.deliveries.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/webhooks/{endpoint_id}/deliveries/{event_id}',
  'console.operator.view.webhooks.get': 'GET /console/api/operator/{environment}/partners/{partner_id}/webhooks/{endpoint_id}',
  'console.operator.view.deliveries.list': 'GET /console/api/operator/{environment}/partners/{partner_id}/webhooks/{endpoint_id}/deliveries',
} as const satisfies Record<keyof Calls, string>
