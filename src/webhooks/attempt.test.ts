import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { times } from '../../test/support/parallel.ts'
import { openReceiver } from '../../test/support/receiver.ts'
import { until } from '../../test/support/wait.ts'
import { attempt, type Cut } from './attempt.ts'
import { openEgress, type Resolve } from './outside.ts'

async function stage(
  answer?: Parameters<typeof openReceiver>[0],
  resolve: Resolve = async () => ['127.0.0.1'],
) {
  const receiver = await openReceiver(answer)
  const egress = openEgress({ resolve, allows: () => true, connect_ms: 5000 })
  onTestFinished(async () => {
    await egress.stop()
    await receiver.stop()
  })
  const cuts = new Set<Cut>()
  const url = `http://receiver.test:${new URL(receiver.url).port}/`
  const post = (timeout_ms = 60_000) =>
    attempt(egress.agent, { url, headers: {}, body: '{}', timeout_ms, cuts })
  return { receiver, cuts, post }
}

test('an attempt that is cut off before it has a connection sends nothing', async () => {
  let found: (addresses: string[]) => void = () => {}
  const { receiver, cuts, post } = await stage(undefined, () => new Promise((resolve) => (found = resolve)))
  const made = post()
  await turn()
  for (const cut of cuts) cut()
  found(['127.0.0.1'])
  expect(await made).toMatchObject({
    status: null,
    headers: null,
    body: null,
    error: 'the attempt was aborted',
  })
  expect(cuts.size).toBe(0)
  expect(receiver.received).toEqual([])
})

test('an attempt that is cut off in the middle of a response returns what it has read', async () => {
  const { receiver, cuts, post } = await stage((_, response) => {
    response.writeHead(200, { 'x-request-id': 'one' })
    response.write('half of')
  })
  const made = post()
  await until(() => receiver.received.length === 1, 5000)
  await new Promise((resolve) => setTimeout(resolve, 50))
  for (const cut of cuts) cut()
  expect(await made).toMatchObject({
    status: 200,
    headers: { 'x-request-id': 'one' },
    error: 'the attempt was aborted',
  })
})

test('an interim response is not the response', async () => {
  const { post } = await stage((_, response) => {
    response.writeEarlyHints({ link: '</a>; rel=preload' })
    response.writeHead(202).end('taken')
  })
  expect(await post()).toMatchObject({ status: 202, body: 'taken', error: null })
})

test('an attempt that starts one turn of the event loop after another ended reuses its connection', async () => {
  const { receiver, post } = await stage()
  const AT_ONCE = 8
  await Promise.all(
    times(AT_ONCE, async () => {
      for (let i = 0; i < 20; i++) {
        expect(await post()).toMatchObject({ status: 200, error: null })
        await turn()
      }
    }),
  )
  expect(receiver.connections()).toBeLessThanOrEqual(AT_ONCE)
})
