import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openApi } from '../../../test/support/api.ts'
import { ioOf, startCli, tempDataDir } from '../../../test/support/cli.ts'
import { type CliStage, openCliStage } from '../../../test/support/cli-stage.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { openReceiver, verifies } from '../../../test/support/receiver.ts'
import { spawnServer } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { main } from '../main.ts'

let stage: CliStage
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

/** Runs a long-running command in this process until it is stopped. */
function running(line: string, env: Record<string, string> = {}) {
  const printed = { out: '', err: '' }
  const stop = new AbortController()
  const known = { TRILHO_KEY: stage.demo.key, TRILHO_URL: stage.url, ...env }
  const ended = main(line.split(' '), ioOf(known, printed, { signal: stop.signal }))
  onTestFinished(async () => {
    stop.abort('SIGTERM')
    await ended
  })
  return { printed, ended, stop: (signal: string) => stop.abort(signal) }
}

const triggered = async (type: string) => (await stage.api.post(`/v1/sandbox/events/${type}`, {})).json

test('events are forwarded with a valid signature to the exact URL, and the response is printed', async () => {
  const target = await openReceiver()
  onTestFinished(target.stop)
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const line = `listen --forward-to ${target.url}?tenant=1 --types pix.payout.failed,customer.created`
  const { printed, ended, stop } = running(line, { TRILHO_WEBHOOK_SECRET: secret })
  await until(() => printed.err.includes('Waiting for events'), 10_000)
  // A secret that the user gave is not printed.
  expect(printed.out + printed.err).not.toContain(secret)
  await triggered('deposit.completed')
  const event = await triggered('pix.payout.failed')
  await until(() => printed.out.includes('→ 200'), 10_000)
  expect(target.received).toHaveLength(1)
  expect(target.received[0]!.json).toEqual(event)
  expect(verifies(secret, target.received[0]!)).toBe(true)
  expect(target.received[0]!.path).toMatch(/\?tenant=1$/)
  expect(printed.out).toMatch(
    new RegExp(`${event.id}  pix\\.payout\\.failed  po_\\w+  → 200 \\(\\d+ ms\\)\n$`),
  )
  stop('SIGINT')
  expect(await ended).toBe(130)
})

test('without --forward-to events are printed, whole with --json; an unreachable receiver is named', async () => {
  const only = running('listen --output jsonl --after start --types customer.created')
  const made = await triggered('customer.created')
  await until(() => only.printed.out.includes(made.id), 10_000)
  expect(JSON.parse(only.printed.out.trim().split('\n').at(-1)!)).toEqual(made)
  const nobody = running('listen --forward-to http://127.0.0.1:9/hook --types trade.failed --after now')
  await until(() => nobody.printed.err.includes('Waiting'), 10_000)
  await triggered('trade.failed')
  await until(() => /→ (ECONNREFUSED|TypeError)/.test(nobody.printed.out), 10_000)
})

test('a receiver that restarts gets every event in order; a refused event is not sent again', async () => {
  const port = await freePort()
  const types = 'trade.failed,trade.completed'
  const { printed } = running(`listen --forward-to http://127.0.0.1:${port}/hook --types ${types}`)
  await until(() => printed.err.includes('Waiting'), 10_000)
  const made = [await triggered('trade.failed'), await triggered('trade.completed')]
  const ids = made.map(({ id }) => id)
  await until(() => printed.out.includes('ECONNREFUSED, trying again\n'), 10_000)
  const received: unknown[] = []
  const receiver = createServer((request, response) => {
    received.push(request.headers['webhook-id'])
    response.writeHead(received.length === 1 ? 500 : 204).end()
  }).listen(port, '127.0.0.1')
  onTestFinished(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  await until(() => printed.out.includes('→ 204'), 15_000)
  expect(received).toEqual(ids)
  const told = printed.out.matchAll(/(evt_\w+) .* → (\w+)(, trying again)?/g)
  expect([...told].map(([, id, said]) => [id, said])).toEqual([
    [ids[0], 'ECONNREFUSED'],
    [ids[0], '500'],
    [ids[1], '204'],
  ])
})

test.each([
  ['listen', 7],
  ['listen', 3600],
  // Waits until the daily limit resets.
  ['requests tail', 3600],
])('an exhausted limit is reported and waited out: %s, %i s', async (command, wait) => {
  let asked = 0
  const server = createServer((_, response) => {
    if (asked++ > 0) return
    response
      .writeHead(429, { 'retry-after': String(wait), 'content-type': 'application/json' })
      .end(
        '{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"100 a minute.","request_id":"req_1"}}',
      )
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { printed, ended, stop } = running(`${command} --url http://127.0.0.1:${port}`)
  await until(() => printed.err.includes('429'), 10_000)
  stop('SIGTERM')
  expect(await ended).toBe(143)
  expect(printed.err).toBe(
    `429 rate_limit_exceeded: 100 a minute. Waiting ${wait} s, then it goes on by itself.\n`,
  )
})

test('`requests tail` prints requests as they are answered, without its own', async () => {
  const { printed, ended, stop } = running('requests tail')
  await until(() => printed.err.includes('Waiting for requests'), 10_000)
  await stage.api.get('/v1/customers/cus_none')
  await until(() => printed.out.includes('customer_not_found'), 15_000)
  expect(printed.out).toMatch(/ {2}req_\w+ {2}404 {2}GET \/v1\/customers\/\S+ {2}customer_not_found/)
  expect(printed.out).not.toContain('/v1/requests ')
  stop('SIGTERM')
  expect(await ended).toBe(143)
})

test('when standard output is closed, the started program ends too', async () => {
  const program = ['sh', '-c', 'echo "started $$" >&2; exec sleep 600']
  const listening = await startCli(['listen', '--', ...program], {
    TRILHO_KEY: stage.demo.key,
    TRILHO_URL: stage.url,
  })
  await until(() => /started \d+[\s\S]*Waiting|Waiting[\s\S]*started \d+/.test(listening.err()), 20_000)
  const pid = Number(/started (\d+)/.exec(listening.err())![1])
  onTestFinished(() => {
    try {
      process.kill(pid)
    } catch {}
  })
  listening.process.stdout!.destroy()
  await triggered('deposit.completed')
  expect((await listening.ended).code).toBe(0)
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
}, 300_000)

test('listen survives a restart of the server; the started program gets the secret, and ends with listen', async () => {
  const place = await tempDataDir()
  onTestFinished(place.remove)
  // A port that nobody else is given while no server listens there.
  const env = { DATA_DIR: place.data_dir, PORT: String(await freePort()), LOG_LEVEL: 'silent' }
  const first = await spawnServer(env)
  const key = /^ +export TRILHO_KEY=(\S+)$/m.exec(first.output())![1]!
  const program =
    'console.log("started with " + process.env.TRILHO_WEBHOOK_SECRET); setInterval(() => {}, 1000)'
  const listening = await startCli(['listen', '--', process.execPath, '-e', program], {
    TRILHO_KEY: key,
    TRILHO_URL: first.url,
  })
  await until(() => /started with whsec_/.test(listening.out()) && /Waiting/.test(listening.err()), 20_000)
  const [, secret] = /started with (whsec_\S+)/.exec(listening.out())!
  expect(listening.out()).toContain(`Signing with the secret ${secret}\n`)
  await first.kill('SIGKILL')
  const second = await spawnServer(env)
  onTestFinished(() => second.kill('SIGTERM'))
  const made = await openApi(second.url, key).post('/v1/sandbox/events/deposit.completed', {})
  await until(() => listening.out().includes(made.json.id), 30_000)
  expect(listening.err()).toMatch(/cannot be reached; trying again[\s\S]*The service is back\./)
  listening.process.kill('SIGINT')
  expect((await listening.ended).code).toBe(130)
  // When the program exits, listen ends with its exit code.
  const over = await startCli(['listen', '--', process.execPath, '-e', 'process.exit(7)'], {
    TRILHO_KEY: key,
    TRILHO_URL: second.url,
  })
  expect((await over.ended).code).toBe(7)
  expect(over.err()).toContain('ended with 7; listening has ended too.')
  expect(over.err()).not.toContain('cannot be reached')
}, 300_000)
