import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { OpenApi } from '../../src/doors/reference/openapi.ts'
import { openSearch } from '../../src/doors/reference/search.ts'
import { buildSite } from '../site.ts'
import { synonyms } from './synonyms.ts'

/** What developers of partners type: questions, plurals, synonyms, typing errors, Portuguese words. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const files = buildSite({
  root,
  openapi: JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as OpenApi,
  assets: { script: '/docs/assets/main.js', style: '/docs/assets/style.css' },
})
const searchIn = (language: 'en' | 'pt') =>
  openSearch(JSON.parse(files.get(`/docs/search/${language}.json`)!))
const search = { en: searchIn('en'), pt: searchIn('pt') }

const pageOf = (address: string) => address.split('#')[0]!.replace('/docs/', '')
const pagesFor = (language: 'en' | 'pt', question: string) =>
  search[language](question).sections.map(({ address }) => pageOf(address))

/** Each question, and the pages of which one must be among the first three results. */
const questions: readonly (readonly [question: string, ...pages: string[]])[] = [
  ['how do I send a pix payout', 'guides/money', 'api/pix'],
  ['check webhook signature', 'guides/webhooks'],
  ['verify webhook', 'guides/webhooks'],
  ['webhok retries', 'guides/webhooks'],
  ['how long are webhooks retried', 'guides/webhooks'],
  ['receive webhooks on localhost', 'guides/events', 'guides/webhooks', 'quickstart', 'cli'],
  ['idempotncy key', 'guides/idempotency'],
  ['how to avoid paying twice', 'guides/idempotency'],
  ['duplicate payment', 'guides/idempotency'],
  ['retry after timeout', 'guides/idempotency', 'guides/errors', 'errors/request_timeout', 'sdk'],
  ['refund of a failed payout', 'guides/reconcile', 'api/events/pix.payout.failed', 'guides/errors'],
  ['reversal', 'guides/reconcile', 'api/customers'],
  ['reconciliation', 'guides/reconcile'],
  ['reconcile balances with my ledger', 'guides/reconcile'],
  ['what does cause reversal mean', 'guides/reconcile'],
  ['in transit money', 'guides/reconcile', 'guides/money'],
  ['daily closing balance', 'guides/reconcile'],
  ['statement lines', 'guides/money', 'guides/reconcile', 'api/customers'],
  ['payroll', 'guides/payroll'],
  ['pay 200 people', 'guides/payroll', 'sdk'],
  ['bulk payouts', 'guides/payroll'],
  ['pay salaries from a csv', 'guides/payroll'],
  ['resume a payroll after a crash', 'guides/payroll'],
  ['pagination', 'guides/lists'],
  ['cursor next page', 'guides/lists'],
  ['filter by end to end id', 'guides/lists', 'api/pix'],
  ['rate limits', 'guides/limits'],
  ['rate limt exceeded', 'errors/rate_limit_exceeded', 'guides/limits'],
  ['too many requests 429', 'errors/rate_limit_exceeded', 'guides/limits'],
  ['rotate api key', 'guides/authentication'],
  ['ip whitelist', 'guides/authentication', 'errors/ip_not_allowed'],
  ['api key scopes', 'guides/authentication', 'errors/insufficient_scope'],
  ['sandbox test money', 'guides/sandbox', 'api/sandbox'],
  ['simulate failed payout', 'guides/sandbox', 'api/sandbox'],
  ['fake pix keys', 'guides/sandbox'],
  ['convert brl to usdt', 'guides/conversions'],
  ['quote expired', 'errors/quote_expired', 'guides/conversions'],
  ['exchange rate', 'guides/conversions', 'api/prices'],
  ['partner fee markup', 'guides/conversions'],
  ['fees of a transfer', 'guides/money', 'api/onchain'],
  ['withdraw bitcoin', 'guides/money', 'api/onchain'],
  ['usdt on tron', 'guides/money', 'api/onchain'],
  ['blockchain confirmations', 'guides/money', 'api/onchain', 'api/events/onchain.transfer.confirmed'],
  ['wrong adress', 'errors/invalid_address', 'guides/money'],
  ['insuficient balance', 'errors/insufficient_balance'],
  ['create custumer', 'api/customers'],
  ['customer already exists', 'errors/customer_exists'],
  ['invalid cpf', 'errors/invalid_request', 'errors/invalid_pix_key', 'guides/sandbox', 'api/customers'],
  ['long polling events', 'guides/events'],
  ['missed events', 'guides/events', 'guides/webhooks', 'guides/reconcile', 'guides/going-live'],
  ['typescript sdk', 'sdk'],
  ['javascript client', 'sdk'],
  ['go live checklist', 'guides/going-live'],
  ['production vs sandbox', 'guides/environments', 'guides/sandbox'],
  ['amounts decimals', 'guides/money'],
  ['currency', 'guides/money'],
  ['payout stuck in processing', 'guides/money', 'guides/sandbox', 'operate/incidents', 'guides/reconcile'],
  ['dry run', 'guides/idempotency', 'guides/money'],
  ['postgres backup', 'operate/backup'],
  ['prometheus metrics', 'operate/monitoring'],
  ['deploy with docker', 'operate/install'],
  ['openapi file', 'changelog', 'guides/errors', 'guides/events', 'api', 'guides/authentication'],
  ['how long is idempotency key valid', 'guides/idempotency'],
  ['webhook secret rotation', 'guides/webhooks'],
  ['test webhook endpoint', 'guides/webhooks', 'api/webhook_endpoints'],
  ['update customer email', 'api/customers'],
  ['price is too old', 'guides/conversions', 'operate/incidents', 'errors/price_unavailable'],
  ['daily limit of money for customer', 'guides/errors', 'errors/limit_exceeded'],
  ['tx hash lookup', 'guides/lists'],
  ['pdf receipt', 'guides/money', 'api/pix'],
  ['401 unauthorized', 'errors/missing_authorization', 'errors/invalid_api_key'],
  ['bank account payout', 'guides/money', 'api/pix'],
  ['restore from backup', 'operate/backup'],
  ['ethereum gas fee', 'guides/money', 'api/onchain'],

  ['chave pix', 'api/pix', 'guides/money', 'errors/pix_key_not_found', 'guides/sandbox'],
  ['estorno', 'guides/reconcile', 'api/events/pix.payout.failed', 'api/customers'],
  ['saldo', 'guides/money', 'api/customers', 'errors/insufficient_balance'],
  ['saldo insuficiente', 'errors/insufficient_balance'],
  ['comprovante', 'guides/money', 'api/pix', 'guides/lists', 'guides/receipts'],
  ['extrato', 'guides/money', 'guides/reconcile', 'api/customers'],
  ['conciliação', 'guides/reconcile'],
  ['folha de pagamento', 'guides/payroll'],
  ['cotação', 'guides/conversions', 'api/quotes'],
  ['taxa de saque', 'guides/money', 'api/onchain', 'guides/conversions'],
  ['assinatura do webhook', 'guides/webhooks'],
  ['limite de requisições', 'guides/limits'],
  ['criar cliente', 'api/customers'],
  ['ambiente de produção', 'guides/environments', 'guides/going-live'],
]

test.each(questions.map(([question, ...pages]) => [question, pages] as const))('%s', (question, pages) => {
  const found = pagesFor('en', question)
  expect(
    found.slice(0, 3).some((page) => pages.includes(page)),
    found.slice(0, 5).join(', '),
  ).toBe(true)
})

test('the changelog is first only for those who ask for it', () => {
  const first = questions.filter(([question]) => pagesFor('en', question)[0] === 'changelog')
  expect(first.map(([question]) => question)).toEqual([])
  for (const asked of ['changelog', 'changelg', 'changelog sdk'])
    expect(pagesFor('en', asked)[0]).toBe('changelog')
})

test.each([
  ['saldo insuficiente', 'pt/errors/insufficient_balance'],
  ['cotacao expirada', 'pt/errors/quote_expired'],
  ['cotação expirda', 'pt/errors/quote_expired'],
  ['erro 429', 'pt/errors/rate_limit_exceeded'],
  ['chave invalida', 'pt/errors/invalid_api_key'],
  ['início rápido', 'pt/quickstart'],
  ['webhoks nao encontrado', 'pt/errors/webhook_endpoint_not_found'],
])('in Portuguese: %s', (question, page) => {
  const found = pagesFor('pt', question)
  expect(found.slice(0, 3), found.slice(0, 5).join(', ')).toContain(page)
})

test('a synonym adds few words, and each is in the docs', () => {
  for (const language of ['en', 'pt'] as const) {
    const { terms } = JSON.parse(files.get(`/docs/search/${language}.json`)!)
    for (const [word, others] of Object.entries(synonyms[language])) {
      expect(others.length, word).toBeLessThanOrEqual(6)
      expect(
        others.filter((other) => Object.hasOwn(terms, other)),
        word,
      ).not.toEqual([])
    }
  }
})
