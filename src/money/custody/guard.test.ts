import { afterEach, describe, expect, onTestFinished } from 'vitest'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import type { ProxyMode } from '../../../test/chains/rpc-proxy.ts'
import { openBareWorld } from '../../../test/support/bare-world.ts'
import {
  acceptForeignNonces,
  bookDifference,
  type CustodyStage,
  copyRows,
  openCustodyStage,
} from '../../../test/support/custody.ts'
import { createDatabase } from '../../../test/support/database.ts'
import { desk } from '../../../test/support/operators.ts'
import { silent } from '../../../test/support/rail-bench.ts'
import { until } from '../../../test/support/wait.ts'
import { perform } from '../../control/operator/actions.ts'
import { describeProposal } from '../../control/operator/description.ts'
import { networks } from '../../core/networks.ts'
import { audit } from '../../ledger/audit.ts'
import { sliceChecks } from '../../node/worlds.ts'
import type { ChainRail } from '../../rails/chain/rail.ts'
import { closeOpenException, exceptionsAbout } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { transferSteps } from '../onchain/steps.ts'
import { transferById } from '../onchain/store.ts'
import { openTransferWorker } from '../onchain/worker.ts'
import { isPaused, pauseRail } from './controls.ts'
import type { PauseRail } from './guard.ts'

const BALANCE = 500_000_000n
const DEEP = networks.polygon.confirmations

let custody: CustodyStage
afterEach(async () => {
  expect(await custody.bench.findings()).toEqual([])
  await custody.stop()
})

const isSend = ({ method }: { method: string }) => method === 'eth_sendRawTransaction'
const sendsSeen = () => custody.stage.endpoints.flatMap((endpoint) => endpoint.taken().calls.filter(isSend))
const walletId = () => `polygon:${custody.scene.wallet}`
const problems = async (world: World) =>
  (await exceptionsAbout(world.db, walletId())).map(({ kind, details }) => [kind, details.problem])

/** Takes transfers as a worker does, and notes each pause. */
function workOn(world: World) {
  const paused: string[] = []
  const pauseRail: PauseRail = async (_, { rail, by, reason }) =>
    void paused.push(`${rail} by ${by}: ${reason}`)
  const { carry } = transferSteps(world, silent, undefined, pauseRail)
  return {
    paused,
    pauseRail,
    carry: async (id: string) => carry((await transferById(world.db, id))!),
    now: async (id: string) => (await transferById(world.db, id))!,
  }
}

describe('a database that was restored from a backup', () => {
  test('sends nothing before operators have looked, and then goes on with the nonce after the unknown ones', async () => {
    custody = await openCustodyStage()
    const { bench, world, stage } = custody
    const customer = await bench.customer({ USDT: BALANCE })
    const original = workOn(world)
    const first = await custody.transfer(customer)
    await original.carry(first.id)
    await stage.node.mine(DEEP)
    await original.carry(first.id)
    expect(await original.now(first.id)).toMatchObject({ status: 'confirmed', nonce: 0n })
    expect(await bookDifference(world)).toBeGreaterThan(0n)
    const [second, third] = [await custody.transfer(customer), await custody.transfer(customer)]

    const copy = await createDatabase()
    onTestFinished(() => copy.drop())
    await copyRows(bench.database.url, copy.url)

    for (const { id } of [second, third]) await original.carry(id)
    await stage.node.mine(DEEP)
    for (const { id } of [second, third]) await original.carry(id)
    expect(await original.now(third.id)).toMatchObject({ status: 'confirmed', nonce: 2n })
    expect(await custody.sent()).toBe(3)

    const restored = openBareWorld({ url: copy.url, log: silent, parts: custody.parts })
    onTestFinished(restored.stop)
    const later = workOn(restored.world)
    sendsSeen()
    const worker = openTransferWorker(restored.world, silent, { pauseRail: later.pauseRail })
    await until(() => later.paused.length > 3, 60_000)
    await worker.stop()
    const reason = `polygon has 2 transactions of wallet ${custody.scene.wallet} that this database does not know. The database may be restored from a backup, or another program uses the wallet's key.`
    expect(later.paused[0]).toBe(`polygon by service: ${reason}`)
    expect(await problems(restored.world)).toEqual([['foreign_transactions', reason]])
    expect(sendsSeen()).toEqual([])
    expect(await custody.sent()).toBe(3)
    for (const { id } of [second, third])
      expect(await later.now(id)).toMatchObject({ status: 'pending', nonce: null, tx_hash: null })

    for (const { id: transfer_id } of [second, third])
      await perform(restored.world, {
        name: 'resolve_transfer',
        details: { transfer_id, outcome: 'failed', evidence: 'explorer' },
      })
    const accept = () =>
      acceptForeignNonces(restored.world, {
        network: 'polygon',
        reason: 'restored from the backup of yesterday',
        proposal_id: null,
      })
    await expect(accept(), 'what the unknown transactions paid is not booked').rejects.toMatchObject({
      sentence: expect.stringMatching(
        /holds 3.000000 USDT less .* custody move polygon --out --amount 3000000/,
      ),
      details: { reason: 'books_differ' },
    })
    expect(await bookDifference(restored.world)).toBe(-3_000_000n)
    const accepted = await accept()
    expect(accepted).toEqual({ wallet_id: walletId(), first_nonce: 1n, next_nonce: 3n })
    const fourth = await acceptIn(restored.world, customer)
    await later.carry(fourth)
    await stage.node.mine(DEEP)
    await later.carry(fourth)
    expect(await later.now(fourth)).toMatchObject({ status: 'confirmed', nonce: 3n })
    expect((await audit(restored.world.db, sliceChecks)).findings).toEqual([])
  })

  test('sends nothing while one endpoint alone knows unknown transactions, and nothing is paused by it', async () => {
    custody = await openCustodyStage()
    const { bench, world, stage } = custody
    const customer = await bench.customer({ USDT: BALANCE })
    const { id } = await custody.transfer(customer)
    const { carry, paused, now } = workOn(world)
    stage.endpoints[1].become({
      rewrite: ({ method, params }, reply) =>
        method === 'eth_getTransactionCount' && params[1] === 'pending' ? { ...reply, result: '0x2' } : reply,
    })
    await carry(id)
    expect(await now(id)).toMatchObject({ status: 'pending', nonce: null })
    expect(paused).toEqual([])
    expect(sendsSeen()).toEqual([])
    stage.endpoints[1].become({})
    await carry(id)
    expect(await now(id)).toMatchObject({ status: 'processing', nonce: 0n })
  })

  test('is not resumed while transactions that were shown are not shown any more, and refuses no order meanwhile', async () => {
    custody = await openCustodyStage({
      chain: { screen: async () => ({ kind: 'refused', rail_code: 'token_refuses' }) },
    })
    const { bench, world, stage } = custody
    const { carry, paused, now } = workOn(world)
    const { id } = await custody.transfer(await bench.customer({ USDT: BALANCE }))
    const show = (mode: ProxyMode) => {
      for (const endpoint of stage.endpoints) endpoint.become(mode)
    }
    show({
      rewrite: ({ method, params }, reply) =>
        method === 'eth_getTransactionCount' && params[1] === 'pending' ? { ...reply, result: '0x2' } : reply,
    })
    await carry(id)
    expect(await now(id), 'it may have been paid').toMatchObject({ status: 'pending' })
    expect(paused).toHaveLength(1)
    show({})
    const accept = () =>
      acceptForeignNonces(world, { network: 'polygon', reason: 'looked up', proposal_id: null })
    await expect(accept()).rejects.toMatchObject({
      sentence: expect.stringContaining('do not show any more'),
      details: { reason: 'foreign_transactions_wait' },
    })
    const reason = 'They can never be mined.'
    await closeOpenException(world.db, { kind: 'foreign_transactions', object_id: walletId(), reason })
    expect(await accept()).toBeUndefined()
    await carry(id)
    expect(await now(id)).toMatchObject({ status: 'failed', rail_code: 'token_refuses' })
  })

  test('broadcasts no stored transaction again while foreign ones are in a mempool, and operators must wait for them', async () => {
    custody = await openCustodyStage()
    const { bench, world, stage } = custody
    const customer = await bench.customer({ USDT: BALANCE })
    const original = workOn(world)
    const [first, second] = [await custody.transfer(customer), await custody.transfer(customer)]
    await original.carry(first.id)
    const copy = await createDatabase()
    onTestFinished(() => copy.drop())
    await copyRows(bench.database.url, copy.url)
    await original.carry(second.id)

    const restored = openBareWorld({ url: copy.url, log: silent, parts: custody.parts })
    onTestFinished(restored.stop)
    const { carry, paused } = workOn(restored.world)
    // As if the nodes had forgotten the transaction: a worker would broadcast it again.
    for (const endpoint of stage.endpoints)
      endpoint.become({
        answer: ({ method }) => (method === 'eth_getTransactionByHash' ? { result: null } : undefined),
      })
    sendsSeen()
    await carry(first.id)
    expect(sendsSeen(), 'its stored bytes are not broadcast again').toEqual([])
    expect(paused).toHaveLength(1)
    const accepting = acceptForeignNonces(restored.world, {
      network: 'polygon',
      reason: 'x',
      proposal_id: null,
    })
    await expect(accepting, 'foreign transactions in a mempool').rejects.toMatchObject({
      code: 'not_possible',
      details: { reason: 'foreign_transactions_wait' },
    })
  })
})

test('a wallet that has sent transactions and that the database does not know pays nothing', async () => {
  custody = await openCustodyStage()
  const { bench, world, scene, stage } = custody
  const foreign = scene.order()
  await scene.chain.broadcast(foreign, await scene.sign(foreign))
  await stage.node.mine()
  const { carry, now, paused } = workOn(world)
  const { id } = await custody.transfer(await bench.customer({ USDT: BALANCE }))
  await carry(id)
  expect(await now(id)).toMatchObject({ status: 'pending', nonce: null })
  expect(paused).toHaveLength(1)
  await stage.node.mine(DEEP)
  await bookDifference(world)
  await acceptForeignNonces(world, { network: 'polygon', reason: 'used for tests before', proposal_id: null })
  await carry(id)
  expect(await now(id)).toMatchObject({ status: 'processing', nonce: 1n })
  expect(await bench.findings()).toEqual([])
})

test('the service pauses the rail, and two operators who resume it accept the foreign nonces', async () => {
  custody = await openCustodyStage()
  const { bench, world, scene, stage } = custody
  const foreign = scene.order()
  await scene.chain.broadcast(foreign, await scene.sign(foreign))
  await stage.node.mine()
  const { carry } = transferSteps(world, silent)
  const { id } = await custody.transfer(await bench.customer({ USDT: BALANCE }))
  await carry(await bench.transferNow(id))
  await until(() => isPaused(world, 'polygon'), 20_000)
  await stage.node.mine(DEEP)
  await bookDifference(world)
  await perform(world, { name: 'resume_rail', details: { rail: 'polygon', reason: 'all looked up' } })
  await until(async () => !(await isPaused(world, 'polygon')), 20_000)
  const closed = await exceptionsAbout(world.db, walletId())
  expect(closed).toMatchObject([{ kind: 'foreign_transactions', closed_by: 'service' }])
  await carry(await bench.transferNow(id))
  expect(await bench.transferNow(id)).toMatchObject({ status: 'processing', nonce: 1n })
})

test('a rail that was paused for another reason does not accept foreign nonces that nobody was told of', async () => {
  custody = await openCustodyStage()
  const { bench, world, scene, stage } = custody
  const { id } = await custody.transfer(await bench.customer({ USDT: BALANCE }))
  await pauseRail(world, { rail: 'polygon', by: 'ana@operator.example', reason: 'the backup is restored' })
  const foreign = scene.order()
  await scene.chain.broadcast(foreign, await scene.sign(foreign))
  await stage.node.mine()
  const action = { name: 'resume_rail', details: { rail: 'polygon', reason: 'done' } } as const
  const proposed = await desk.propose(world, action, 'ana@operator.example')
  const found = { code: 'not_possible', details: { reason: 'foreign_transactions_found' } }
  for (let n = 0; n < 2; n++)
    await expect(desk.approve(world, proposed.id, 'bea@operator.example')).rejects.toMatchObject(found)
  expect(await isPaused(world, 'polygon')).toBe(true)
  expect(await problems(world)).toMatchObject([
    ['foreign_transactions', expect.stringMatching('1 transaction ')],
  ])
  const again = await desk.propose(world, action, 'ana@operator.example')
  expect((await describeProposal(world, again)).what).toMatch('1 transaction of wallet')
  await stage.node.mine(DEEP)
  await bookDifference(world)
  await desk.approve(world, again.id, 'bea@operator.example')
  await until(async () => !(await isPaused(world, 'polygon')), 20_000)
  await transferSteps(world, silent).carry(await bench.transferNow(id))
  expect(await bench.transferNow(id)).toMatchObject({ status: 'processing', nonce: 1n })
})

test('foreign nonces are accepted when their transactions are final and the books agree, not when they are mined', async () => {
  custody = await openCustodyStage()
  const { world, scene, stage } = custody
  await stage.node.mine(DEEP)
  await bookDifference(world)
  const [paying, other] = [scene.order(), scene.order()]
  await scene.chain.broadcast(paying, await scene.sign(paying))
  await scene.chain.broadcast(other, await scene.sign(other, [], 'cancel', 1n))
  await pauseRail(world, { rail: 'polygon', by: 'service', reason: 'the chain is ahead' })
  const action = { name: 'resume_rail', details: { rail: 'polygon', reason: 'all looked up' } } as const
  const resume = () => perform(world, action)
  const refused = (reason: string, words: RegExp) => ({
    ...{ code: 'not_possible', sentence: expect.stringMatching(words) },
    details: { reason },
  })
  await expect(resume()).rejects.toMatchObject(refused('foreign_transactions_found', /2 transactions/))
  const waits = (words: RegExp) => refused('foreign_transactions_wait', words)
  await expect(resume()).rejects.toMatchObject(waits(/up to nonce 1, .* Wait until they are mined and deep/))
  await stage.node.mine()
  await expect(resume(), 'mined').rejects.toMatchObject(waits(/Wait until they are deep enough/))
  await stage.node.mine(DEEP - 2)
  await expect(resume(), 'one block is missing').rejects.toMatchObject(waits(/deep enough/))
  await stage.node.mine()
  const differs = refused('books_differ', /1.500000 USDT less .* --out --amount 1500000/)
  await expect(resume(), 'final, and not booked').rejects.toMatchObject(differs)
  expect(await isPaused(world, 'polygon')).toBe(true)
  expect(await bookDifference(world)).toBe(-1_500_000n)
  await resume()
  await until(async () => !(await isPaused(world, 'polygon')), 20_000)
  const { rows } = await world.db.query('SELECT first_nonce, next_nonce FROM wallet_gaps')
  expect(rows).toEqual([{ first_nonce: 0n, next_nonce: 2n }])
})

test('a reconciliation of an endpoint that is behind the final block proves nothing about foreign nonces', async () => {
  let behind = false
  custody = await openCustodyStage()
  const { world, scene, stage, bench } = custody
  const polygon: ChainRail = {
    ...world.chains.polygon,
    async holdings() {
      const held = await world.chains.polygon.holdings()
      return behind ? { ...held, block_height: held.block_height - 1n } : held
    },
  }
  const lagging = { ...world, chains: { ...world.chains, polygon } } as World
  const foreign = scene.order()
  await scene.chain.broadcast(foreign, await scene.sign(foreign))
  await stage.node.mine(DEEP)
  await transferSteps(world, silent).carry(
    await bench.transferNow((await custody.transfer(await bench.customer({ USDT: BALANCE }))).id),
  )
  await bookDifference(world)
  const accept = () =>
    acceptForeignNonces(lagging, { network: 'polygon', reason: 'looked up', proposal_id: null })
  behind = true
  await expect(accept()).rejects.toMatchObject({ details: { reason: 'foreign_transactions_wait' } })
  behind = false
  expect(await accept()).toMatchObject({ first_nonce: 0n, next_nonce: 1n })
})

test('nonces that the only answering one of two endpoints tells are not accepted: an invented one would never be spent', async () => {
  custody = await openCustodyStage()
  const { world, stage } = custody
  await stage.node.mine(DEEP)
  await bookDifference(world)
  await pauseRail(world, { rail: 'polygon', by: 'service', reason: 'looks odd' })
  const [silenced, lying] = stage.endpoints
  silenced.become({ cut: true })
  lying.become({
    rewrite: ({ method }, reply) =>
      method === 'eth_getTransactionCount' ? { ...reply, result: '0x5' } : reply,
  })
  const action = { name: 'resume_rail', details: { rail: 'polygon', reason: 'all looked up' } } as const
  const resume = () => perform(world, action)
  await expect(resume()).rejects.toMatchObject({ details: { reason: 'foreign_transactions_found' } })
  await expect(resume()).rejects.toMatchObject({
    sentence: expect.stringMatching(/Only one endpoint of polygon answers/),
    details: { reason: 'foreign_transactions_wait' },
  })
  const { rows } = await world.db.query('SELECT next_nonce FROM wallets')
  expect(rows).toEqual([{ next_nonce: 0n }])
})

test('the bound on open nonces counts those that are not mined, also while they are in a mempool', async () => {
  custody = await openCustodyStage({ reserved_most: 2 })
  const { bench, world, stage } = custody
  const customer = await bench.customer({ USDT: BALANCE })
  const { carry, now } = workOn(world)
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await custody.transfer(customer)).id)
  for (const id of ids) await carry(id)
  expect((await Promise.all(ids.map(now))).map(({ nonce }) => nonce)).toEqual([0n, 1n, null])
  await stage.node.mine()
  await carry(ids[2]!)
  expect(await now(ids[2]!)).toMatchObject({ status: 'processing', nonce: 2n })
})

/** Orders a transfer through another node than that of the bench. */
async function acceptIn(world: World, customer_id: string): Promise<string> {
  const { destination_address } = custody.scene.order()
  const made = await custody.bench.transfer(customer_id, {
    network: 'polygon',
    destination_address,
    node: world as World<'sandbox'>,
  })
  return made.id
}
