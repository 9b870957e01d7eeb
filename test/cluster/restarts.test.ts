import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openBalancer } from '../support/balancer.ts'
import { createDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { noteFact } from '../support/proof.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { size } from '../support/size.ts'

type Answer = { readonly status: number; readonly text: string }

/** Over keep-alive connections and without any retry: node:http sends each request once. */
function openCaller(url: string, key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const send = (method: string, path: string, body?: unknown) =>
    new Promise<Answer>((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const headers = {
        authorization: `Bearer ${key}`,
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      }
      const asked = request(`${url}${path}`, { method, agent, headers }, (response) => {
        let answer = ''
        response.on('data', (chunk) => {
          answer += chunk
        })
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode!, text: answer }))
      })
      asked.on('error', reject)
      asked.end(text)
    })
  return { send, stop: () => agent.destroy() }
}

test('two nodes restarted in turn behind a load balancer, under GETs and payouts: no request fails', {
  timeout: 600_000,
}, async () => {
  const restarts = size(10, 2)
  const direct = openDirectAccess(await createDatabase())
  onTestFinished(direct.stop)
  const ports = [await freePort(), await freePort()]
  // The default of the service: DRAIN_MS is what is tested.
  const start = (port: number) => spawnServer(testEnv(direct.database.url, { PORT: `${port}`, DRAIN_MS: '' }))
  const nodes = [await start(ports[0]!), await start(ports[1]!)]
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.kill('SIGKILL')))))
  const balancer = await openBalancer(ports)
  onTestFinished(balancer.stop)
  for (const node of [0, 1]) await balancer.waitFor(node, 'up')

  const { key, api } = await direct.partner(nodes[0]!.url)
  const pix_key = someCpf()
  const customer_id = (await api.post('/v1/customers', { name: 'Ana', document: pix_key })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1000000000' })
  const caller = openCaller(balancer.url, key)
  onTestFinished(caller.stop)
  const counts = { gets: 0, payouts: 0 }
  const failures: string[] = []
  const paid: string[] = []
  let over = false
  const repeat = async (work: () => Promise<void>) => {
    while (!over) {
      await work().catch((error: unknown) => void failures.push(String(error)))
      await sleep(Math.random() * 60)
    }
  }
  const expectStatus = ({ status, text }: Answer, expected: number) => {
    if (status !== expected) throw new Error(`${status} ${text}`)
  }
  const get = async () => {
    counts.gets++
    expectStatus(await caller.send('GET', `/v1/customers/${customer_id}/balances`), 200)
  }
  const pay = async () => {
    const idempotency_key = `restart-${++counts.payouts}`
    const counterparty = { type: 'pix_key', pix_key }
    const order = { customer_id, amount: '100', counterparty, idempotency_key }
    const answer = await caller.send('POST', '/v1/pix/payouts', order)
    expectStatus(answer, 201)
    paid.push(JSON.parse(answer.text).id)
  }
  const load = [
    ...Array.from({ length: 8 }, () => repeat(get)),
    ...Array.from({ length: 4 }, () => repeat(pay)),
  ]
  for (let round = 0; round < restarts; round++) {
    const node = round % 2
    await nodes[node]!.kill('SIGTERM')
    await balancer.waitFor(node, 'down')
    nodes[node] = await start(ports[node]!)
    await balancer.waitFor(node, 'up')
  }
  over = true
  await Promise.all(load)
  expect(failures).toEqual([])
  expect(counts.gets).toBeGreaterThan(restarts)
  expect(new Set(paid).size).toBe(counts.payouts)
  expect((await direct.audit()).sandbox.findings).toEqual([])
  noteFact(
    `restarts behind ${balancer.kind}: two nodes, ${restarts} restarts in turn under ${counts.gets} GETs and ${counts.payouts} payouts over keep-alive connections, without a retry: 0 failed`,
  )
})
