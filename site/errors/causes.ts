import type { ErrorCode } from '../../src/core/errors.ts'
import type { Cause, InBoth } from './text.ts'

/**
 * Requests that cause each error. `$CUSTOMER` has the document 529.982.247-25 and money in all three assets, like the customer
 * of a first start. `before` is sent first; its ids fill `$PAYOUT`, `$QUOTE`, `$EVENT` and `$ENDPOINT`. `first` says what an
 * operator must do before, such as creating `$READ_KEY`. test/docs/causes.test.ts runs every cause.
 */
export type PreparedCause = Cause & { readonly before?: readonly Cause[] }
type PreparedCauses = Readonly<Partial<Record<ErrorCode, PreparedCause>>>

const NOWHERE = '00000000000000000000000000'

const read = (path: string): PreparedCause => ({ method: 'GET', path })

const payout = (to: string, more: Readonly<Record<string, unknown>> = {}): PreparedCause => ({
  method: 'POST',
  path: '/v1/pix/payouts',
  body: {
    customer_id: '$CUSTOMER',
    amount: '1050',
    counterparty: { type: 'pix_key', pix_key: to },
    idempotency_key: 'error-page-1',
    ...more,
  },
})

const OWN_KEY = '529.982.247-25'

const transfer = (more: Readonly<Record<string, unknown>>): PreparedCause => ({
  method: 'POST',
  path: '/v1/onchain/transfers',
  body: {
    customer_id: '$CUSTOMER',
    asset: 'USDT',
    network: 'polygon',
    amount: '25000000',
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: 'error-page-1',
    ...more,
  },
})

const quote = (more: Readonly<Record<string, unknown>> = {}): PreparedCause => ({
  method: 'POST',
  path: '/v1/quotes',
  body: { customer_id: '$CUSTOMER', from_asset: 'BRL', to_asset: 'USDT', amount: '100000', ...more },
})

const endpoint: PreparedCause = {
  method: 'POST',
  path: '/v1/webhook_endpoints',
  body: { url: 'https://example.com/webhooks', events: ['*'] },
}

const redeliver: PreparedCause = { method: 'POST', path: '/v1/events/$EVENT/redeliver' }

const lookUp = read('/v1/pix/keys/notfound@sandbox.test')

const times = (count: number, cause: Cause): Cause[] => Array.from({ length: count }, () => cause)

const withKey = (name: string) => ({ Authorization: `Bearer ${name}` })

const fromOwnPage = { Authorization: '', 'Sec-Fetch-Site': 'same-origin' }

const caused = {
  missing_authorization: { ...read('/v1/usage'), headers: { Authorization: '' } },
  invalid_api_key: { ...read('/v1/usage'), headers: withKey('sk_test_abc') },
  revoked_api_key: {
    ...read('/v1/usage'),
    headers: withKey('$REVOKED_KEY'),
    first: { en: 'Create a key in the console and revoke it.', pt: 'Crie uma chave no console e revogue-a.' },
  },
  expired_api_key: {
    ...read('/v1/usage'),
    headers: withKey('$EXPIRED_KEY'),
    first: {
      en: 'Create a key in the console that expires in a minute, and wait.',
      pt: 'Crie no console uma chave que expire em um minuto, e espere.',
    },
  },
  ip_not_allowed: {
    ...read('/v1/usage'),
    headers: withKey('$KEY_FOR_192_0_2_1'),
    first: {
      en: 'Create a key in the console that may be used from 192.0.2.1 only.',
      pt: 'Crie no console uma chave que só possa ser usada de 192.0.2.1.',
    },
  },
  insufficient_scope: {
    method: 'POST',
    path: '/v1/customers',
    body: { name: 'Bruno Lima', document: '111.444.777-35' },
    headers: withKey('$READ_KEY'),
    first: {
      en: 'Create a key in the console that has the scope `read` only.',
      pt: 'Crie no console uma chave só com o escopo `read`.',
    },
  },
  sandbox_only: {
    method: 'POST',
    path: '/v1/sandbox/deposits',
    body: { customer_id: '$CUSTOMER', asset: 'BRL', amount: '1050' },
    headers: withKey('$LIVE_KEY'),
    first: { en: 'Use a live key.', pt: 'Use uma chave de produção.' },
  },
  customer_blocked: {
    ...payout(OWN_KEY, { customer_id: '$BLOCKED_CUSTOMER' }),
    first: { en: 'The operator blocks a customer.', pt: 'O operador bloqueia um cliente.' },
  },
  invalid_json: { method: 'POST', path: '/v1/customers', body: '{"name":"Bruno Lima","name":"Bruna Lima"}' },
  invalid_request: {
    method: 'POST',
    path: '/v1/customers',
    body: { name: 'Bruno Lima', document: '111.444.777-35', mail: 'bruno@example.com' },
  },
  invalid_amount: payout(OWN_KEY, { amount: 1050 }),
  invalid_pix_key: payout('someone@nowhere'),
  invalid_address: transfer({ destination_address: '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }),
  unsupported_network: transfer({ network: 'bitcoin' }),
  route_not_found: read('/v1/payouts'),
  customer_not_found: read(`/v1/customers/cus_${NOWHERE}`),
  deposit_not_found: read(`/v1/deposits/dep_${NOWHERE}`),
  payout_not_found: read(`/v1/pix/payouts/po_${NOWHERE}`),
  charge_not_found: read(`/v1/pix/charges/chg_${NOWHERE}`),
  transfer_not_found: read(`/v1/onchain/transfers/tr_${NOWHERE}`),
  quote_not_found: read(`/v1/quotes/qt_${NOWHERE}`),
  trade_not_found: read(`/v1/trades/td_${NOWHERE}`),
  event_not_found: read(`/v1/events/evt_${NOWHERE}`),
  webhook_endpoint_not_found: read(`/v1/webhook_endpoints/whe_${NOWHERE}`),
  request_not_found: read(`/v1/requests/req_${NOWHERE}`),
  method_not_allowed: { method: 'DELETE', path: '/v1/customers/$CUSTOMER' },
  quote_expired: {
    method: 'POST',
    path: '/v1/quotes/$QUOTE/execute',
    before: [quote(), { method: 'POST', path: '/v1/sandbox/quotes/$QUOTE/expire' }],
    first: {
      en: 'Create a quote, then `POST /v1/sandbox/quotes/$QUOTE/expire`, or wait for 30 seconds.',
      pt: 'Crie uma cotação, depois faça `POST /v1/sandbox/quotes/$QUOTE/expire` ou espere 30 segundos.',
    },
  },
  idempotency_conflict: {
    ...payout(OWN_KEY, { amount: '2100' }),
    before: [payout(OWN_KEY)],
    first: {
      en: 'Send the same payout with another amount first, such as `1050`.',
      pt: 'Envie antes o mesmo pagamento com outro valor, como `1050`.',
    },
  },
  already_final: {
    method: 'POST',
    path: '/v1/sandbox/pix/payouts/$PAYOUT/fail',
    before: [payout(OWN_KEY)],
    first: { en: 'Create a payout that completes.', pt: 'Crie um pagamento que seja concluído.' },
  },
  receipt_not_available: {
    method: 'GET',
    path: '/v1/pix/payouts/$PAYOUT/receipt',
    before: [payout('slow@sandbox.test')],
    first: {
      en: 'Create a payout that stays `processing` for a while.',
      pt: 'Crie um pagamento que fique um tempo em `processing`.',
    },
  },
  webhook_endpoint_disabled: {
    method: 'POST',
    path: '/v1/webhook_endpoints/$ENDPOINT/test',
    before: [
      endpoint,
      { method: 'PATCH', path: '/v1/webhook_endpoints/$ENDPOINT', body: { status: 'disabled' } },
    ],
    first: {
      en: 'Create an endpoint and `PATCH` it with `{"status": "disabled"}`.',
      pt: 'Crie um endpoint e faça `PATCH` nele com `{"status": "disabled"}`.',
    },
  },
  too_many_webhook_endpoints: {
    ...endpoint,
    before: times(20, endpoint),
    first: { en: 'Create 20 endpoints.', pt: 'Crie 20 endpoints.' },
  },
  customer_exists: {
    method: 'POST',
    path: '/v1/customers',
    body: { name: 'Ana Souza', document: '529.982.247-25' },
    first: {
      en: 'Send it twice, unless you have the demo customer of the first start.',
      pt: 'Envie duas vezes, a não ser que você tenha o cliente de demonstração do primeiro início.',
    },
  },
  unsupported_media_type: {
    method: 'POST',
    path: '/v1/customers',
    body: { name: 'Bruno Lima', document: '111.444.777-35' },
    headers: { 'Content-Type': 'text/plain' },
  },
  insufficient_balance: payout(OWN_KEY, { amount: '999999999999999999' }),
  pix_key_not_found: payout('notfound@sandbox.test'),
  counterparty_not_allowed: payout('other-owner@sandbox.test'),
  unsupported_pair: quote({ to_asset: 'BRL' }),
  amount_too_small: quote({ amount: '1' }),
  amount_too_large: {
    method: 'POST',
    path: '/v1/sandbox/deposits',
    body: { customer_id: '$CUSTOMER', asset: 'BRL', amount: '999999999999999999' },
  },
  limit_exceeded: {
    ...payout(OWN_KEY, { customer_id: '$LIMITED_CUSTOMER' }),
    first: {
      en: 'The operator limits a customer’s payouts to 1000 centavos each.',
      pt: 'O operador limita cada pagamento de um cliente a 1000 centavos.',
    },
  },
  rate_limit_exceeded: {
    ...lookUp,
    before: times(20, lookUp),
    first: { en: 'Send it 21 times within a minute.', pt: 'Envie 21 vezes no mesmo minuto.' },
  },
  too_many_redeliveries: {
    ...redeliver,
    before: [{ method: 'POST', path: '/v1/sandbox/events/pix.payout.completed' }, ...times(10, redeliver)],
    first: {
      en: 'Make a sample event, and send this 11 times within a minute.',
      pt: 'Crie um evento de exemplo, e envie isto 11 vezes no mesmo minuto.',
    },
  },
  rail_unavailable: {
    ...read('/v1/pix/keys/52998224725'),
    headers: withKey('$LIVE_KEY'),
    first: {
      en: 'Use a live key: Pix is not connected in production yet.',
      pt: 'Use uma chave de produção: o Pix ainda não está conectado em produção.',
    },
  },
  price_unavailable: {
    ...quote(),
    before: [
      {
        method: 'POST',
        path: '/v1/sandbox/prices',
        body: { pair: 'USDT/BRL', price: '5.40', age_seconds: 60 },
      },
    ],
    first: {
      en: '`POST /v1/sandbox/prices` with `{"pair": "USDT/BRL", "price": "5.40", "age_seconds": 60}`.',
      pt: 'Faça `POST /v1/sandbox/prices` com `{"pair": "USDT/BRL", "price": "5.40", "age_seconds": 60}`.',
    },
  },

  not_signed_in: { ...read('/console/api/me'), headers: { Authorization: '' } },
  wrong_credentials: {
    method: 'POST',
    path: '/console/api/session',
    body: { email: 'nobody@example.com', password: 'not a password' },
    headers: fromOwnPage,
  },
  cross_site_request: {
    method: 'POST',
    path: '/console/api/session',
    body: { email: 'nobody@example.com', password: 'not a password' },
    headers: { Authorization: '' },
  },
  link_not_valid: {
    method: 'POST',
    path: '/console/api/links/look',
    body: { token: 'no such link' },
    headers: fromOwnPage,
  },
} as const satisfies PreparedCauses

export const causes: PreparedCauses = caused

const SIGNED_IN = {
  en: 'It needs a user who is signed in to the console.',
  pt: 'É preciso um usuário conectado ao console.',
}
const AN_OPERATOR = {
  en: 'It needs an operator who is signed in.',
  pt: 'É preciso um operador conectado.',
}

/** Codes without a request to try, and why. */
export const withoutCause: Readonly<Record<Exclude<ErrorCode, keyof typeof caused>, InBoth>> = {
  body_too_large: {
    en: 'Any call with a body of more than 65,536 bytes, which is too long to show.',
    pt: 'Qualquer chamada com um corpo de mais de 65.536 bytes, longo demais para mostrar.',
  },
  headers_too_large: {
    en: 'Any call with more than 16,384 bytes of headers, which is too long to show.',
    pt: 'Qualquer chamada com mais de 16.384 bytes de cabeçalhos, longo demais para mostrar.',
  },
  request_timeout: {
    en: 'The request must take longer than 15 seconds to arrive.',
    pt: 'A requisição precisa levar mais de 15 segundos para chegar.',
  },
  internal_error: {
    en: 'No request causes a bug of the service on purpose.',
    pt: 'Nenhuma requisição causa um bug do serviço de propósito.',
  },
  service_unavailable: {
    en: 'It happens under overload, or when the database cannot be reached.',
    pt: 'Acontece em uma sobrecarga, ou quando o banco de dados não pode ser alcançado.',
  },
  code_needed: {
    en: 'It needs a user who has a second factor.',
    pt: 'É preciso um usuário que tenha um segundo fator.',
  },
  not_permitted: SIGNED_IN,
  proof_needed: SIGNED_IN,
  factor_needed: SIGNED_IN,
  key_not_found: SIGNED_IN,
  too_many_api_keys: SIGNED_IN,
  already_done: SIGNED_IN,
  user_exists: SIGNED_IN,
  last_owner: SIGNED_IN,
  factor_exists: SIGNED_IN,
  object_not_found: AN_OPERATOR,
  second_person_needed: AN_OPERATOR,
  not_possible: AN_OPERATOR,
}
