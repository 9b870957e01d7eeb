/** Every class of error (interface §7, `error.type`). */
export type ErrorType =
  | 'authentication_error'
  | 'permission_error'
  | 'invalid_request_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'business_error'
  | 'rate_limit_error'
  | 'api_error'

type Entry = {
  readonly status: number
  readonly type: ErrorType
  /** For the caller: what is wrong, and what to do next. */
  readonly message: string
  /** The page behind `doc_url`: when the error happens and how to resolve it. */
  readonly page: string
}

const authentication = { status: 401, type: 'authentication_error' } as const
const permission = { status: 403, type: 'permission_error' } as const
const invalid = { status: 400, type: 'invalid_request_error' } as const
const missing = { status: 404, type: 'not_found_error' } as const
const conflict = { status: 409, type: 'conflict_error' } as const
const business = { status: 422, type: 'business_error' } as const
const unavailable = { status: 503, type: 'api_error' } as const

const notFound = (noun: string) => ({
  ...missing,
  message: `No such ${noun} in this environment. Check the id, and whether it was created with a live or a sandbox key.`,
  page: `The id in the request names no ${noun} that this key can see. An object of another partner, or of the other environment, gets the same response as one that does not exist.`,
})

/** Codes that only the console's own endpoints return; no partner's program gets them. */
const consoleErrors = {
  not_signed_in: {
    ...authentication,
    message: 'You are not signed in, or your session has ended. Sign in and try again.',
    page: 'The console’s own calls need a session: it ends after 30 minutes without use, after 12 hours, when you sign out, and when your password, role or second factor changes. An API key does not work for these calls.',
  },
  wrong_credentials: {
    ...authentication,
    message: 'The e-mail, password or code is wrong. Enter them again.',
    page: 'The e-mail, password or code of a sign-in to the console is wrong. The response does not say which.',
  },
  code_needed: {
    ...authentication,
    message: 'Enter the code of your second factor, or one of your recovery codes.',
    page: 'The password is right, and this user has a second factor: signing in to the console needs its code too. `details.of` is `factor`, or `activation` for the activation code of the first sign-in.',
  },
  not_permitted: {
    ...permission,
    message: 'Your role may not do this. Ask an owner of your team.',
    page: 'What each role may do in the console is listed in the guide to the console. An owner can change a role under Team.',
  },
  proof_needed: {
    ...permission,
    message: 'Confirm that it is you: enter a code of your second factor or your password.',
    page: 'Changes to production keys, secrets and users, and every change by an operator, need a code of the second factor from the last five minutes, or the password if the user has no second factor. `details.with` says which.',
  },
  factor_needed: {
    ...permission,
    message: 'This needs a second factor. Set one up under your name, then try again.',
    page: 'Keys of production and their addresses, and everything that an operator does, need a second factor: an app on your phone that shows six digits. The console sets one up under your name.',
  },
  cross_site_request: {
    ...permission,
    message: 'This request did not come from the console’s own page. Reload the page and try again.',
    page: 'A change in the console must come from its own page: same origin, JSON, and the token of the session in X-Csrf-Token. Programs use the API with an API key instead. PUBLIC_URL must be the address that browsers see; beside it only localhost and IP addresses work.',
  },
  object_not_found: {
    ...missing,
    message:
      'No such object in this environment. Check the id, and whether the object is in the other environment.',
    page: 'The partner, user, proposal or exception does not exist, or not in this environment.',
  },
  second_person_needed: {
    ...permission,
    message:
      'One operator proposes and another one decides. Ask another operator with the role admin or resolver.',
    page: 'Moving money by hand in production, and changing operators, needs two operators: one proposes, another approves or rejects. The author can withdraw a proposal. If there are not two operators yet, an admin creates the second one first.',
  },
  not_possible: {
    ...conflict,
    message: 'The current state does not allow this change. Nothing was changed.',
    page: 'The current state does not allow this change: the message says why, and `details.reason` names it. Nothing was changed.',
  },
  key_not_found: {
    ...missing,
    message:
      'No such API key in this environment. Check the id, and whether the key is in the other environment.',
    page: 'The id names no API key of your team in this environment. A revoked key stays in the list.',
  },
  too_many_api_keys: {
    ...conflict,
    message:
      'Your team has 100 API keys in this environment already. Revoke a key that no program uses, or ask the operator for one more.',
    page: 'Users of a team can create keys in the console until the team has 100 keys in the environment that are neither revoked nor expired. The operator can create more.',
  },
  already_done: {
    ...conflict,
    message: 'This form was sent before. Open the object that it created: details.id is its id.',
    page: 'The console gives each form an id, so that a form that is sent twice creates one object. `details.id` is that object; a secret that was shown then is not shown again.',
  },
  user_exists: {
    ...conflict,
    message: 'This e-mail belongs to a user already. Use another address.',
    page: 'An e-mail address belongs to one user and one team.',
  },
  last_owner: {
    ...conflict,
    message: 'This is the only owner. Make another user an owner first.',
    page: 'A team always has an owner: the last one can be neither removed nor given a lower role.',
  },
  factor_exists: {
    ...conflict,
    message: 'You have a second factor already. To set up another one, remove this one first.',
    page: 'Each user has one second factor.',
  },
  link_not_valid: {
    ...missing,
    message:
      'This link was used, replaced or withdrawn, or it has expired. Ask an owner of your team for a new one.',
    page: 'An invitation is valid for 72 hours and a link for a new password for one hour. Each works once, and a newer link for the same person replaces it. An owner of your team can create a new one.',
  },
} as const satisfies Record<string, Entry>

/** Every code that the API can return. The error pages, openapi.json and the SDK's types are made from this list. */
const apiErrors = {
  missing_authorization: {
    ...authentication,
    message: 'Send your API key in the header Authorization: Bearer svc_test_sk_….',
    page: 'The request has no Authorization header. Every call under /v1 needs one.',
  },
  invalid_api_key: {
    ...authentication,
    message:
      'This is not a valid API key. A key looks like svc_live_sk_… or svc_test_sk_… and is sent as Authorization: Bearer <key>.',
    page: 'The key does not exist, is malformed, or the header uses another scheme than Bearer. The short forms sk_live_ and sk_test_ are not accepted. Copy the key again, or make a new one in the console under Developers: a key is shown only once.',
  },
  revoked_api_key: {
    ...authentication,
    message: 'This API key was revoked. Use another key, or create one in the console.',
    page: 'The key existed and was revoked, or its value was replaced by a rotation whose grace period has ended. Use the new value, or create another key in the console under Developers.',
  },
  expired_api_key: {
    ...authentication,
    message: 'This API key has expired. Use another key, or create one in the console.',
    page: 'The key was created with an expiry, and that time has passed. Create a new one in the console under Developers.',
  },
  ip_not_allowed: {
    ...authentication,
    message:
      'This API key may not be used from your address. Add it to the key’s allowlist in the console, or call from an address that is on it.',
    page: 'The key has an IP allowlist and the request came from an address outside of it. The address is that of the connection; X-Forwarded-For counts only when the operator has named the proxy as trusted. The allowlist is kept in the console, with the key.',
  },
  insufficient_scope: {
    ...permission,
    message:
      'This API key lacks the scope that this call needs. Use a key that has it, or create one in the console.',
    page: 'Keys carry scopes: read, customers, payouts, transfers, quotes, webhooks. Each scope includes reading its own objects, read reads everything, and calls that send data out need webhooks and read. The message names what is missing. Use a key with that scope, or create one in the console.',
  },
  sandbox_only: {
    ...permission,
    message: 'This call exists in the sandbox only. Use a svc_test_sk_ key.',
    page: 'Calls under /v1/sandbox create test money or control simulated rails, so a live key is refused.',
  },
  customer_blocked: {
    ...permission,
    message:
      'This customer is blocked: it can start no payout, transfer, conversion, charge or deposit address until the operator unblocks it.',
    page: 'The operator blocked this customer. Reading still works, and what is paid to an address or a charge of the customer is credited.',
  },
  invalid_json: {
    ...invalid,
    message: 'The body is not valid JSON. Send one JSON object in UTF-8.',
    page: 'The body must be one JSON document in UTF-8: no duplicate keys, no NUL, no lone surrogates, at most 32 levels deep. The message says where parsing stopped.',
  },
  invalid_request: {
    ...invalid,
    message: 'A field of the request is missing, unknown or invalid. param names it.',
    page: '`param` names the field. Unknown fields are refused too, so that a misspelt one never changes what a call does.',
  },
  invalid_amount: {
    ...invalid,
    message:
      'An amount is a string holding a whole number of smallest units above zero, such as "1050" for R$ 10.50: digits only, no leading zero, at most 18.',
    page: 'Amounts are strings matching ^[1-9][0-9]{0,17}$. JSON numbers, signs, decimals, exponents, spaces and zero are refused, so that no digit is lost on the way.',
  },
  invalid_pix_key: {
    ...invalid,
    message: 'This is not a Pix key: send a CPF, CNPJ, e-mail, phone (+55…) or random key.',
    page: 'The Pix key has none of the five forms, or its check digits are wrong.',
  },
  invalid_address: {
    ...invalid,
    message:
      'This address cannot be paid on this network. Check the network, and the address character by character.',
    page: 'The destination address fails a check of its network: its format or checksum is wrong, or money sent there would be lost.',
  },
  unsupported_network: {
    ...invalid,
    message:
      'This asset does not move on this network: USDT moves on polygon, arbitrum, optimism, tron and ethereum, BTC on bitcoin.',
    page: 'USDT moves on polygon, arbitrum, optimism, tron and ethereum; BTC on bitcoin.',
  },
  route_not_found: {
    ...missing,
    message: 'No such route. The reference at /docs lists them all.',
    page: 'The path is not part of the API. Every path starts with /v1, without a slash at the end.',
  },
  customer_not_found: notFound('customer'),
  deposit_not_found: notFound('deposit'),
  payout_not_found: notFound('payout'),
  charge_not_found: notFound('charge'),
  transfer_not_found: notFound('transfer'),
  quote_not_found: notFound('quote'),
  trade_not_found: notFound('trade'),
  event_not_found: notFound('event'),
  webhook_endpoint_not_found: notFound('webhook endpoint'),
  request_not_found: notFound('request'),
  method_not_allowed: {
    ...invalid,
    status: 405,
    message: 'This route does not take this method. The Allow header lists those it takes.',
    page: 'The path exists, but not with this HTTP method.',
  },
  quote_expired: {
    ...conflict,
    message: 'The quote is older than 30 seconds. Create a new one and execute it.',
    page: 'A quote holds its price for 30 seconds. Nothing was traded.',
  },
  idempotency_conflict: {
    ...conflict,
    message: 'This idempotency key was used with another body. Use a new key for a new operation.',
    page: 'The same idempotency key came with different content. Nothing moved. Retries must repeat the body as it was.',
  },
  already_final: {
    ...conflict,
    message: 'This object is already in its final state, which never changes. Read it to see how it ended.',
    page: 'A payout or transfer that is completed, confirmed or failed can no longer change, and neither can a charge that is paid or failed, or a quote that was executed. In the sandbox, repeating the call that ended the object is not an error.',
  },
  receipt_not_available: {
    ...conflict,
    message:
      'There is no receipt: only a completed payout or a confirmed transfer has one. Read it to see its status.',
    page: 'A receipt says that the money arrived, so it exists once a payout is `completed` or a transfer `confirmed`. While it is `pending` or `processing`, wait for the event (`pix.payout.completed`, `onchain.transfer.confirmed`) and try again. A `failed` one never has a receipt: the money went back to the balance.',
  },
  webhook_endpoint_disabled: {
    ...conflict,
    message: 'This webhook endpoint is disabled. Enable it first: PATCH it with {"status": "enabled"}.',
    page: 'Nothing is sent to a disabled endpoint. `disabled_reason` of the endpoint says why it is disabled: by_request, gone (it answered 410) or failing (every attempt failed for five days).',
  },
  too_many_webhook_endpoints: {
    ...conflict,
    message: 'There are 20 webhook endpoints already. Delete one, or let one listen to more event types.',
    page: 'A partner may have 20 webhook endpoints in each environment. One endpoint can listen to every event type.',
  },
  customer_exists: {
    ...conflict,
    message:
      'A customer with this document or external_id exists already. Use that one: details.customer_id is its id.',
    page: '`param` says which of the two is taken, `details.customer_id` by which customer. Read it with GET /v1/customers/{customer_id}.',
  },
  body_too_large: {
    ...invalid,
    status: 413,
    message: 'The body is larger than 64 KiB. Send less.',
    page: 'No call needs more than a few kilobytes.',
  },
  unsupported_media_type: {
    ...invalid,
    status: 415,
    message: 'Send the body as Content-Type: application/json in UTF-8, not compressed.',
    page: 'The body must be JSON in UTF-8 without Content-Encoding.',
  },
  request_timeout: {
    ...invalid,
    status: 408,
    message: 'The request did not arrive in time. Send it again on a new connection.',
    page: 'Headers must arrive within 10 seconds and the whole request within 15.',
  },
  headers_too_large: {
    ...invalid,
    status: 431,
    message: 'The headers are larger than 16 KiB. Send fewer or shorter ones.',
    page: 'The request line and headers together may have 16 KiB.',
  },
  insufficient_balance: {
    ...business,
    message: 'The customer’s balance does not cover this operation. Credit the customer, or send less.',
    page: 'The available balance is smaller than the amount plus the fee. `details` says how much is `needed` and how much is `available`, in smallest units of `asset`. Nothing moved.',
  },
  pix_key_not_found: {
    ...business,
    message: 'No account is registered under this Pix key. Ask its owner for the right one.',
    page: 'The key is well formed, but the Pix directory does not know it.',
  },
  counterparty_not_allowed: {
    ...business,
    message:
      'The recipient must have the same document as the customer. Pay an account of the customer’s own, or ask the operator for an arrangement.',
    page: 'Payouts go to accounts of the customer itself. Other recipients need an arrangement with the operator; `third_party_payouts` of the customer says whether there is one. With `param: counterparty.document` the Pix key belongs to another document than the one in the request.',
  },
  unsupported_pair: {
    ...business,
    message: 'from_asset and to_asset must be two different assets.',
    page: 'A conversion needs two different assets of BRL, USDT and BTC.',
  },
  amount_too_small: {
    ...business,
    message: 'The amount is too small: after fees and rounding nothing would be left. Send more.',
    page: 'Raise the amount.',
  },
  amount_too_large: {
    ...business,
    message:
      'The amount is too large: no amount with its fee, and no balance, may exceed 999999999999999999 smallest units. Send less.',
    page: 'A customer’s available balance plus the money in transit may not exceed 10^18 − 1 smallest units. The operator may have set a lower limit for one order on a rail, and a charge can ask for 999999999999 centavos at most; the message names the limit.',
  },
  limit_exceeded: {
    ...business,
    message:
      'This order exceeds a money limit of this customer. Send less, or ask the operator for another limit.',
    page: 'The operator has set how much money may leave a customer: in one order, in a day, or in a night (20:00 to 06:00); days and nights are those of São Paulo. `details` says which limit it was (`limit`, `asset`), how much it allows (`allowed`), how much of that is used (`used`) and when it resets (`resets_at`, null for the limit of a single order). Amounts are net of fees, and a failed order no longer counts. Nothing moved. Send less, or later with a new idempotency key, or ask the operator for another limit.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many requests. Wait for the seconds in Retry-After, then retry.',
    page: 'A request limit is used up. `details.window` says which (`minute`, `day`, `endpoint`, `lookups`, `address`, or `waits` for calls that wait for events), `details.limit` how much it allows and `details.retry_after_seconds` how long to wait. Without `window`, too many requests or connections of yours were open at once. GET /v1/usage shows what is left. A refused request counts in no window.',
  },
  too_many_redeliveries: {
    status: 429,
    type: 'rate_limit_error',
    message: 'A key may make ten redelivery calls a minute. Wait for the seconds in Retry-After, then retry.',
    page: 'A key may make ten redelivery calls a minute, of one event or of a time range, and an endpoint may have 50,000 pending deliveries; the message says which limit it was. A time range takes thousands of events in one call. When too many are pending, let your endpoint process them first: the list of its deliveries with ?status=pending shows what is left.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    message:
      'The service failed. Retry with the same idempotency key; if the error persists, send the request_id to the operator.',
    page: 'A bug in the service. The operator finds the cause by the request id.',
  },
  rail_unavailable: {
    ...unavailable,
    message: 'The payment network is not available right now. Retry after the seconds in Retry-After.',
    page: 'The rail is down, not configured in this environment, paused by the operator, or the operator’s limit for the orders of a day is reached; the message says which. Nothing moved, and the idempotency key stays free.',
  },
  price_unavailable: {
    ...unavailable,
    message: 'No fresh price is available right now. Retry after the seconds in Retry-After.',
    page: 'The price feed is too old to quote from. Nothing moved.',
  },
  service_unavailable: {
    ...unavailable,
    message:
      'The service cannot take this request right now. Retry after the seconds in Retry-After, with the same idempotency key.',
    page: 'Overload, a restart, or the database cannot be reached. If the call moves money, the outcome may be unknown: a retry with the same idempotency key gives the original response and never pays twice.',
  },
} as const satisfies Record<string, Entry>

export const errors = { ...apiErrors, ...consoleErrors }
export type ErrorCode = keyof typeof errors
export const errorCodes = Object.keys(apiErrors) as (keyof typeof apiErrors)[]
export const consoleErrorCodes = Object.keys(consoleErrors) as (keyof typeof consoleErrors)[]

/** Why an operator's act is refused, where the code alone does not say it: `details.reason`. The console has a text for each. */
export const reasons = [
  'id_of_another_payout',
  'foreign_transactions_found',
  'foreign_transactions_wait',
  'books_differ',
  'never_accepted',
  'was_accepted',
  'may_be_sent_now',
  'was_paid',
  'was_not_paid',
  'may_still_be_paid',
  'signed_since',
  'never_signed',
  'not_confirmed',
  'worker_settles',
  'may_still_be_mined',
  'canceled_before',
  'reversed_before',
  'not_paused',
  'paused_since',
  'not_in_the_log',
  'withdraw_instead',
  'proposal_of_another',
  'two_operators_needed',
  'proposer_lost_role',
  'first_must_be_admin',
  'proof_running',
  'running_already',
] as const
export type Reason = (typeof reasons)[number]

type Details = {
  /** The field of the request that is wrong. */
  readonly param?: string
  /** Replaces the catalogue's sentence with a more precise one. */
  readonly message?: string
  /** Advice for a person at a shell, added after the sentence; API callers do not get it. */
  readonly shell?: string
  readonly retry_after_seconds?: number
  /** The facts of the message as fields, for programs. Amounts are strings. */
  readonly details?: Readonly<Record<string, unknown>> & { readonly reason?: Reason }
}

/** The request is wrong, or conflicts with the current state: one code of the catalogue, rendered in one place. */
export class Refusal extends Error {
  readonly code: ErrorCode
  /** The message without the advice for a shell. */
  readonly sentence: string
  readonly param: string | undefined
  readonly retry_after_seconds: number | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, details: Details = {}) {
    const sentence = details.message ?? errors[code].message
    super(details.shell === undefined ? sentence : `${sentence} ${details.shell}`)
    this.code = code
    this.sentence = sentence
    this.param = details.param
    this.details = details.details
    this.retry_after_seconds = details.retry_after_seconds ?? (errors[code].status === 503 ? 1 : undefined)
  }

  get status(): number {
    return errors[this.code].status
  }

  toBody(options: { public_url: string; request_id: string }) {
    return {
      error: {
        type: errors[this.code].type,
        code: this.code,
        message: this.sentence,
        doc_url: `${options.public_url}/docs/errors/${this.code}`,
        ...(this.param === undefined ? {} : { param: this.param }),
        ...(this.details === undefined ? {} : { details: this.details }),
        request_id: options.request_id,
      },
    }
  }
}

export function refuse(code: ErrorCode, details?: Details): never {
  throw new Refusal(code, details)
}
