import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Entry, entriesOf } from '../../site/reference/document.ts'
import { SAMPLE_FILE, samplesOf } from '../../site/reference/samples.ts'
import type { OpenApi } from '../../src/doors/reference/openapi.ts'
import { PLACEHOLDER } from '../../src/doors/reference/placeholders.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** Every curl sample of the reference, as it is printed, by somebody who has set the variables that it names. */
const openapi = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../openapi.json', import.meta.url)), 'utf8'),
) as OpenApi
const entries = entriesOf(openapi)

let service: TestService
const place = mkdtempSync(join(tmpdir(), 'trilho-reference-'))
const variables: Record<string, string> = {}

beforeAll(async () => {
  service = await startTestService()
  const { key, api } = await service.partner()
  const { id } = (await api.post('/v1/customers', { name: 'Ana Souza', document: '529.982.247-25' })).json
  for (const [asset, amount] of Object.entries({ BRL: '1000000', USDT: '2000000000' }))
    variables.DEPOSIT = (await api.post('/v1/sandbox/deposits', { customer_id: id, asset, amount })).json.id
  Object.assign(variables, { TRILHO_KEY: key, CUSTOMER: id })
  await until(async () => {
    const [event] = (await api.get('/v1/events')).json.data
    const [request] = (await api.get('/v1/requests')).json.data
    Object.assign(variables, { EVENT: event?.id, REQUEST: request?.id })
    return event && request
  }, 15_000)
})
afterAll(async () => {
  rmSync(place, { recursive: true })
  await service.stop()
})

/** What the responses before said is what a reader would go on with. */
const learned: Readonly<Record<string, string>> = {
  po: 'PAYOUT',
  chg: 'CHARGE',
  tr: 'TRANSFER',
  qt: 'QUOTE',
  td: 'TRADE',
  whe: 'ENDPOINT',
}

/** What depends on how far things are by then; none of it is about an id that does not exist, or a document that does. */
const alsoFine = ['already_final', 'quote_expired', 'receipt_not_available']

/** A delivery is there once the event was sent again, and an endpoint is until it is deleted. */
const late = ['webhook_endpoints.delivery', 'webhook_endpoints.delete']
const inOrder = entries.toSorted((a, b) => late.indexOf(a['x-name']) - late.indexOf(b['x-name']))

test('no sample names an id that the reader does not have', () => {
  for (const entry of entries)
    for (const { code } of samplesOf(entry)) expect(code).not.toMatch(/\b[a-z]{2,4}_[0-9a-z]{26}\b/)
})

test('no sample creates the customer that the demo has', () => {
  const create = entries.find((entry) => entry['x-name'] === 'customers.create')!
  for (const { code } of samplesOf(create)) expect(code).not.toContain('529.982.247-25')
})

test.each(inOrder.map((entry) => [entry['x-name'], entry] as const))('%s', async (_, entry: Entry) => {
  const { code } = samplesOf(entry)[0]!
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-euc', `${code.replaceAll(PLACEHOLDER, service.url)} -s -w '\n%{http_code}'`],
    { cwd: place, env: { PATH: process.env.PATH, ...variables } },
  )
  const [, shown = '', status] = /^([\s\S]*)\n(\d+)$/.exec(stdout)!
  const text = code.includes(`-o ${SAMPLE_FILE}`) ? readFileSync(join(place, SAMPLE_FILE), 'latin1') : shown
  if (text.startsWith('%PDF-')) return expect(status).toBe('200')
  const body = text === '' ? {} : JSON.parse(text)
  const name = learned[String(body.id).split('_')[0]!]
  if (name) variables[name] = body.id
  if (entry['x-name'] === 'sandbox.payments.create') variables.PAYMENT = body.end_to_end_id
  if (Number(status) >= 300) expect(alsoFine, text).toContain(body.error.code)
})
