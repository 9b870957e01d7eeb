import { randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../../src/http/endpoint.ts'
import { type Operation, operations } from '../support/fuzz/document.ts'
import { curlOf, type Exchange, exchange } from '../support/fuzz/exchange.ts'
import { judge, parse } from '../support/fuzz/judge.ts'
import { provocations } from '../support/fuzz/provoke.ts'
import { allowed, type Plan, plans } from '../support/fuzz/requests.ts'
import { openStock, type Stock } from '../support/fuzz/stock.ts'
import { noteFact } from '../support/proof.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { size } from '../support/size.ts'

/** Requests made from openapi.json, right and wrong, to every operation; and every answer is held against it. */
const COUNT = size(20_000, 2_000)
const AT_ONCE = 12
const SHOWN = 12
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))

let service: TestService
let stock: Stock
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
beforeAll(async () => {
  service = await startTestService({
    PIX_WAIT_MS: '100',
    TRUST_PROXY: '127.0.0.1',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
  stock = await openStock(service)
})
afterAll(async () => {
  agent.destroy()
  await stock.stop()
  await service.stop()
})

/** What was answered, by operation: statuses and codes. */
const seen = new Map<string, Map<string, number>>()

const answerOf = ({ status, text }: Exchange): string =>
  status < 300 ? String(status) : (parse(text)?.error?.code ?? String(status))

function note(got: Exchange): void {
  const name = got.plan.operation['x-name']
  const answers = seen.get(name) ?? new Map<string, number>()
  const answer = answerOf(got)
  seen.set(name, answers.set(answer, (answers.get(answer) ?? 0) + 1))
}

async function send(plan: Plan): Promise<Exchange | undefined> {
  const { operation, caller } = plan
  const key = stock.keys[caller]
  const fill = (text: string) => stock.fill(text, caller, operation['x-name'])
  const query = plan.query
    .map((entry) => entry.map((text) => encodeURIComponent(fill(text.toWellFormed()))).join('='))
    .join('&')
  const sent = {
    method: plan.method,
    path: fill(plan.path) + (query === '' ? '' : `?${query}`),
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      'x-forwarded-for': `198.51.${randomInt(100)}.${randomInt(256)}`,
      ...plan.headers,
    },
    body: plan.body === undefined ? undefined : fill(plan.body),
  }
  const answered = await exchange(service.url, agent, plan, sent)
  if (answered && answered.status < 300) stock.learn(caller, operation['x-name'], parse(answered.text))
  if (answered?.status === 409) stock.retire(sent.path.match(/[a-z]+_[0-9a-z]{26}/g) ?? [])
  return answered
}

test('whatever is sent, every answer is one that openapi.json declares', async () => {
  const faults: string[] = []
  const queue = fc.sample(plans(), { numRuns: COUNT, seed }).entries()
  const unsent: Plan[] = []
  let answered = 0
  const worker = async () => {
    for (const [index, plan] of queue) {
      const got = await send(plan)
      if (!got) unsent.push(plan)
      else {
        answered++
        note(got)
        const wrong = judge(got)
        if (wrong.length > 0)
          faults.push(
            `#${index} ${plan.caller}, ${plan.twist ?? 'as the schemas want it'}: ${wrong.join('; ')}\n  ${curlOf(got.sent, service.url)}\n  → ${got.status} ${got.text.slice(0, 300)}`,
          )
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  noteFact(
    `${answered} requests made from openapi.json to ${operations.length} operations, seed ${seed}: ${faults.length} responses that openapi.json does not declare`,
  )
  expect(
    faults.length,
    `${faults.length} faults; again with FUZZ_SEED=${seed}\n${faults.slice(0, SHOWN).join('\n')}`,
  ).toBe(0)
  expect(unsent.length).toBeLessThan(COUNT / 20)
}, 1_800_000)

const succeeded = ({ 'x-name': name, responses }: Operation) =>
  Object.keys(responses).some((status) => status.startsWith('2') && seen.get(name)?.has(status))

/** Chance may have left an operation without what it needs: then everything that can be made is made anew before it. */
async function insist(missed: readonly Operation[]): Promise<void> {
  const makers = operations.filter(({ method, body }) => method === 'POST' && body)
  const sendOneTo = async (operation: Operation) => {
    const [plan] = fc.sample(allowed(operation), 1)
    const got = await send({ ...plan!, caller: 'full' })
    if (got) note(got)
  }
  for (const operation of makers) await sendOneTo(operation)
  await stock.refresh()
  for (const operation of missed) await sendOneTo(operation)
}

test('every operation was reached, and answered with success', async () => {
  for (let round = 0; round < 50 && !operations.every(succeeded); round++)
    await insist(operations.filter((operation) => !succeeded(operation)))
  const missed = operations.filter((operation) => !succeeded(operation))
  expect(missed.map(({ 'x-name': name }) => `${name}: ${[...(seen.get(name) ?? [])].join(' ')}`)).toEqual([])
}, 300_000)

test('the codes that chance seldom brings about are answered to the requests that are made for them', async () => {
  await stock.refresh()
  const wrong: string[] = []
  for (const { code, plan } of await provocations(stock)) {
    const got = (await send(plan))!
    note(got)
    const faults = [...(answerOf(got) === code ? [] : [`not ${code}`]), ...judge(got)]
    if (faults.length > 0)
      wrong.push(`${faults.join('; ')}\n  ${curlOf(got.sent, service.url)}\n  → ${got.status} ${got.text}`)
  }
  expect(wrong.join('\n')).toBe('')
})

/** What no single request brings about, and where it is shown instead. */
const shownElsewhere: Readonly<Record<string, string>> = {
  'pix.payouts.create: amount_too_large': 'takes a fee, and this partner pays none',
  'quotes.execute: amount_too_large': 'src/money/quotes/quotes.test.ts',
  'quotes.execute: customer_blocked': 'src/money/quotes/quotes.test.ts',
}
/** What follows from the declaration of every route; test/http/every-route.test.ts and bodies.test.ts ask each for it. */
const implied = [
  'insufficient_scope',
  'sandbox_only',
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
]

test.runIf(process.env.PROVE)(
  'every code that an operation declares has been seen, or is shown elsewhere',
  () => {
    const unseen = operations.flatMap(({ 'x-name': name, 'x-errors': codes }) =>
      codes
        .filter((code) => ![...commonErrors, ...implied].includes(code) && !seen.get(name)?.has(code))
        .map((code) => `${name}: ${code}`)
        .filter((each) => !(each in shownElsewhere)),
    )
    expect(unseen).toEqual([])
  },
)

test('afterwards the books are right', async () => {
  const { production, sandbox } = await service.audit()
  expect([...production.findings, ...sandbox.findings]).toEqual([])
  expect([production.ok, sandbox.ok]).toEqual([true, true])
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
})
