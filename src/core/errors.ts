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
  message: `No such ${noun} in this environment. Check the id, and whether a live or a sandbox key made it.`,
  page: `The id in the request names no ${noun} that this key can see. An object of another partner, or of the other environment, gets the same response as one that does not exist.`,
})

/** Codes that only the console's own endpoints return; no partner's program gets them. */
const consoleErrors = {
  not_signed_in: {
    ...authentication,
    message: 'You are not signed in, or your session has ended. Sign in and try again.',
    page: 'The console’s own calls need a session: it ends after 30 minutes without use, after 12 hours, when you sign out, and when your password, role or second factor changes. An API key opens none of them.',
  },
  wrong_credentials: {
    ...authentication,
    message: 'E-mail, password or code is wrong.',
    page: 'Somebody tried to sign in to the console with an e-mail, password or code that does not fit. Which of them is wrong is not told.',
  },
  code_needed: {
    ...authentication,
    message: 'Enter the code of your second factor, or one of your recovery codes.',
    page: 'The password fits, and this person has a second factor: signing in to the console takes its code too. `details.of` is `factor`, or `activation` for the code that belongs to a first sign-in.',
  },
  not_permitted: {
    ...permission,
    message: 'Your role may not do this. Ask an owner of your team.',
    page: 'What each role may do in the console is listed in the guide to the console. An owner can change a role under Team.',
  },
  proof_needed: {
    ...permission,
    message: 'Show once more that it is you, then it goes on.',
    page: 'Keys of production, secrets, people and the operator’s acts take a code of the second factor from the last five minutes, or the password where there is no second factor. `details.with` says which.',
  },
  factor_needed: {
    ...permission,
    message: 'This takes a second factor. Set one up under your name, then try again.',
    page: 'Keys of production and their addresses, and everything that an operator does, need a second factor: an app on your phone that shows six digits. The console sets one up under your name.',
  },
  cross_site_request: {
    ...permission,
    message: 'This did not come from the console’s own page. Reload the page and try again.',
    page: 'A change in the console must come from its own page: same origin, JSON, and the token of the session in X-Csrf-Token. Programs use the API with an API key instead. PUBLIC_URL must be the address that browsers see; beside it only localhost and IP addresses work.',
  },
  object_not_found: {
    ...missing,
    message: 'There is no such object here. It may be in the other environment.',
    page: 'A partner, person, proposal or exception that an operator asked for does not exist, or not in this environment.',
  },
  second_person_needed: {
    ...permission,
    message: 'One operator proposes and another one decides. Ask another one, an admin or a resolver.',
    page: 'What moves money in production, and what changes operators, is proposed by one operator and approved by another. Nobody approves or rejects what they proposed; they can withdraw it. Where there are not two operators yet, an admin makes the second one first.',
  },
  not_possible: {
    ...conflict,
    message: 'This is not possible as things stand. Nothing was changed.',
    page: 'What an operator asked for does not go together with what is there: the message says what is in the way. Nothing was changed.',
  },
  key_not_found: {
    ...missing,
    message: 'No such API key in this environment. Check the id, and whether it is a key of the sandbox.',
    page: 'The id names no API key of your team in this environment. A revoked key stays in the list.',
  },
  already_done: {
    ...conflict,
    message: 'This form was sent before, and what it asked for exists.',
    page: 'The console gives each form an id, so that a form that is sent twice makes one thing. `details.id` names what the first one made; a secret that was shown then is not shown again.',
  },
  user_exists: {
    ...conflict,
    message: 'Somebody signs in with this e-mail already.',
    page: 'An e-mail address belongs to one person and one team.',
  },
  last_owner: {
    ...conflict,
    message: 'This is the only owner. Make somebody else an owner first.',
    page: 'A team always has an owner: the last one can be neither removed nor lowered.',
  },
  factor_exists: {
    ...conflict,
    message: 'You have a second factor already. To have another one, take this one away first.',
    page: 'A person has one second factor.',
  },
  link_not_valid: {
    ...missing,
    message: 'This link was used, replaced or withdrawn, or its time is over. Ask for a new one.',
    page: 'An invitation holds for 72 hours and a link for a new password for one hour. Each works once, and a newer one for the same person takes its place. An owner of your team makes a new one.',
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
    message: 'This API key lacks the scope that this call needs.',
    page: 'Keys carry scopes: read, customers, payouts, transfers, quotes, webhooks. A scope reads what it acts on, read reads everything, and what sends data out needs webhooks and read. The message names what is missing. Use a key with that scope, or create one in the console.',
  },
  sandbox_only: {
    ...permission,
    message: 'This call exists in the sandbox only. Use a svc_test_sk_ key.',
    page: 'Everything under /v1/sandbox makes test money or moves simulated rails, so a live key is refused.',
  },
  customer_blocked: {
    ...permission,
    message: 'This customer is blocked: nothing moves in or out until the operator unblocks it.',
    page: 'The operator blocked this customer. Reading still works.',
  },
  invalid_json: {
    ...invalid,
    message: 'The body is not valid JSON. Send one JSON object in UTF-8.',
    page: 'The body must be one JSON document in UTF-8: no duplicate keys, no NUL, no lone surrogates, at most 32 levels deep. The message says where reading stopped.',
  },
  invalid_request: {
    ...invalid,
    message: 'A field of the request is missing, unknown or has the wrong form.',
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
    page: 'The destination address fails the checks of its network: form, checksum, or it is an address that would lose the money.',
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
    page: 'The path exists, the HTTP method does not fit it.',
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
    message: 'This one has come to its end already; a final state never changes.',
    page: 'A payout or transfer that is completed, confirmed or failed can no longer be moved; in the sandbox, telling it the end that it has is no error. The same holds for a quote that was executed.',
  },
  webhook_endpoint_disabled: {
    ...conflict,
    message: 'This webhook endpoint is disabled. Enable it first: PATCH it with {"status": "enabled"}.',
    page: 'Nothing is sent to a disabled endpoint. `disabled_reason` of the endpoint says why it is disabled: by_request, gone (it answered 410) or failing (nothing but failures for five days).',
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
    page: '`param` says which of the two is taken, `details.customer_id` by whom. Read it with GET /v1/customers/{customer_id}.',
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
    page: 'Payouts go to accounts of the customer itself. Other recipients need an arrangement with the operator; whether there is one for the customer is told by its `third_party_payouts`. With `param: counterparty.document` the Pix key belongs to another document than the one that was declared.',
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
      'The amount is too large: no amount with its fee, and no balance, may pass 999999999999999999 smallest units. Send less.',
    page: 'A customer’s available balance and what is in transit may together not pass 10^18 − 1 smallest units.',
  },
  limit_exceeded: {
    ...business,
    message:
      'This order goes beyond what this customer may send. Send less, or ask the operator for another limit.',
    page: 'The operator has set how much money may leave a customer: in one order, in a day, or in a night (20:00 to 06:00); days and nights are those of São Paulo. `details` says which limit it was (`limit`, `asset`), how much it allows (`allowed`), how much of that is used (`used`) and when it begins anew (`resets_at`, null for the limit of a single order). Amounts are net of fees, and a failed order gives its share back. Nothing moved. Send less, or later with a new idempotency key, or ask the operator for another limit.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many requests. Wait for the seconds in Retry-After, then go on.',
    page: 'A window is used up. `details.window` says which (`minute`, `day`, `endpoint`, `lookups`, `address`, or `waits` for calls that wait for events), `details.limit` how much it allows and `details.retry_after_seconds` how long to wait. Without `window`, too many requests or connections of yours were open at once. GET /v1/usage shows what is left. A refused request consumes nothing.',
  },
  too_many_redeliveries: {
    status: 429,
    type: 'rate_limit_error',
    message: 'A key may ask for ten redeliveries a minute. Wait for the seconds in Retry-After, then go on.',
    page: 'A key may make ten calls a minute that send webhooks again, of one event or of a time range, and 50,000 deliveries may wait for one endpoint; the message says which of the two it was. A time range takes thousands of events in one call. When too many wait, let your endpoint answer them first: the list of its deliveries with ?status=pending shows what is left.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    message:
      'Something went wrong on our side. Retry with the same idempotency key; tell us the request_id if it stays.',
    page: 'A fault of the service. The request id leads the operator to the cause.',
  },
  rail_unavailable: {
    ...unavailable,
    message: 'The payment network is not available right now. Retry after the seconds in Retry-After.',
    page: 'The rail is down or not configured in this environment. Nothing moved.',
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
    page: 'Overload, a restart, or the database is out of reach. When it came after a call that moves money, the outcome may be unknown: a retry with the same idempotency key gives the original response and never pays twice.',
  },
} as const satisfies Record<string, Entry>

export const errors = { ...apiErrors, ...consoleErrors }
export type ErrorCode = keyof typeof errors
export const errorCodes = Object.keys(apiErrors) as (keyof typeof apiErrors)[]
export const consoleErrorCodes = Object.keys(consoleErrors) as (keyof typeof consoleErrors)[]

type Details = {
  /** The field of the request that is wrong. */
  readonly param?: string
  /** Replaces the catalogue's sentence with a more precise one. */
  readonly message?: string
  /** Advice for a person at a shell, added after the sentence; API callers do not get it. */
  readonly shell?: string
  readonly retry_after_seconds?: number
  /** The facts of the message as fields, for programs. Amounts are strings. */
  readonly details?: Readonly<Record<string, unknown>>
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
