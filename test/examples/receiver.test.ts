import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSecret, showSecret, signatureHeaders } from '../../src/webhooks/signature.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'
import { type Running, start, stop } from './program.ts'

const secret = newSecret()
const body = JSON.stringify({ id: 'evt_1', type: 'pix.payout.completed', data: { object: { id: 'po_1' } } })
let receiver: Running
let url: string

beforeAll(async () => {
  const PORT = String(await freePort())
  url = `http://127.0.0.1:${PORT}/webhooks`
  receiver = start('receiver/server.js', {
    env: { PORT, TRILHO_WEBHOOK_SECRET: showSecret(secret) },
    cwd: tmpdir(),
  })
  await until(() => receiver.printed().includes('waiting for webhooks'), 20_000)
})
afterAll(() => stop(receiver))

const deliver = (content: string, secrets = [secret]) => {
  const headers = signatureHeaders({ id: 'evt_1', body, at: new Date(), secrets })
  return fetch(url, { method: 'POST', headers, body: content })
}

test('the receiver prints what is signed, once, and refuses the rest with a reason', async () => {
  for (let time = 0; time < 2; time++) expect((await deliver(body)).status).toBe(204)
  for (const response of [await deliver(body.replace('po_1', 'po_2')), await deliver(body, [newSecret()])]) {
    expect(response.status).toBe(400)
    expect(await response.text()).toMatch(/signature/)
  }
  expect((await fetch(url, { method: 'POST', body })).status).toBe(400)
  await until(() => receiver.printed().split('refused: ').length === 4, 5000)
  expect(receiver.printed().match(/^verified .*$/gm)).toEqual(['verified pix.payout.completed po_1'])
})

test('without a secret it does not start, and says which', async () => {
  const bare = start('receiver/server.js', { env: {}, cwd: tmpdir() })
  expect(await bare.ended).toBe(1)
  expect(bare.printed()).toContain('TRILHO_WEBHOOK_SECRET is not set')
})
