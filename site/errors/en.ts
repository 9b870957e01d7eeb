import type { ErrorText, ErrorTexts } from './text.ts'

const NO = 'No money moved.'

/** The texts of a "not found" code: the id matches no object that the key can see. */
const absent = (noun: string, more: { todo: string; money?: string }): ErrorText => ({
  what: `The id in the request names no ${noun} that this key can see. A ${noun} of another partner, or of the other environment, gets exactly the same response as one that does not exist.`,
  money: more.money ?? NO,
  todo: more.todo,
  retry: 'No. The same id with the same key gets the same response.',
})

export const texts: ErrorTexts = {
  missing_authorization: {
    what: 'The request has no `Authorization` header. Every call under `/v1` needs one, also a call to a path that does not exist.',
    money: NO,
    todo: 'Send `Authorization: Bearer svc_test_sk_…` with your API key. If your program sets the header, look for a proxy or a redirect that drops it.',
    retry: 'No. Requests without a good key count against your address: 100 a minute, then they get 429.',
  },
  invalid_api_key: {
    what: 'The value in the header is not an API key of this server: an unknown or truncated value, another scheme than `Bearer`, nothing behind `Bearer`, or one of the short forms `sk_live_…` and `sk_test_…`. The `/metrics` page returns it too, for a wrong metrics token.',
    money: NO,
    todo: 'Compare the value with the one you stored: a key begins with `svc_live_sk_` or `svc_test_sk_`. The value is shown once, when the key is created. If it is lost, rotate the key or create another one in the console under Developers, API keys.',
    retry: 'No. Wrong keys count against your address: 100 a minute, then they get 429.',
  },
  revoked_api_key: {
    what: 'The key was revoked, or this value of it was replaced by a rotation whose grace period has ended.',
    money: `${NO} An operation that was accepted before the revocation goes on to its end.`,
    todo: 'Use the new value of the key, or another key. A revoked key stays revoked: create a new one in the console. Objects made with the old key can be read with every key of the same partner and environment.',
    retry:
      'No. Before you send a payout or a transfer again with another key, look it up by its `idempotency_key`: idempotency keys belong to the API key, so with another key the same order would be paid twice. After a rotation this cannot happen, because it is still the same key.',
  },
  expired_api_key: {
    what: 'The key was created with an expiry, and that time has passed.',
    money: NO,
    todo: 'Create a new key in the console, and set a reminder for its expiry. A rotation does not change the expiry.',
    retry:
      'No. Before you repeat a payout or a transfer with another key, look it up by its `idempotency_key`: idempotency keys belong to the API key.',
  },
  ip_not_allowed: {
    what: 'The key has an IP allowlist, and this request came from an address that is not on it. The address is that of the connection. `X-Forwarded-For` is read only if the operator has named your proxy as trusted.',
    money: NO,
    todo: 'Add the address that your requests leave from to the key in the console, or call from one that is on the list. The key’s page in the console shows the list.',
    retry:
      'Only after the list was changed: a change takes effect at once. Until then each try counts against your address.',
  },
  insufficient_scope: {
    what: 'The key is valid, but it was created without a scope that this call needs. The message names the missing scope. Each scope includes reading its own objects, `read` reads everything, and calls that decide where events are sent need `webhooks` and `read`.',
    money: NO,
    todo: 'Use a key that has the scope, or create one in the console. The scopes of a key cannot be changed later.',
    retry: 'No. It counts in the limits of the key like any other request.',
  },
  sandbox_only: {
    what: 'Calls under `/v1/sandbox` create test money, control simulated networks or create sample events. This call was sent with a live key.',
    money: NO,
    todo: 'Use a key that begins with `svc_test_sk_`. Check why a live key got into a test.',
    retry: 'No, not with a live key.',
  },
  customer_blocked: {
    what: 'The operator of the service has blocked this customer. Payouts, transfers, quotes, the execution of quotes, charges, new deposit addresses and sandbox deposits are refused. Reading still works, and what is paid to an address or a charge that the customer has is credited. Your endpoints got `customer.blocked` when it happened.',
    money: `${NO} Payouts and transfers that were accepted before the block go on to their end.`,
    todo: 'Ask the operator. `status` of the customer is `active` again once it is unblocked, and the event `customer.unblocked` tells you.',
    retry:
      'Not before the customer is unblocked. The idempotency key was not used up: you may send the same request with it then.',
  },
  invalid_json: {
    what: 'The body is not one JSON document in UTF-8. Also refused: the same name twice in an object, the name `__proto__`, a NUL character, half of a surrogate pair, and more than 32 levels of nesting. The message says where parsing stopped.',
    money: NO,
    todo: 'Write the body with a JSON library instead of joining text. In a shell, check the quotes around your variables.',
    retry: 'No. The idempotency key was not used up: correct the body and send it with the same key.',
  },
  invalid_request: {
    what: 'A field is missing, has the wrong type or form, or is unknown to this call; or a query value or a header is invalid. `param` names it. Unknown fields are refused so that a misspelt one never changes what a call does.',
    money: NO,
    todo: 'Read `param` and `message`, and compare with the call’s page in the reference. If `param` is `url` and you want webhooks on your own machine, use `trilho listen`.',
    retry: 'No. The idempotency key was not used up: correct the request and send it with the same key.',
  },
  invalid_amount: {
    what: 'The amount is not a string of 1 to 18 digits without a leading zero. JSON numbers, zero, signs, decimal points, exponents and spaces are refused, so that no digit is lost on the way.',
    money: NO,
    todo: 'Send whole smallest units as a string: `"1050"` for R$ 10.50 (2 decimals), `"25000000"` for 25 USDT (6), `"100000"` for 0.001 BTC (8).',
    retry: 'No. The idempotency key was not used up: correct the amount and send it with the same key.',
  },
  invalid_pix_key: {
    what: 'The text is none of the five kinds of Pix key: a CPF or CNPJ with valid check digits, digits only or fully punctuated; an e-mail address of at most 77 characters with a dotted domain; a phone number with `+55`, area code and nine digits; or a random key (a UUID with hyphens).',
    money: NO,
    todo: 'Ask the recipient for the key again. Phone numbers need `+55`; without it eleven digits are read as a CPF.',
    retry: 'No. The idempotency key was not used up: correct the Pix key and send it with the same key.',
  },
  invalid_address: {
    what: 'The destination address fails a check of its network: its format or checksum is wrong, or money sent there would be lost, as at the zero address or the contract of the token. The message says which.',
    money: NO,
    todo: 'Check the network first, then copy the address again instead of typing it. An Ethereum-style address with capital letters must have exactly the capitals of its checksum.',
    retry: 'No. The idempotency key was not used up: correct the address and send it with the same key.',
  },
  unsupported_network: {
    what: 'This asset does not move on this network. USDT moves on `polygon`, `arbitrum`, `optimism`, `tron` and `ethereum`; BTC on `bitcoin`.',
    money: NO,
    todo: 'Ask the recipient which network their address is for. The same address can be valid on several networks, so do not guess.',
    retry: 'No. The idempotency key was not used up: correct the network and send it with the same key.',
  },
  route_not_found: {
    what: 'The path is not part of the API. Paths begin with `/v1` and have no slash at the end. A node with the role `worker` answers every call with it.',
    money: NO,
    todo: 'Compare the path with the reference. If every path gets this response, you are calling a worker node: the operator should put only nodes with the role `api` or `all` behind the address.',
    retry: 'No.',
  },
  customer_not_found: absent('customer', {
    todo: 'Check the id, and that the key is of the environment in which the customer was created. `GET /v1/customers?external_id=…` finds a customer by your own id.',
    money: `${NO} The idempotency key was not used up.`,
  }),
  deposit_not_found: absent('deposit', {
    todo: 'Check the id and the key’s environment. `GET /v1/deposits?customer_id=…` lists what came in.',
  }),
  payout_not_found: absent('payout', {
    todo: 'Check the id and the key’s environment. `GET /v1/pix/payouts?idempotency_key=…` finds a payout by your own key: an empty list means that none was accepted under it.',
    money:
      'This request moved none. If you are looking for a payout whose response you never got, look it up by its `idempotency_key` before you decide that it does not exist.',
  }),
  charge_not_found: absent('charge', {
    todo: 'Check the id and the key’s environment. `GET /v1/pix/charges?idempotency_key=…` finds a charge by your own key.',
  }),
  transfer_not_found: absent('transfer', {
    todo: 'Check the id and the key’s environment. `GET /v1/onchain/transfers?idempotency_key=…` finds a transfer by your own key, `?tx_hash=…` by its transaction.',
    money:
      'This request moved none. If you are looking for a transfer whose response you never got, look it up by its `idempotency_key` before you decide that it does not exist.',
  }),
  quote_not_found: absent('quote', {
    todo: 'Check the id and the key’s environment. A quote that was not executed is deleted 30 days after it expires, unless the operator chose otherwise; then create a new one.',
  }),
  trade_not_found: absent('trade', {
    todo: 'Check the id and the key’s environment. `GET /v1/trades?quote_id=…` finds the trade of a quote.',
  }),
  event_not_found: absent('event', {
    todo: 'Check the id and the key’s environment. Events are kept for a year unless the operator chose otherwise. Read the log from `GET /v1/events?after=start`, or read the objects themselves.',
  }),
  webhook_endpoint_not_found: absent('webhook endpoint', {
    todo: 'Check the id and the key’s environment: sandbox and production have endpoints of their own. `GET /v1/webhook_endpoints` lists them. A deleted endpoint is gone.',
  }),
  request_not_found: absent('request', {
    todo: 'Check the id: it is the `X-Request-Id` of a response. The log is about a second behind, keeps 30 days unless the operator chose otherwise, has no requests without a valid key, and at very high rates only some of the requests.',
  }),
  method_not_allowed: {
    what: 'The path exists, but not with this HTTP method.',
    money: NO,
    todo: 'The `Allow` header of the response lists the methods that the path takes. A redirect from http to https often turns a POST into a GET: call the https address directly.',
    retry: 'No.',
  },
  quote_expired: {
    what: 'The quote was not executed before its `expires_at`, 30 seconds after it was created. The clock of the database decides, at the moment when the request is processed.',
    money: 'No money moved, and the quote can no longer move any.',
    todo: 'Create a new quote, show its price if a person has to agree to it, and execute the new quote.',
    retry:
      'No. The same quote will not work again. If you got this on a retry after a lost response, the first call traded nothing either.',
  },
  idempotency_conflict: {
    what: 'An earlier request of this API key used the same `idempotency_key` for the same kind of operation with another body. Only the order of the fields and white space may differ.',
    money: 'This request moved none. The earlier one stands as it was.',
    todo: 'If it is a retry, send the body exactly as it was the first time: keep it with the key. If it is a new operation, use a new key. `GET /v1/pix/payouts?idempotency_key=…` or `/v1/onchain/transfers?idempotency_key=…` shows what the key stands for.',
    retry: 'No, not with this body and this key.',
  },
  already_final: {
    what: 'The call would change a final object: a payout or transfer that is completed, confirmed or failed, or a quote that was executed. In the sandbox, repeating the call that ended the object is not an error.',
    money: 'This request moved none. The status of the object says what happened.',
    todo: 'Read the object: its `status` and `failure` say how it ended. To try the other outcome in the sandbox, create a new object.',
    retry: 'No. A final state never changes.',
  },
  receipt_not_available: {
    what: 'A receipt says that the money arrived, so only a `completed` payout or a `confirmed` transfer has one. This one is still on its way, or it failed.',
    money: 'This request moved none. The status of the payout or transfer says what happened.',
    todo: 'Read the object. While it is `pending` or `processing`, wait for `pix.payout.completed` or `onchain.transfer.confirmed`, then download the receipt. A `failed` one never has a receipt: its money is back in the balance.',
    retry: 'Yes, once the payout is completed or the transfer confirmed.',
  },
  webhook_endpoint_disabled: {
    what: 'The call would send something to an endpoint that is disabled. `disabled_reason` of the endpoint says why: `by_request`, `gone` (your server answered 410) or `failing` (every attempt failed for five days).',
    money: NO,
    todo: 'Fix your server, then `PATCH` the endpoint with `{"status": "enabled"}` and request missed events with `redeliver`. No event is lost: events stay in the log.',
    retry: 'Yes, once the endpoint is enabled.',
  },
  too_many_webhook_endpoints: {
    what: 'There are 20 webhook endpoints in this environment already, which is the maximum.',
    money: NO,
    todo: 'Delete one that is not needed any more, or let one endpoint listen to more event types: `["*"]` is every type.',
    retry: 'Only after one was deleted.',
  },
  customer_exists: {
    what: 'A customer of yours with this document or this `external_id` exists in this environment. `param` says which of the two is taken, `details.customer_id` by which customer.',
    money: NO,
    todo: 'Use the customer that `details.customer_id` names. After a lost response, this means that the first call worked.',
    retry: 'No. It gets the same response, with the same id.',
  },
  body_too_large: {
    what: 'The body is larger than 64 KiB.',
    money: NO,
    todo: 'Send less: no call needs more than a few kilobytes. Keep large `metadata` in your own database, with the customer’s id.',
    retry: 'No. The idempotency key was not used up.',
  },
  unsupported_media_type: {
    what: 'The body did not come as `Content-Type: application/json` in UTF-8, or it was compressed.',
    money: NO,
    todo: "Set the header. `curl -d` alone sends a form: add `-H 'Content-Type: application/json'`. Do not set `Content-Encoding`.",
    retry: 'No. The idempotency key was not used up: correct the header and send it with the same key.',
  },
  request_timeout: {
    what: 'The headers did not arrive within 10 seconds, or the whole request not within 15. The connection is closed.',
    money: `${NO} A request is processed only after it has arrived completely.`,
    todo: 'Look at the network between you and the server, and at programs that open a connection long before they write to it.',
    retry: 'Yes, on a new connection, with the same idempotency key.',
  },
  headers_too_large: {
    what: 'The request line and the headers together are larger than 16 KiB. The connection is closed.',
    money: NO,
    todo: 'Send fewer or shorter headers. Cookies and tracing headers that a proxy adds are the usual cause, or a very long query.',
    retry: 'No, not with the same headers.',
  },
  insufficient_balance: {
    what: 'The customer’s available balance is smaller than the amount of this operation with its fee. `details` has `asset`, `needed` and `available` in smallest units. Money in transit is not available.',
    money: `${NO} A quote that could not be executed stays as it is until it expires.`,
    todo: 'Credit the customer or send less. `GET /v1/customers/{customer_id}/balances` shows the balance, and a call with `?dry_run=true` says beforehand whether it is enough.',
    retry:
      'With a new idempotency key. This refusal is kept under its key for 24 hours: the same key gets it again, even when the balance is high enough by then. Executing a quote needs no key: credit the customer and execute it again before it expires.',
  },
  pix_key_not_found: {
    what: 'The Pix key is well formed, but no account is registered under it.',
    money: NO,
    todo: 'Ask the recipient for the right key. `GET /v1/pix/keys/{pix_key}` checks a key without paying; it counts as a look-up, of which a key has 20 a minute.',
    retry:
      'With a new idempotency key, after the owner has registered the Pix key. This refusal is kept under its key for 24 hours.',
  },
  counterparty_not_allowed: {
    what: 'Payouts go to accounts that have the customer’s own document, and this recipient has another one. With `param: counterparty.document` the Pix key belongs to another document than the one that you sent.',
    money: NO,
    todo: 'Pay to a key or account of the customer’s own. Paying others needs an arrangement with the operator: `third_party_payouts` of the customer says whether there is one. If you sent a document, ask the recipient again: the key may belong to another person.',
    retry:
      'With a new idempotency key, after the operator has made an arrangement. This refusal is kept under its key for 24 hours.',
  },
  unsupported_pair: {
    what: '`from_asset` and `to_asset` are the same. A conversion needs two different assets of BRL, USDT and BTC.',
    money: NO,
    todo: 'Choose another `to_asset`.',
    retry: 'No.',
  },
  amount_too_small: {
    what: 'After fees and rounding nothing would be left to convert.',
    money: NO,
    todo: 'Convert a larger amount. One centavo, for example, is consumed by the fee.',
    retry: 'No, not with this amount.',
  },
  amount_too_large: {
    what: 'A balance plus its money in transit, or an amount plus its fee, would exceed the maximum of 999999999999999999 smallest units. Or the operator has limited how much one payout or transfer may be on this network, or a charge asks for more than a Pix code can hold; the message then names the limit.',
    money: `${NO} A quote that could not be executed stays as it is until it expires.`,
    todo: 'Send a smaller amount. In the sandbox, create another customer.',
    retry:
      'With another amount, and for a payout, transfer or charge with a new idempotency key: this refusal is kept under its key for 24 hours.',
  },
  limit_exceeded: {
    what: 'The operator has limited how much money may leave this customer: in one order, in a day, or in a night (20:00 to 06:00). Days and nights are those of São Paulo. `details` says which limit it was (`limit`, `asset`), how much it allows (`allowed`), how much of that is used (`used`) and when it resets (`resets_at`, null for the limit of a single order). Amounts are net of fees.',
    money: NO,
    todo: 'Send less, send later, or ask the operator for another limit. An order that fails later no longer counts.',
    retry:
      'After `resets_at`, with a new idempotency key: this refusal is kept under its key for 24 hours. The limit of a single order never resets.',
  },
  rate_limit_exceeded: {
    what: 'A request limit is used up. `details.window` says which: `minute`, `day`, `endpoint` (a call with a limit of its own), `lookups` (of Pix keys), `address` (requests without a valid key, or too many open connections) or `waits` (more than 20 calls with `wait` at once). Without `window`, too many requests of yours were open at the same moment.',
    money: `${NO} The request was refused before it was processed, and counts in no window.`,
    todo: 'Wait for the seconds in `Retry-After`, then retry, and spread requests out. `GET /v1/usage` shows what is left. To follow events, wait for them with `GET /v1/events?after=…&wait=30` instead of polling every second.',
    retry: 'Yes, after `Retry-After` seconds, with the same idempotency key.',
  },
  too_many_redeliveries: {
    what: 'A key may make ten redelivery calls a minute, an endpoint may have 50,000 pending deliveries, and only one redelivery call per endpoint runs at a time. The message says which limit it was.',
    money: `${NO} Redelivering events never moves any.`,
    todo: 'Redeliver a time range instead of single events: one call takes up to 10,000. If too many deliveries are pending, let your endpoint process those first: `GET /v1/webhook_endpoints/{endpoint_id}/deliveries?status=pending` shows them.',
    retry: 'Yes, after `Retry-After` seconds.',
  },
  internal_error: {
    what: 'A bug in the service. The operator finds it by the `request_id`.',
    money: 'It may have. Treat the outcome as unknown until a retry has succeeded.',
    todo: 'Retry the call as below. If the error persists, send the `request_id` to the operator.',
    retry:
      'Yes, with growing pauses. Payouts and transfers: the same body with the same idempotency key, so that the money moves once at most. Executing a quote: again, it trades once at most. Sandbox deposits credit each time: read the statement first.',
  },
  rail_unavailable: {
    what: 'The payment network that this call needs does not respond, is not configured in this environment, was paused by the operator, or has reached the operator’s limit for a day. The service checks this before it accepts an order. With a live key it also says that the operator’s wallet cannot pay the amount now. Pix and Tron are not connected in production yet.',
    money: NO,
    todo: 'Wait and try again. If the error persists, ask the operator whether the network is configured.',
    retry: 'Yes, after `Retry-After` seconds, with the same idempotency key: it was not used up.',
  },
  price_unavailable: {
    what: 'There is no price for this pair that is fresh enough to quote from.',
    money: NO,
    todo: 'Wait and ask for a quote again; `GET /v1/prices` shows how old each price is. If the error persists, the operator’s price feed is down or not configured. In the sandbox a price set with `age_seconds` causes this: set the price again without it.',
    retry: 'Yes, after `Retry-After` seconds.',
  },
  service_unavailable: {
    what: 'The service cannot take this request now: it is overloaded, starting or stopping, or its database cannot be reached. It also happens when the database fails while your operation is being committed.',
    money:
      'It may have, if the request moves money. Treat the outcome as unknown until a retry has succeeded.',
    todo: 'Retry the call as below. `GET /readyz` says when the server is ready again.',
    retry:
      'Yes, after `Retry-After` seconds. Payouts and transfers: the same body with the same idempotency key gives the first response and never pays twice. Executing a quote: again, it trades once at most.',
  },

  not_signed_in: {
    what: 'The console’s own calls need a session, and there is none, or it has ended: after 30 minutes without use, after 12 hours, when you signed out, and when your password, role or second factor changed. An API key does not work for these calls. At a shell it means that this command needs a signed-in operator.',
    money: NO,
    todo: 'Sign in again at `/console`; at a shell with `trilho login`.',
    retry: 'Yes, once you are signed in.',
  },
  wrong_credentials: {
    what: 'The e-mail, password or code is wrong. The response does not say which, so that nobody can find out who has an account.',
    money: NO,
    todo: 'Enter them again. An owner of your team can create a link for a new password; an only owner asks the operator.',
    retry:
      'Yes, with the right ones. Five failures within 15 minutes block the e-mail or the address until the first failure is 15 minutes old.',
  },
  code_needed: {
    what: 'The password is right, and this user has a second factor: signing in needs its code too. `details.of` is `factor`, or `activation` for the activation code of the first sign-in.',
    money: NO,
    todo: 'Enter the six digits that your app shows, or one of your recovery codes.',
    retry: 'Yes, with the code.',
  },
  not_permitted: {
    what: 'Your role may not do this. The guide to the console lists what each role may do.',
    money: NO,
    todo: 'Ask a colleague whose role allows it, or ask an owner to change your role under Team.',
    retry: 'Only after your role was changed.',
  },
  proof_needed: {
    what: 'Changes to production keys, secrets and users, and every change by an operator, need a confirmation from the last five minutes that it is you: a code of the second factor, or the password if you have none. `details.with` says which.',
    money: NO,
    todo: 'The console asks for it: enter it, and the change continues.',
    retry: 'Yes, with the confirmation.',
  },
  factor_needed: {
    what: 'Production keys and their addresses, and everything that an operator does, need a second factor, and you have none.',
    money: NO,
    todo: 'Set one up under your name in the console: an app on your phone that shows six digits. Keep the recovery codes away from the phone.',
    retry: 'Yes, once you have a second factor.',
  },
  cross_site_request: {
    what: 'A change in the console must come from its own page: same origin, JSON, and the token of the session in `X-Csrf-Token`. This one did not.',
    money: NO,
    todo: 'Reload the page and try again. Programs use the API with an API key instead. If every change is refused behind a proxy, the operator’s `PUBLIC_URL` is not the address that browsers see.',
    retry: 'Yes, after the page was reloaded.',
  },
  object_not_found: {
    what: 'The partner, user, proposal, exception or session does not exist, or not in this environment.',
    money: NO,
    todo: 'Check the id, and whether the console shows sandbox or production.',
    retry: 'No.',
  },
  second_person_needed: {
    what: 'Moving money by hand in production, and changing operators, needs two operators: one proposes, another approves or rejects. Nobody decides on their own proposal.',
    money: NO,
    todo: 'Ask another operator whose role may decide. The author can withdraw the proposal. If there are not two operators yet, an admin creates the second one first.',
    retry: 'Yes, by another operator.',
  },
  not_possible: {
    what: 'The current state does not allow this change. The message says why.',
    money: 'No money moved, and nothing was changed.',
    todo: 'Read the message: it says what has to change first.',
    retry: 'Only after that has changed.',
  },
  key_not_found: {
    what: 'The id names no API key of your team in this environment. A revoked key stays in the list.',
    money: NO,
    todo: 'Check the id, and whether the console shows sandbox or production.',
    retry: 'No.',
  },
  too_many_api_keys: {
    what: 'Your team has 100 API keys in this environment that are neither revoked nor expired. Users of a team can create no more than that.',
    money: NO,
    todo: 'Revoke the keys that no program uses: the list of keys shows when each was last used. To replace the value of a key, rotate it. If you need more keys, ask the operator for them.',
    retry: 'Yes, after a key was revoked or has expired.',
  },
  already_done: {
    what: 'The console gives each form an id, so that a form that is sent twice creates one object. This form was sent before. `details.id` is the object that it created.',
    money: 'This request moved none. The first request took effect.',
    todo: 'Open the object `details.id`. A secret that was shown then is not shown again: rotate it if nobody stored it.',
    retry: 'No. To create another object, open the form again.',
  },
  user_exists: {
    what: 'This e-mail address belongs to a user already. An address belongs to one user and one team.',
    money: NO,
    todo: 'Use another address.',
    retry: 'No, not with this address.',
  },
  last_owner: {
    what: 'A team always has an owner, and this is the only one: it can be neither removed nor given a lower role.',
    money: NO,
    todo: 'Make another user an owner first.',
    retry: 'Yes, once there is a second owner.',
  },
  factor_exists: {
    what: 'You have a second factor already; each user has one.',
    money: NO,
    todo: 'To change to another device, remove the one you have first, under your name.',
    retry: 'Yes, after it was removed.',
  },
  link_not_valid: {
    what: 'The link was used, replaced by a newer one or withdrawn, or it has expired: an invitation is valid for 72 hours, a link for a new password for one hour. Each works once.',
    money: NO,
    todo: 'Ask an owner of your team for a new one.',
    retry: 'No.',
  },
}
