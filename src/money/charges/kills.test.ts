import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { isCut } from '../../../test/support/retry.ts'
import {
  someCpf,
  spawnServer,
  startTestService,
  type TestService,
  testEnv,
} from '../../../test/support/service.ts'
import { eventually } from '../../../test/support/wait.ts'
import type { CrashPoint } from '../../core/crash-point.ts'

/** A process is killed on the way of a charge or of a payment. Another one goes on, and everything happens once. */
const env = { LEASE_MS: '1000', PIX_WAIT_MS: '1000' }

let service: TestService
beforeAll(async () => {
  service = await startTestService(env)
})
afterAll(() => service.stop())

/** Undefined: the connection broke. */
const answerOf = <R>(asked: Promise<R>): Promise<R | undefined> =>
  asked.catch((error: unknown) => {
    if (!isCut(error)) throw error
    return undefined
  })

async function newCustomer() {
  const { key, api } = await service.partner()
  const { id: customer_id } = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
  return { key, api, order: { customer_id, amount: '1050', idempotency_key: 'k' } }
}

async function openDying(point: CrashPoint, key: string) {
  const dying = await spawnServer({ ...testEnv(service.database.url), ...env, CRASH_AT: point })
  return { at: openApi(dying.url, key), dying }
}

const becomesOpen = (api: Api, id: string) =>
  eventually(async () => expect((await api.get(`/v1/pix/charges/${id}`)).json.status).toBe('open'))

test.each<CrashPoint>(['before_register', 'after_register', 'before_commit', 'after_commit'])(
  'a charge whose node dies at %s is open once, and every repeat gets one response',
  async (point) => {
    const { api, key, order } = await newCustomer()
    const { at, dying } = await openDying(point, key)
    expect(await answerOf(at.post('/v1/pix/charges', order))).toBeUndefined()
    await eventually(() => expect(dying.process.signalCode).toBe('SIGKILL'))
    const again = await api.post('/v1/pix/charges', order)
    expect(again.status).toBe(201)
    await becomesOpen(api, again.json.id)
    expect((await api.post('/v1/pix/charges', order)).text).toBe(again.text)
    expect((await api.get('/v1/pix/charges')).json.data).toHaveLength(1)
    expect((await service.audit()).sandbox.findings).toEqual([])
  },
)

test.each<CrashPoint>(['before_credit', 'before_commit', 'after_commit'])(
  'a payment whose node dies at %s is credited once or not at all, and the charge shows what was credited',
  async (point) => {
    const { api, key, order } = await newCustomer()
    const { id } = (await api.post('/v1/pix/charges', order)).json
    // The node that is to die has nothing to do but the payment.
    await becomesOpen(api, id)
    const { at, dying } = await openDying(point, key)
    expect(await answerOf(at.post('/v1/sandbox/pix/payments', { charge_id: id }))).toBeUndefined()
    await eventually(() => expect(dying.process.signalCode).toBe('SIGKILL'))
    const { amount_received, status } = (await api.get(`/v1/pix/charges/${id}`)).json
    expect([amount_received, status]).toEqual(point === 'after_commit' ? ['1050', 'paid'] : ['0', 'open'])
    const { json } = await api.get(`/v1/customers/${order.customer_id}/balances`)
    expect(json.data.find((one: any) => one.asset === 'BRL').available).toBe(amount_received)
    expect((await service.audit()).sandbox.findings).toEqual([])
  },
)
