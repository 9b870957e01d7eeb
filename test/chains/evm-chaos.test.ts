import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import type { CrashPoint } from '../../src/core/crash-point.ts'
import type { EvmNetwork } from '../../src/rails/chain/evm/network.ts'
import type { Reply } from '../support/api.ts'
import { asAdmin } from '../support/database.ts'
import { scrape } from '../support/metrics.ts'
import { noteFact } from '../support/proof.ts'
import { retryUntilAnswered } from '../support/retry.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'
import { chainTest as test } from './chain-test.ts'
import { randomAddress } from './evm-stage.ts'
import { expectPaidOnce } from './paid-once.ts'
import {
  actFirst,
  type ChainPlace,
  DEPTH,
  openProductionStage,
  type ProductionNode,
  type ProductionStage,
  startMiner,
} from './production-stage.ts'
import { behind, ofAnotherChain, type ProxyMode } from './rpc-proxy.ts'
import { dumpTables, spellingsOf, spellingsOfText } from './secrets.ts'

/**
 * Two nodes pay on four EVM chains while their processes are killed at every point of a transfer's way, endpoints are cut and lie,
 * blocks disappear, fees rise and the token misbehaves. At the end every destination has what the ledger says, to the unit.
 */
const is_full = size(1, 0) === 1
const NETWORKS = ['ethereum', 'polygon', 'arbitrum', 'optimism'] as const
const COUNT = size(200, 24)
const ROUNDS = size(2, 1)
const PATIENCE_MS = size(600_000, 240_000)
const AMOUNT = 2_000_000
const TOKEN_FEE = 1000n
const PATH = '/v1/onchain/transfers'

/** Points that any transfer passes. `before_replace` has a transfer of its own. */
const points: readonly CrashPoint[] = [
  'after_reserve',
  'after_sign',
  'before_broadcast',
  'after_broadcast',
  ...(is_full ? (['after_lock', 'before_commit', 'after_commit'] as const) : []),
]

let stage: ProductionStage
let miners: ReadonlyMap<EvmNetwork, ReturnType<typeof startMiner>>
const counted = { kills: 0, faults: 0, reorganizations: 0, replaced: 0, repeated: 0 }
const trouble = { cut: 0, unavailable: 0 }
const texts: string[] = []

beforeAll(async () => {
  stage = await openProductionStage({ networks: NETWORKS })
})
afterAll(async () => {
  for (const miner of miners?.values() ?? []) await miner.stop()
  await stage?.stop()
})

/** The nodes of now. One of them is replaced again and again by one that dies at a given point. */
const nodes: ProductionNode[] = []
let orders = 0

type Order = ReturnType<typeof newOrder>
const newOrder = (customer_id: string, network: EvmNetwork) => ({
  ...{
    customer_id,
    asset: 'USDT',
    network,
    amount: `${AMOUNT + orders}`,
    destination_address: randomAddress(),
  },
  idempotency_key: `evm-${orders++}`,
})

/** Asks one node, then the other, until there is an answer; an order that was answered is sent once more. */
async function place(order: Order): Promise<Reply> {
  const first = Math.floor(Math.random() * nodes.length)
  const ask = (tries: number) => stage.client(nodes[(first + tries) % nodes.length]!.url).post(PATH, order)
  const answer = await retryUntilAnswered(ask, trouble)
  expect(answer.status).toBe(201)
  const again = await retryUntilAnswered((tries) => ask(tries + 1), trouble)
  expect(again.text).toBe(answer.text)
  counted.repeated++
  texts.push(answer.text)
  return answer
}

const rowOf = async (id: string) => (await stage.transfers()).find((row) => row.id === id)!
const isProcessing = (id: string) =>
  until(async () => {
    if (!is_full) await stage.hurry()
    return (await rowOf(id)).status === 'processing'
  }, PATIENCE_MS)

async function died(node: ProductionNode): Promise<void> {
  await until(async () => {
    if (!is_full) await stage.hurry()
    return node.process.signalCode === 'SIGKILL'
  }, PATIENCE_MS)
  counted.kills++
}

/** A node that dies before it is ready has found its work, and its end, early. */
async function startDoomed(point: CrashPoint): Promise<ProductionNode | undefined> {
  try {
    return await stage.start({ CRASH_AT: point })
  } catch (error) {
    if (!/ended with SIGKILL/.test((error as Error).message)) throw error
    counted.kills++
    return undefined
  }
}

test(
  `transfers over four networks: what destinations received is what the ledger says`,
  async () => {
    const began = performance.now()
    const customers = await Promise.all(Array.from({ length: 4 }, () => stage.customer(10n ** 10n)))
    const customerOf = (index: number) => customers[index % customers.length]!

    const waits = await pauseToken(customerOf(0))
    nodes.push(...(await Promise.all([stage.start(), stage.start()])))
    const scenes = await Promise.all([
      endPause(waits),
      revert(customerOf(1), stage.placeOf('arbitrum')),
      takeFee(customerOf(2), stage.placeOf('optimism')),
      stick(customerOf(3), stage.placeOf('polygon')),
    ])
    const [, reverted, short, stuck] = scenes

    miners = new Map(
      stage.places.map((one) => [one.network, startMiner(one, { every_ms: 300, blocks: 2 })] as const),
    )
    const replacing = await replaceStuck(stuck)
    const disturbing = new AbortController()
    const disturbances = stage.places.map((one, index) => disturb(one, index, disturbing.signal))
    const killing = killNodes()
    await placeAll(customerOf, killing)
    await replacing()
    disturbing.abort()
    await Promise.all(disturbances)

    const for_people = new Map([[short.id, short.arrived]])
    await until(async () => {
      if (!is_full) await stage.hurry()
      const open = (await stage.transfers()).filter(({ status }) => !['confirmed', 'failed'].includes(status))
      return open.every(({ id }) => for_people.has(id))
    }, PATIENCE_MS)
    for (const miner of miners.values()) await miner.stop()

    expect(await rowOf(reverted)).toMatchObject({ status: 'failed', failure_code: 'reverted' })
    expect(await rowOf(waits)).toMatchObject({ status: 'confirmed' })
    await expectForPerson(short.id)
    const { paid, failed, transactions } = await expectPaidOnce(stage, for_people)
    expect({ paid, failed }).toEqual({ paid: orders - 2, failed: 1 })
    expect(orders).toBeGreaterThanOrEqual(COUNT)
    expect(counted.replaced).toBeGreaterThanOrEqual(1)
    expect(counted.kills).toBeGreaterThanOrEqual(points.length * ROUNDS + 2)
    const places_searched = await expectNoSecrets()

    const seconds = Math.round((performance.now() - began) / 1000)
    noteFact(
      `${paid + failed + 1} transfers over 4 anvil chains (ids 1, 137, 42161, 10), 3 endpoints each, by 2 nodes on one database, in ${seconds} s: ${paid} confirmed, ${failed} reverted and returned, 1 for a person because the token took a fee; destinations received to the unit what the ledger booked, ${paid + 1} Transfer logs from the wallet, audit clean`,
    )
    noteFact(
      `${counted.kills} × kill -9 at ${points.length + 1} points of a transfer’s way; ${counted.faults} faults of endpoints (cut, late, behind, of another chain, lying), ${counted.reorganizations} reorganisations of depth 1 to 6; ${transactions} transactions signed, ${counted.replaced} transfers replaced with higher fees; nonces without gap or double in each of the 4 wallets`,
    )
    noteFact(
      `${counted.repeated} orders sent again under their idempotency key, ${trouble.cut} connections broken and ${trouble.unavailable} answers 503 among them: one transfer and one answer each`,
    )
    noteFact(`no wallet key and no endpoint URL, raw, as hex or as base64, in ${places_searched}`)
  },
  3 * PATIENCE_MS,
)

test('a secret is found in each of its spellings, wherever it stands in a text', () => {
  const secret = Buffer.from(stage.key, 'hex')
  for (const prefix of ['', 'a', 'ab', 'abc'])
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      const text = Buffer.concat([Buffer.from(prefix), secret, Buffer.from(prefix)]).toString(form)
      expect(spellingsOf(secret).some((spelling) => text.includes(spelling))).toBe(true)
    }
})

/** The token is paused between the reservation of a nonce and the signature: the transfer waits, and its money stays in transit. */
async function pauseToken(customer_id: string): Promise<string> {
  const ethereum = stage.placeOf('ethereum')
  const doomed = await stage.start({ CRASH_AT: 'after_reserve' })
  const order = newOrder(customer_id, 'ethereum')
  const ask = () => {
    if (doomed.process.signalCode !== null) throw new Error('the node died before it answered')
    return stage.client(doomed.url).post(PATH, order)
  }
  await Promise.all([retryUntilAnswered(ask, trouble).catch(() => {}), died(doomed)])
  await ethereum.token.setPaused(true)
  await ethereum.node.mine(DEPTH)
  return (await stage.transfers())[0]!.id
}

async function endPause(id: string): Promise<void> {
  const { token, node } = stage.placeOf('ethereum')
  await until(async () => {
    if (!is_full) await stage.hurry()
    return stage.output().includes(`transfer ${id} waits: token_reverts`)
  }, PATIENCE_MS)
  expect(await rowOf(id)).toMatchObject({ status: 'pending', nonce: 0n, tx_hash: null })
  await token.setPaused(false)
  await node.mine(DEPTH)
}

/** The destination is black-listed while the payment is in the pool: the payment is mined without effect. */
async function revert(customer_id: string, one: ChainPlace): Promise<string> {
  const order = newOrder(customer_id, one.network)
  const { json } = await place(order)
  await isProcessing(json.id)
  await actFirst(one, 'setBlackListed', order.destination_address, true)
  await one.node.mine(DEPTH)
  return json.id
}

/** The token takes a fee of what is sent: less arrives than was ordered, and only a person can judge that. */
async function takeFee(customer_id: string, one: ChainPlace): Promise<{ id: string; arrived: bigint }> {
  await one.token.setFee(TOKEN_FEE)
  const order = newOrder(customer_id, one.network)
  const { json } = await place(order)
  await isProcessing(json.id)
  await one.node.mine()
  await one.token.setFee(0n)
  await one.node.mine(DEPTH)
  return { id: json.id, arrived: BigInt(order.amount) - TOKEN_FEE }
}

/** The base fee rises above what the transactions in the pool offer. */
async function stick(customer_id: string, one: ChainPlace): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await place(newOrder(customer_id, one.network))).json.id)
  for (const id of ids) await isProcessing(id)
  return ids
}

const STUCK_BASE_FEE = 50n * 10n ** 9n
const MINUTE = `interval '61 seconds'`

/**
 * The transactions are stuck until they are replaced, and the only node dies between storing a replacement and broadcasting it.
 * Returns a function that waits until all of them are replaced.
 */
async function replaceStuck(ids: readonly string[]): Promise<() => Promise<void>> {
  const miner = miners.get('polygon')!
  miner.holdBaseFee(STUCK_BASE_FEE)
  await Promise.all(nodes.map((node) => node.kill('SIGTERM')))
  const listed = ids.map((id) => `'${id}'`).join(', ')
  const shift = (sign: '-' | '+') =>
    asAdmin(stage.database.url, [
      'SET session_replication_role = replica',
      `UPDATE live.transactions SET created_at = created_at ${sign} ${MINUTE} WHERE attempt = 1 AND transfer_id IN (${listed})`,
    ])
  // A replacement is due after a minute. The reduced form makes the transactions older for as long as it waits.
  if (!is_full) await shift('-')
  const doomed = await startDoomed('before_replace')
  if (doomed) await died(doomed)
  nodes.splice(0, nodes.length, ...(await Promise.all([stage.start(), stage.start()])))
  return async () => {
    await until(async () => {
      if (!is_full) await stage.hurry()
      return (await replacedOf(ids)) === ids.length
    }, PATIENCE_MS)
    if (!is_full) await shift('+')
    counted.replaced += ids.length
    miner.holdBaseFee(undefined)
  }
}

async function replacedOf(ids: readonly string[]): Promise<number> {
  const { rows } = await stage.worlds.production.db.query(
    'SELECT count(DISTINCT transfer_id)::integer AS count FROM transactions WHERE attempt > 1 AND transfer_id = ANY($1)',
    [ids],
  )
  return rows[0].count
}

/** At least COUNT orders, and more for as long as nodes are killed. */
async function placeAll(customerOf: (index: number) => string, killing: Promise<void>): Promise<void> {
  let killed = false
  const ended = killing.finally(() => {
    killed = true
  })
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      while (orders < COUNT || !killed) {
        const index = orders
        await place(newOrder(customerOf(index), NETWORKS[index % NETWORKS.length]!))
        await sleep(size(1200, 800))
      }
    }),
  )
  await ended
}

/** In turn each node dies at each point, while orders come in. */
async function killNodes(): Promise<void> {
  const doomed = Array.from({ length: ROUNDS }, () => points).flat()
  for (const [index, point] of doomed.entries()) {
    const at = index % nodes.length
    await nodes[at]!.kill('SIGTERM')
    const node = await startDoomed(point)
    if (node) {
      nodes[at] = node
      await died(node)
    }
    nodes[at] = await stage.start()
  }
}

/** One endpoint after the other fails in one of these ways. */
const faults: readonly ((one: ChainPlace) => ProxyMode | Promise<ProxyMode>)[] = [
  () => ({ cut: true }),
  () => ({ lose_answers: true }),
  () => ({ delay_ms: 3000 }),
  () => ofAnotherChain(5),
  ({ node }) => behind(node.url),
  () => ({ raw: { status: 502, body: '<html>Bad gateway</html>' } }),
  // The payment was reverted.
  () =>
    rewriting('eth_getTransactionReceipt', (receipt) => receipt && { ...receipt, status: '0x0', logs: [] }),
  // The payment was made, to another block.
  () =>
    rewriting(
      'eth_getTransactionReceipt',
      (receipt) => receipt && { ...receipt, blockHash: `0x${'ab'.repeat(32)}` },
    ),
  // Nobody knows the payment.
  () => rewriting('eth_getTransactionReceipt', () => null),
  () => rewriting('eth_getTransactionByHash', () => null),
  // Nothing of the wallet was mined. (A nonce that is too high pauses the rail until two operators resume it: custody/guard.ts.)
  () => rewriting('eth_getTransactionCount', () => '0x0'),
]

const rewriting = (method: string, rewrite: (result: any) => unknown): ProxyMode => ({
  rewrite: (request, reply) =>
    request.method === method && reply.error === undefined
      ? { ...reply, result: rewrite(reply.result) }
      : reply,
})

/** Faults of endpoints and reorganisations, until the signal. At the end all endpoints work. */
async function disturb(one: ChainPlace, start: number, signal: AbortSignal): Promise<void> {
  const miner = miners.get(one.network)!
  for (let turn = start; !signal.aborted; turn++) {
    const endpoint = one.endpoints[turn % one.endpoints.length]!
    endpoint.become(await faults[turn % faults.length]!(one))
    counted.faults++
    await sleep(size(3000, 1500), undefined, { signal }).catch(() => {})
    endpoint.become({})
    await miner.inTurn(() => one.node.reorganize(1 + (turn % 6)))
    counted.reorganizations++
    await sleep(size(4000, 2500), undefined, { signal }).catch(() => {})
  }
}

async function expectForPerson(id: string): Promise<void> {
  expect(await rowOf(id)).toMatchObject({ status: 'processing' })
  const { rows } = await stage.worlds.production.db.query(
    `SELECT kind, details ->> 'problem' AS problem FROM exceptions WHERE object_id = $1`,
    [id],
  )
  expect(rows).toEqual([
    { kind: 'contradiction', problem: expect.stringContaining('neither the ordered payment') },
  ])
}

/** The keys of the wallet and the URLs of the endpoints are in no log, table, answer or metric. */
async function expectNoSecrets(): Promise<string> {
  const key = Buffer.from(stage.key, 'hex')
  const urls = stage.places.flatMap(({ endpoints }) => endpoints.map(({ url }) => url))
  const spellings = [
    ...spellingsOf(key),
    ...spellingsOfText(stage.key),
    ...urls.flatMap(spellingsOfText),
    ...spellingsOfText('secret-path-of-the-provider'),
  ]
  const lists = await Promise.all(
    nodes.map(async ({ url }) => {
      const api = stage.client(url)
      const pages = await Promise.all(
        ['/v1/onchain/transfers?limit=100', '/v1/events?limit=100'].map(api.get),
      )
      return [...pages.map(({ text }) => text), await scrape(url)].join('\n')
    }),
  )
  const searched = {
    'the logs of all processes': stage.output(),
    'all tables': await dumpTables(stage.database.url),
    'answers of the API': texts.join('\n'),
    'lists and metrics': lists.join('\n'),
  }
  for (const [name, text] of Object.entries(searched)) {
    expect(text.length).toBeGreaterThan(1000)
    for (const spelling of spellings)
      if (text.includes(spelling)) throw new Error(`a secret is in ${name}: ${spelling.slice(0, 6)}…`)
  }
  return Object.entries(searched)
    .map(([name, text]) => `${name} (${Math.round(text.length / 1024)} KiB)`)
    .join(', ')
}
