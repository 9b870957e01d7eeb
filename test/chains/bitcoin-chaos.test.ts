import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import type { CrashPoint } from '../../src/core/crash-point.ts'
import { Refusal } from '../../src/core/errors.ts'
import { networks } from '../../src/core/networks.ts'
import { scrape } from '../support/metrics.ts'
import { countsIn, noteFact } from '../support/proof.ts'
import { retryUntilAnswered } from '../support/retry.ts'
import { size } from '../support/size.ts'
import { slowness, until } from '../support/wait.ts'
import { type BitcoinChaosStage, openBitcoinChaosStage, type ServiceNode } from './bitcoin-chaos-stage.ts'
import { endpointFaults, playFault } from './bitcoin-faults.ts'
import { bitcoinTest as test } from './bitcoin-node.ts'
import { expectBitcoinPaidOnce } from './bitcoin-paid-once.ts'
import { openTestWallet } from './bitcoin-wallet.ts'
import { dumpTables, spellingsOf, spellingsOfText } from './secrets.ts'

/**
 * Two nodes of the service pay BTC while their processes are killed at every point of a transfer's way, endpoints are cut and lie, blocks
 * disappear, and nodes restart, lag and run out of room. At the end every destination has what the ledger says, to the satoshi.
 */
const is_full = size(1, 0) === 1
const COUNT = size(100, 16)
const ROUNDS = size(2, 1)
const PATIENCE_MS = size(600_000, 300_000)
const PATH = '/v1/onchain/transfers'
const AMOUNT = 20_000
const BALANCE = 10n ** 9n
const FINAL_BLOCKS = 6
/** Above what the service pays where the node estimates nothing, in satoshis per virtual byte. */
const RAISED_RATE = 30n
const STUCK_AFTER = '31 minutes'
const { confirmations } = networks.bitcoin

/** Points that any transfer passes. `before_replace` and `before_cancel` have transfers of their own. */
const points: readonly CrashPoint[] = [
  'after_reserve',
  'after_sign',
  'before_broadcast',
  'after_broadcast',
  'after_follow',
  ...(is_full ? (['after_lock', 'before_commit', 'after_commit'] as const) : []),
]
const faults = endpointFaults.slice(0, is_full ? endpointFaults.length : 4)
const DEPTHS = is_full ? [1, 2, 3, 4, 5, 6] : [2, 4, 6]

let stage: BitcoinChaosStage
const nodes: ServiceNode[] = []
const ended = new AbortController()
const background: Promise<void>[] = []
const trouble = { cut: 0, unavailable: 0 }
const counted = { orders: 0, repeated: 0, evicted: 0, replaced: 0, older_mined: 0, resumed: 0, returned: 0 }
const kills: Partial<Record<CrashPoint, number>> = {}
const shown: Record<string, number> = {}
const depths: Record<string, number> = {}
const node_troubles = { restarted: 0, mempools_lost: 0, behind: 0 }
const texts: string[] = []
let is_mining = true
let alarm: unknown

beforeAll(async () => {
  stage = await openBitcoinChaosStage()
}, 300_000)
afterAll(async () => {
  ended.abort()
  await Promise.allSettled(background)
  await stage?.stop()
})

const count = (counts: Record<string, number>, name: string | number) => {
  counts[name] = (counts[name] ?? 0) + 1
}

/** Waits for a condition, and no longer once something in the background has failed. */
const wait = (ask: () => Promise<boolean>): Promise<void> =>
  until(async () => {
    if (alarm) throw alarm
    return ask()
  }, PATIENCE_MS)

function inBackground(work: () => Promise<void>): void {
  background.push(
    work().catch((error: unknown) => {
      alarm ??= error
    }),
  )
}

const rowOf = async (id: string) => (await stage.transfers()).find((row) => row.id === id)!
const isIn = (id: string, ...statuses: string[]) =>
  wait(async () => statuses.includes((await rowOf(id)).status))
const newestOf = async (id: string) => (await stage.transactions(id)).at(-1)!

const newOrder = (customer_id: string) => ({
  ...{ customer_id, asset: 'BTC', network: 'bitcoin', amount: `${AMOUNT + counted.orders}` },
  ...{ destination_address: openTestWallet().address, idempotency_key: `btc-${counted.orders++}` },
})

/** Asks one node, then the other, until there is an answer; an order that was answered is sent once more. */
async function place(customer_id: string): Promise<string> {
  const order = newOrder(customer_id)
  const first = Math.floor(Math.random() * nodes.length)
  const ask = (tries: number) => {
    if (alarm) throw alarm
    return stage.client(nodes[(first + tries) % nodes.length]!.url).post(PATH, order)
  }
  const answer = await retryUntilAnswered(ask, trouble, PATIENCE_MS)
  expect(answer.status).toBe(201)
  const again = await retryUntilAnswered((tries) => ask(tries + 1), trouble, PATIENCE_MS)
  expect(again.text).toBe(answer.text)
  counted.repeated++
  texts.push(answer.text)
  return answer.json.id
}

/** Three transfers in the mempools of both nodes. */
async function placeThree(customer_id: string): Promise<string[]> {
  const ids = [await place(customer_id), await place(customer_id), await place(customer_id)]
  for (const id of ids) {
    await isIn(id, 'processing')
    await wait(async () => stage.chain.isInMempool((await newestOf(id)).tx_hash))
  }
  return ids
}

async function died(node: ServiceNode, point: CrashPoint): Promise<void> {
  await wait(async () => node.process.signalCode === 'SIGKILL')
  count(kills, point)
}

/** A node that dies before it is ready has found its work, and its end, early. */
async function startDoomed(point: CrashPoint): Promise<ServiceNode | undefined> {
  try {
    return await stage.start({ CRASH_AT: point })
  } catch (error) {
    if (!/ended with SIGKILL/.test((error as Error).message)) throw error
    count(kills, point)
    return undefined
  }
}

const startNodes = async () =>
  void nodes.splice(0, nodes.length, ...(await Promise.all([stage.start(), stage.start()])))

/** The only node of the service dies at this point; then there are two again. */
async function dieAlone(point: CrashPoint, before: () => Promise<void>): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill('SIGTERM')))
  await before()
  const doomed = await startDoomed(point)
  if (doomed) await died(doomed, point)
  await startNodes()
}

test(
  'transfers on Bitcoin: what destinations received is what the ledger says',
  async () => {
    const began = performance.now()
    const customers = await Promise.all(Array.from({ length: 4 }, () => stage.customer(BALANCE)))
    await startNodes()
    inBackground(hurry)
    inBackground(resumeRail)
    await replaceStuck(customers[0]!)
    const raced = await cancelThree(customers[1]!)
    await vanish(customers[2]!)

    inBackground(mine)
    const disturbing = new AbortController()
    const disturbed = disturb(disturbing.signal)
    await placeAll(customers, killNodes())
    disturbing.abort()
    await disturbed
    await wait(async () =>
      (await stage.transfers()).every(({ status }) => status === 'confirmed' || status === 'failed'),
    ).catch((error: unknown) => {
      throw new Error(`some transfers have not ended:\n${linesAbout(/ waits: /)}`, { cause: error })
    })
    await settle()
    ended.abort()
    await Promise.all(background)
    if (alarm) throw alarm

    const { paid, canceled, transactions, charged } = await expectBitcoinPaidOnce(stage)
    expect(canceled.map(({ id, failure_code }) => [id, failure_code])).toEqual([[raced.canceled, 'canceled']])
    expect(paid.length).toBe(counted.orders - 1)
    expect(counted.orders).toBeGreaterThanOrEqual(COUNT)
    expectDisturbed()
    expect(await openExceptions()).toEqual([])
    const places_searched = await expectNoSecrets()

    const seconds = Math.round((performance.now() - began) / 1000)
    noteFact(
      `${counted.orders} transfers on ${stage.chain.main.program} (regtest), 2 nodes behind 5 endpoints, by 2 nodes of the service on one database, in ${seconds} s: ${paid.length} confirmed, ${canceled.length} canceled and returned; each destination has one output with the ordered amount, the wallet holds to the satoshi what the books say after ${charged} satoshis for miners, reconciliation 0, audit clean`,
    )
    noteFact(
      `${sumOf(kills)} × kill -9 at ${Object.keys(kills).length} points of a transfer’s way (${countsIn(kills)})`,
    )
    noteFact(`${sumOf(shown)} faults of endpoints that showed in an answer (${countsIn(shown)})`)
    noteFact(
      `${sumOf(depths)} reorganisations (${depthsInWords()}), which took ${counted.returned} payments out of blocks; the rail was paused ${counted.resumed} × because the block of a confirmed transfer was gone, and two operators resumed it`,
    )
    noteFact(
      `nodes: ${node_troubles.restarted} × restarted, ${node_troubles.mempools_lost} × both mempools lost, ${node_troubles.behind} × one node behind; a full mempool dropped ${counted.evicted} payments; ${transactions} transactions signed, ${counted.replaced} transfers replaced at a higher rate, ${counted.older_mined} ended by the replaced version, ${raced.paid.length} by the payment although a cancel was signed`,
    )
    noteFact(
      `${counted.repeated} orders sent again under their idempotency key, ${trouble.cut} connections broken and ${trouble.unavailable} answers 503 among them: one transfer and one answer each`,
    )
    noteFact(
      `no wallet key, no password of a node and no endpoint URL, raw, as hex or as base64, in ${places_searched}`,
    )
  },
  3 * PATIENCE_MS,
)

const depthsInWords = () =>
  Object.entries(depths)
    .map(([depth, times]) => `${times} of depth ${depth}`)
    .join(', ')

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, times) => sum + times, 0)

/** Every disturbance took place. */
function expectDisturbed(): void {
  expect(Object.keys(kills).sort()).toEqual([...points, 'before_cancel', 'before_replace'].sort())
  for (const point of points) expect(kills[point]).toBeGreaterThanOrEqual(ROUNDS)
  expect(Object.keys(shown).sort()).toEqual(faults.map(({ name }) => name).sort())
  expect(Object.keys(depths).map(Number)).toEqual(expect.arrayContaining([...DEPTHS]))
  expect(counted.returned).toBeGreaterThanOrEqual(1)
  expect(counted.resumed).toBeGreaterThanOrEqual(1)
  expect(Math.min(...Object.values(node_troubles))).toBeGreaterThanOrEqual(1)
}

/** The service does not wait for its next question about a transfer. */
async function hurry(): Promise<void> {
  while (!ended.signal.aborted) {
    await stage.hurry()
    await sleep(1000)
  }
}

/** Operators resume the rail after a block of a confirmed transfer vanished. Every other pause is a false alarm. */
async function resumeRail(): Promise<void> {
  const { db } = stage.worlds.production
  while (!ended.signal.aborted) {
    const { rows } = await db.query(
      `SELECT paused_reason FROM rail_controls WHERE rail = 'bitcoin' AND paused_at IS NOT NULL`,
    )
    if (rows.length > 0) {
      expect(rows[0].paused_reason, linesAbout(/did not sign|rail is paused/)).toMatch(
        /^Block \d+ of bitcoin, in which transfer \S+ ended, is no longer/,
      )
      await resumeOnce()
    }
    await sleep(500)
  }
}

/** The last lines of the servers that say so. */
const linesAbout = (what: RegExp): string =>
  stage
    .output()
    .split('\n')
    .filter((line) => what.test(line))
    .slice(-5)
    .join('\n')

let proposed: string | undefined

/** While the nodes disagree nobody can tell whether the wallet's coins are untouched: the operators try again. */
async function resumeOnce(): Promise<void> {
  const world = stage.worlds.production
  const action = { name: 'resume_rail', details: { rail: 'bitcoin', reason: 'looked up' } } as const
  try {
    proposed ??= (await stage.propose(world, action, 'maria@operator.example')).id
    await stage.approve(world, proposed, 'joao@operator.example')
    proposed = undefined
    counted.resumed++
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'rail_unavailable') throw error
  }
}

/** The newest stored block is the head of the nodes. */
const isFollowed = () =>
  wait(async () => (await stage.followed()) === (await stage.chain.main.head().catch(() => undefined))?.hash)

async function mineAndFollow(blocks: number): Promise<void> {
  await stage.chain.mine(blocks)
  await isFollowed()
}

/**
 * The mempool of the node that mines is full: it drops the payments, and takes them again at a higher rate only. The only node of the
 * service dies between storing a replacement and broadcasting it. Of the first transfer the replaced version is mined.
 */
async function replaceStuck(customer_id: string): Promise<void> {
  const { chain } = stage
  const ids = await placeThree(customer_id)
  const [older] = await stage.transactions(ids[0])
  expect(await chain.fill(RAISED_RATE)).toBeGreaterThanOrEqual(Number(RAISED_RATE))
  for (const id of ids) if (!(await chain.isInMempool((await newestOf(id)).tx_hash))) counted.evicted++
  expect(counted.evicted).toBe(ids.length)
  await dieAlone('before_replace', () => stage.age(ids, STUCK_AFTER))
  for (const id of ids)
    await wait(async () => {
      await stage.age(ids, STUCK_AFTER)
      const { attempt, tx_hash } = await newestOf(id)
      return attempt > 1 && (await chain.isInMempool(tx_hash))
    })
  for (const id of ids) expect(Number((await newestOf(id)).rate) / 1000).toBeGreaterThan(Number(RAISED_RATE))
  counted.replaced += ids.length
  await stage.restoreAges()
  await chain.mineOnly([older!.signed])
  await mineAndFollow(confirmations)
  for (const id of ids) await isIn(id, 'confirmed')
  expect(await rowOf(ids[0]!)).toMatchObject({ tx_hash: older!.tx_hash })
  counted.older_mined++
}

/**
 * Operators cancel three transfers whose payments are in the mempools. The first cancel is mined; of the second one the payment; and the
 * third is stored when its node dies before it is broadcast, so the payment is mined too.
 */
async function cancelThree(customer_id: string): Promise<{ canceled: string; paid: readonly string[] }> {
  const { chain } = stage
  const [first, second, third] = (await placeThree(customer_id)) as [string, string, string]
  const cancel = (transfer_id: string) =>
    stage.byTwo({ name: 'cancel_transfer', details: { transfer_id, reason: 'wrong address' } })
  const [payment] = await stage.transactions(second)
  for (const id of [first, second]) {
    await cancel(id)
    await wait(async () => {
      const { purpose, tx_hash } = await newestOf(id)
      return purpose === 'cancel' && (await chain.isInMempool(tx_hash))
    })
  }
  await dieAlone('before_cancel', () => cancel(third))
  const { purpose, tx_hash } = await newestOf(third)
  expect(purpose).toBe('cancel')
  expect(await chain.isInMempool(tx_hash)).toBe(false)
  await chain.mineOnly([payment!.signed])
  await mineAndFollow(confirmations)
  for (const id of [first, second, third]) await isIn(id, 'confirmed', 'failed')
  expect(await rowOf(first)).toMatchObject({ status: 'failed' })
  for (const id of [second, third]) expect(await rowOf(id)).toMatchObject({ status: 'confirmed' })
  return { canceled: first, paid: [second, third] }
}

/** A confirmed transfer is in no block any more: the rail is paused until operators resume it, and the payment is mined again. */
async function vanish(customer_id: string): Promise<void> {
  const id = await place(customer_id)
  await isIn(id, 'processing')
  await mineAndFollow(confirmations)
  await isIn(id, 'confirmed')
  const before = counted.resumed
  await reorganize(confirmations + 1, true)
  await wait(async () => {
    await stage.askAgain()
    return counted.resumed > before
  })
  await mineAndFollow(confirmations)
}

/** All blocks are final, and the service has asked once more about those in which transfers ended. */
async function settle(): Promise<void> {
  is_mining = false
  await mineAndFollow(FINAL_BLOCKS)
  await wait(async () => {
    await stage.askAgain()
    return (await stage.watched()) === 0
  })
}

/**
 * A block every now and then. The service chooses coins and signs only while the newest block is read, which takes longer on a busy
 * machine: the next block is mined later there.
 */
async function mine(): Promise<void> {
  while (is_mining && !ended.signal.aborted) {
    await stage.chain.mine()
    const patient_until = performance.now() + 15_000
    while (performance.now() < patient_until && !ended.signal.aborted) {
      const head = await stage.chain.main.head().catch(() => undefined)
      if (head && (await stage.followed()) === head.hash) break
      await sleep(100)
    }
    await sleep(1500 * slowness())
  }
}

/** At least COUNT orders, and more until every kind of disturbance took place. */
async function placeAll(customers: readonly string[], killing: Promise<void>): Promise<void> {
  let is_over = false
  const over = killing.finally(() => {
    is_over = true
  })
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      while (counted.orders < COUNT || !is_over || !isDisturbed()) {
        if (alarm) throw alarm
        await place(customers[counted.orders % customers.length]!)
        await sleep(size(5000, 2500))
      }
    }),
  )
  await over
}

const isDisturbed = () =>
  Object.keys(shown).length === faults.length &&
  DEPTHS.every((depth) => depths[depth]) &&
  Object.values(node_troubles).every((times) => times > 0)

/** In turn each node dies at each point, while orders come in. */
async function killNodes(): Promise<void> {
  for (const [index, point] of Array.from({ length: ROUNDS }, () => points)
    .flat()
    .entries()) {
    const at = index % nodes.length
    await nodes[at]!.kill('SIGTERM')
    const node = await startDoomed(point)
    if (node) {
      nodes[at] = node
      await died(node, point)
    }
    nodes[at] = await stage.start()
  }
}

/** Faults of endpoints, reorganisations and troubles of nodes, until the signal. */
async function disturb(signal: AbortSignal): Promise<void> {
  const { endpoints } = stage.chain
  for (let turn = 0; !signal.aborted; turn++) {
    const fault = faults[turn % faults.length]!
    const endpoint = endpoints[fault.of_first ? 0 : turn % endpoints.length]!
    if (await playFault(endpoint, fault, size(2000, 500))) count(shown, fault.name)
    await reorganize(DEPTHS[turn % DEPTHS.length]!, turn % 4 === 3)
    if (is_full ? turn % 3 === 1 : turn < 3) await troubleNodes(is_full ? Math.floor(turn / 3) : turn, signal)
    await sleep(size(4000, 2000), undefined, { signal }).catch(() => {})
  }
}

/** Another branch, which the service has read in the end. */
async function reorganize(depth: number, is_empty: boolean): Promise<void> {
  const { chain } = stage
  const first = await chain.reorganize(depth, is_empty, async (fork) => {
    counted.returned += await stage.minedAbove(fork)
  })
  const hash = await chain.main.call<string>('getblockhash', first)
  await wait(async () => (await stage.followed(first)) === hash)
  count(depths, depth)
}

async function troubleNodes(turn: number, signal: AbortSignal): Promise<void> {
  const { chain } = stage
  const troubles = [
    async () => {
      await chain.restart()
      node_troubles.restarted++
    },
    async () => {
      // The payments are nowhere: the service sends the same bytes again. A block may have taken them before.
      let lost: readonly string[] = []
      await wait(async () => {
        lost = await chain.loseMempools()
        return signal.aborted || lost.length > 0
      })
      if (lost.length > 0) node_troubles.mempools_lost++
    },
    async () => {
      await chain.keepApart(true)
      const isTold = () => stage.output().split('blocks behind').length
      const before = isTold()
      await wait(async () => isTold() > before)
      await chain.keepApart(false)
      node_troubles.behind++
    },
  ]
  await troubles[turn % troubles.length]!()
}

/** The audit in the background sees what the test wrote by itself: a key without a line in the log, and the times that `age` changed. */
async function openExceptions(): Promise<unknown[]> {
  const { rows } = await stage.worlds.production.db.query(
    `SELECT kind, object_id, details FROM exceptions WHERE closed_at IS NULL AND kind <> 'audit'`,
  )
  return rows
}

/** The key of the wallet, the passwords of the nodes and the URLs of the endpoints are in no log, table, answer or metric. */
async function expectNoSecrets(): Promise<string> {
  const { main, second, endpoints } = stage.chain
  const spellings = [
    ...spellingsOf(Buffer.from(stage.wallet.key, 'hex')),
    ...spellingsOfText(stage.wallet.key),
    ...[main, second].flatMap(({ url }) => spellingsOfText(new URL(url).password)),
    ...endpoints.flatMap(({ url }) => spellingsOfText(url)),
    ...spellingsOfText('secret-path-of-the-provider'),
  ]
  const lists = await Promise.all(
    nodes.map(async ({ url }) => {
      const { get } = stage.client(url)
      const pages = await Promise.all([`${PATH}?limit=100`, '/v1/events?limit=100'].map(get))
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
