import { inspect } from 'node:util'
import { Type as T } from 'typebox'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { type Anvil, hex, startAnvil } from '../../../test/chains/anvil.ts'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import { behind, ofAnotherChain, type RpcProxy, startRpcProxy } from '../../../test/chains/rpc-proxy.ts'
import { until } from '../../../test/support/wait.ts'
import { blockAt, chainId, newestBlock, transactionCount } from './evm/calls.ts'
import { openEvmRpc } from './evm/network.ts'
import { EndpointsUnavailable, type Rpc } from './rpc.ts'
import { rpcCall } from './rpc-endpoint.ts'
import type { RpcNode } from './rpc-health.ts'

const SECRET = 'secret-path-of-the-provider'
const someone = `0x${'12'.repeat(20)}`
let node: Anvil
let first: RpcProxy
let second: RpcProxy
let third: RpcProxy
const opened: Rpc[] = []

beforeAll(async () => {
  node = await startAnvil({ chain_id: 137 })
  first = await startRpcProxy(node.url)
  second = await startRpcProxy(node.url)
  third = await startRpcProxy(node.url)
})
afterAll(async () => {
  for (const one of [first, second, third]) await one?.stop()
  await node?.stop()
})
afterEach(async () => {
  for (const one of [first, second, third]) one.become({})
  await Promise.all(opened.splice(0).map((rpc) => rpc.stop()))
})

type Options = Partial<Omit<Parameters<typeof openEvmRpc>[0], 'network'>>

/** Inspects at each use, so that a test does not wait for the next inspection. */
function open(options: Options = {}): Rpc {
  const rpc = openEvmRpc({
    network: 'polygon',
    urls: [first.url, second.url],
    head_age_most_ms: 3_600_000,
    inspect_after_ms: 0,
    timeout_ms: 60_000,
    ...options,
  })
  opened.push(rpc)
  return rpc
}

const whichEndpoint = async (one: RpcNode) => {
  await one.ask(newestBlock())
  return one.endpoint
}
const states = (rpc: Rpc) => rpc.facts().map(({ state }) => state)
const failures = (rpc: Rpc) => rpc.facts().map(({ last_failure }) => last_failure)

describe('reading', () => {
  test('comes from the first endpoint, and goes on to the next one when that fails', async () => {
    const rpc = open()
    expect(await rpc.read(whichEndpoint)).toBe(1)
    first.become({ cut: true })
    expect(await rpc.read(whichEndpoint)).toBe(2)
    expect(failures(rpc)).toEqual(['connection', undefined])
    expect(states(rpc)).toEqual(['healthy', 'healthy'])
    first.become({})
    expect(await rpc.read(whichEndpoint)).toBe(1)
  })

  test('fails when no endpoint answers, and says nothing of the URLs', async () => {
    const lines: unknown[] = []
    const warn = (...line: unknown[]) => void lines.push(line)
    const rpc = open({
      log: { warn },
      urls: [first.url, second.url, 'http://user:pass-word@127.0.0.1:1/v3/key'],
    })
    first.become({ cut: true })
    second.become({ raw: { status: 401, body: `no such key: ${SECRET}` } })
    const errors: unknown[] = []
    for (let time = 0; time < 4; time++)
      errors.push(await rpc.read(whichEndpoint).catch((error: unknown) => error))
    expect(errors[0]).toBeInstanceOf(EndpointsUnavailable)
    expect(errors[3]).toMatchObject({ message: 'polygon: no endpoint answers: all of them rest' })
    expect(failures(rpc)).toEqual(['connection', 'http_status', 'connection'])
    expect(lines).toHaveLength(3)
    const told = inspect([errors, lines, rpc, rpc.facts()], { depth: 9, showHidden: true })
    for (const secret of [SECRET, 'pass-word', '/v3/key', '127.0.0.1'])
      for (const form of [
        secret,
        Buffer.from(secret).toString('hex'),
        Buffer.from(secret).toString('base64'),
      ])
        expect(told).not.toContain(form)
  })

  test('rests an endpoint after three failures in a row', async () => {
    const rpc = open({ rest_ms: 600_000 })
    first.become({ cut: true })
    for (let time = 0; time < 2; time++) expect(await rpc.read(whichEndpoint)).toBe(2)
    first.become({})
    expect(await rpc.read(whichEndpoint), 'an answer in between ends the row').toBe(1)
    first.become({ cut: true })
    for (let time = 0; time < 3; time++) expect(await rpc.read(whichEndpoint)).toBe(2)
    expect(states(rpc)).toEqual(['resting', 'healthy'])
    first.taken()
    expect(await rpc.read(whichEndpoint)).toBe(2)
    expect(first.taken().requests, 'a resting endpoint is not asked').toBe(0)
  })

  test('uses an endpoint again after its rest', async () => {
    const rpc = open({ rest_ms: 300 })
    first.become({ cut: true })
    for (let time = 0; time < 3; time++) expect(await rpc.read(whichEndpoint)).toBe(2)
    first.become({})
    await until(async () => (await rpc.read(whichEndpoint)) === 1, 20_000)
    expect(states(rpc)).toEqual(['healthy', 'healthy'])
  })

  test('gives up on a slow endpoint', async () => {
    const rpc = open({ timeout_ms: 300 })
    first.become({ delay_ms: 600_000 })
    expect(await rpc.read(whichEndpoint)).toBe(2)
    expect(failures(rpc)[0]).toBe('timeout')
  })

  test('ends with the signal of its caller', async () => {
    const rpc = open({ timeout_ms: 600_000 })
    first.become({ delay_ms: 600_000 })
    const reason = new Error('given up')
    await expect(rpc.read(whichEndpoint, AbortSignal.abort(reason))).rejects.toBe(reason)
    const late = new AbortController()
    const reading = rpc.read(whichEndpoint, late.signal)
    await until(() => first.taken().requests > 0, 20_000)
    late.abort(reason)
    await expect(reading).rejects.toBe(reason)
  })

  test('asks nothing for a caller that gave up before the batch was sent', async () => {
    const rpc = open({ urls: [first.url], inspect_after_ms: 60_000 })
    await rpc.read(whichEndpoint)
    first.taken()
    const gone = new AbortController()
    const reading = rpc.read((one) => one.ask(transactionCount(someone, 'latest')), gone.signal)
    const other = rpc.read((one) => one.ask(chainId()))
    gone.abort(new Error('given up'))
    await expect(reading).rejects.toThrow('given up')
    expect(await other).toBe(137n)
    expect(first.taken().calls.map(({ method }) => method)).toEqual(['eth_chainId'])
  })
})

describe('answers', () => {
  const nonsense = {
    'not JSON': { raw: { body: '<html>' } },
    'no response': { raw: { body: '{"hello":"world"}' } },
    'a refused batch': {
      raw: { body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}' },
    },
    'an id that was not asked': { rewrite: (_: unknown, reply: any) => ({ ...reply, id: reply.id + 100 }) },
    'a missing reply': { rewrite: ({ id }: any, reply: any) => (id === 0 ? undefined : reply) },
    'neither result nor error': { rewrite: (_: unknown, { id }: any) => ({ id }) },
    'a number where hex text belongs': { rewrite: (_: unknown, reply: any) => ({ ...reply, result: 137 }) },
    'null where a block belongs': { rewrite: (_: unknown, reply: any) => ({ ...reply, result: null }) },
    'an error': {
      rewrite: (_: unknown, { id }: any) => ({ id, error: { code: -32005, message: 'slow down' } }),
    },
  }
  for (const [name, mode] of Object.entries(nonsense))
    test(`count as a failure: ${name}`, async () => {
      const rpc = open()
      first.become(mode)
      expect(await rpc.read(whichEndpoint)).toBe(2)
      expect(failures(rpc)[0]).toMatch(/^(invalid|node_error)$/)
    })

  test('count as a failure: longer than the limit', async () => {
    const rpc = open({ answer_most_bytes: 10_000 })
    first.become({ raw: { body: JSON.stringify({ id: 0, result: '0x'.padEnd(20_000, '0') }) } })
    expect(await rpc.read(whichEndpoint)).toBe(2)
    expect(failures(rpc)[0]).toBe('too_long')
  })

  test('count as a failure: of the right form, but about another block', async () => {
    const rpc = open()
    await node.mine(2)
    const block = await node.call('eth_getBlockByNumber', '0x1', false)
    first.become({
      rewrite: ({ params }, reply) => (params[0] === '0x2' ? { ...reply, result: block } : reply),
    })
    const found = await rpc.read(async (one) => ({ block: await one.ask(blockAt(2n)), from: one.endpoint }))
    expect(found).toMatchObject({ from: 2, block: { height: 2n } })
  })
})

describe('batches', () => {
  test('the calls of one turn are one request, with the inspection, and equal calls are one call', async () => {
    const rpc = open({ urls: [first.url] })
    first.taken()
    const count = (address: string) => rpc.read((one) => one.ask(transactionCount(address, 'latest')))
    const counts = await Promise.all([count(someone), count(someone), count(`0x${'34'.repeat(20)}`)])
    expect(counts).toEqual([0n, 0n, 0n])
    const { requests, calls } = first.taken()
    expect(requests).toBe(1)
    const methods = calls.map(({ method }) => method).sort()
    const twice = 'eth_getTransactionCount'
    expect(methods).toEqual(['eth_chainId', 'eth_getBlockByNumber', twice, twice])
  })

  test('are as long as the node allows; 1 means none', async () => {
    const rpc = open({ urls: [first.url], batch_most: 1 })
    first.taken()
    expect(await rpc.read((one) => one.ask(chainId()))).toBe(137n)
    const { requests, calls } = first.taken()
    expect([requests, calls.length]).toEqual([2, 2])
  })

  test('an answer that fails its own schema does not harm the others of the batch', async () => {
    const rpc = open({ urls: [first.url], inspect_after_ms: 60_000 })
    await rpc.read(whichEndpoint)
    const strange = rpcCall({ method: 'eth_gasPrice', params: [], result: T.Boolean(), read: (it) => it })
    const [bad, good] = await Promise.allSettled([
      rpc.read((one) => one.ask(strange)),
      rpc.read((one) => one.ask(chainId())),
    ])
    expect(bad.status).toBe('rejected')
    expect(good).toMatchObject({ value: 137n })
  })
})

describe('inspection', () => {
  test('an endpoint of another chain rests at once, and its answers do not count', async () => {
    const rpc = open()
    first.become(ofAnotherChain(1))
    expect(await rpc.read(whichEndpoint)).toBe(2)
    expect(states(rpc)).toEqual(['resting', 'healthy'])
    expect(failures(rpc)[0]).toBe('wrong_chain')
    const inspected = await rpc.inspect()
    expect(inspected[0]!.failure?.message).toBe('endpoint 1: the node is of chain 1, not 137')
  })

  test('an endpoint that is behind the others rests', async () => {
    const rpc = open({ behind_most: 3n })
    first.become(await behind(node.url))
    await rpc.all(whichEndpoint)
    await node.mine(3)
    await rpc.all(whichEndpoint)
    expect(states(rpc), 'three blocks are tolerated').toEqual(['healthy', 'healthy'])
    await node.mine(1)
    await rpc.all(whichEndpoint)
    await rpc.all(whichEndpoint)
    expect(states(rpc)).toEqual(['resting', 'healthy'])
    expect(failures(rpc)[0]).toBe('old_head')
    expect(await rpc.read(whichEndpoint)).toBe(2)
  })

  test('an endpoint whose newest block is old rests', async () => {
    const rpc = open({ head_age_most_ms: 600_000 })
    first.become({
      rewrite: ({ method }, reply) =>
        method === 'eth_getBlockByNumber'
          ? { ...reply, result: { ...reply.result, timestamp: hex(Math.floor(Date.now() / 1000) - 700) } }
          : reply,
    })
    expect(await rpc.read(whichEndpoint)).toBe(2)
    expect(failures(rpc)[0]).toBe('old_head')
  })

  test('one of three endpoints cannot make the others rest by inventing a height', async () => {
    const rpc = open({ urls: [first.url, second.url, third.url], behind_most: 3n })
    first.become({
      rewrite: ({ method }, reply) =>
        method === 'eth_getBlockByNumber'
          ? { ...reply, result: { ...reply.result, number: hex(10n ** 12n) } }
          : reply,
    })
    for (let time = 0; time < 3; time++) await rpc.all(whichEndpoint)
    expect(states(rpc)).toEqual(['healthy', 'healthy', 'healthy'])
  })

  test('facts tell the height, the latency and the failures in a row', async () => {
    const rpc = open()
    await rpc.all(whichEndpoint)
    first.become({ cut: true })
    await rpc.read(whichEndpoint)
    const height = BigInt(await node.call<string>('eth_blockNumber'))
    const [one, two] = rpc.facts()
    expect(one).toMatchObject({ endpoint: 1, state: 'healthy', failures_in_row: 1, head: height })
    expect(two).toMatchObject({ endpoint: 2, state: 'healthy', failures_in_row: 0, head: height })
    expect(two!.latency_ms).toBeGreaterThan(0)
  })
})

describe('agreement', () => {
  const height = async (one: RpcNode) => (await one.ask(newestBlock())).height
  test('needs two endpoints where two are configured, and one where there is one', async () => {
    const two = open()
    const now = BigInt(await node.call<string>('eth_blockNumber'))
    expect([two.quorum, await two.agree(height, String)]).toEqual([2, now])
    second.become({ cut: true })
    expect(await two.agree(height, String)).toBeUndefined()
    const one = open({ urls: [first.url] })
    expect([one.quorum, await one.agree(height, String)]).toEqual([1, now])
  })

  test('is none while an endpoint says something else', async () => {
    const rpc = open({ urls: [first.url, second.url, third.url] })
    third.become(await behind(node.url))
    await node.mine(1)
    expect(await rpc.agree(height, String)).toBeUndefined()
  })
})

test('endpoints are URLs with http or https, and all different', () => {
  const opening =
    (...urls: string[]) =>
    () =>
      open({ urls })
  expect(opening()).toThrow('polygon: no endpoint is configured.')
  expect(opening('http://a/key', 'ws://b/key')).toThrow('endpoint 2 is not a URL with http or https.')
  expect(opening('nonsense-key')).toThrow(/^polygon: endpoint 1 is not a URL/)
  expect(opening('http://a/key', 'http://b', 'http://a:80/key')).toThrow(
    'endpoints 1 and 3 have the same URL.',
  )
})
