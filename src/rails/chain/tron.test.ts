import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { draftsInMemory } from '../../../test/chains/tron-drafts.ts'
import { startTronStub } from '../../../test/chains/tron-stub.ts'
import { sealOf } from '../signer/seal.ts'
import { type Signer, SignerUnavailable, type SignRequest } from '../signer/signer.ts'
import { localTronSigner } from '../signer/tron.ts'
import { ChainCheckFailed } from './check.ts'
import type { Attempt, ChainOrder, Made } from './rail.ts'
import { tronAddressOfKey } from './tron/address.ts'
import { openTronRpc } from './tron/nodes.ts'
import { trc20TransferData } from './tron/token.ts'
import { encodeRaw, refBlockOf, signRaw, txIdOf } from './tron/transaction.ts'
import { openTronRail } from './tron.ts'

/** The rail over a stub of Tron (test/chains/tron-stub.ts), whose clock the test sets. */
const key = createHash('sha256').update('a wallet of tests on tron').digest('hex')
const wallet = tronAddressOfKey(Buffer.from(key, 'hex'))
const seal_key = createHash('sha256').update('a seal key').digest()
const destination_address = 'TWqvtpZkwfpbjujqJtzLsVx5bm79wFDJTg'
const amount = 25_000_000n
const reservation = { wallet, nonce: 0n }
const MINUTE_MS = 60_000

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function openStage({ nodes = 1, fee_most = 30_000_000n, depth = 2 } = {}) {
  let time = Date.now()
  const now = () => time
  const stub = await startTronStub({ nodes, now, solid_depth: depth })
  closing.push(stub.stop)
  stub.fund(wallet, { tokens: 1_000_000_000n, sun: 1_000_000_000n })
  stub.mine(depth + 1)
  const clock = { now }
  const rpc = openTronRpc({
    ...{ urls: stub.nodes.map(({ url }) => url), genesis: stub.genesis, clock },
    ...{ rest_ms: 50, inspect_after_ms: 0, timeout_ms: 60_000 },
  })
  closing.push(rpc.stop)
  const per_hour = { count: 100, amount: 10n ** 12n, cost: 10n ** 12n }
  const own = localTronSigner({ key, sealKey: async () => seal_key, fee_most, per_hour, clock })
  const asked: SignRequest[] = []
  const trouble = { is_away: false, loses_answers: false }
  const signer: Signer = {
    ...own,
    async keepRoom(payment) {
      if (trouble.is_away) throw new SignerUnavailable('The signer does not answer (ENOENT).')
      return own.keepRoom(payment)
    },
    async sign(request) {
      if (trouble.is_away) throw new SignerUnavailable('The signer does not answer (ENOENT).')
      asked.push(request)
      const signed = await own.sign(request)
      if (trouble.loses_answers) throw new SignerUnavailable('The signer does not answer (timeout).')
      return signed
    },
  }
  const drafts = draftsInMemory()
  const rail = openTronRail({ rpc, signer, drafts, fee_most, clock })
  return {
    ...{ stub, rail, drafts, asked, trouble },
    /** Time passes, and blocks are made. */
    pass(ms: number, blocks = depth + 1) {
      time += ms
      stub.mine(blocks)
    },
    now,
  }
}

function orderOf(changes: Partial<ChainOrder> = {}): ChainOrder {
  const order = {
    ...({ id: 'tr_1', asset: 'USDT', network: 'tron', destination_address, amount } as const),
    ...{ created_at: new Date(), seal: null, ...changes },
  }
  const { id: transfer_id, network } = order
  const seal = sealOf(seal_key, {
    transfer_id,
    network,
    destination_address: order.destination_address,
    amount: order.amount,
  })
  return { ...order, seal }
}

const order = orderOf()

function attemptOf(made: Made, attempt = 1): Attempt {
  if (made.kind !== 'signed') throw new Error(`not signed: ${made.why}`)
  return { ...made.transaction, attempt, created_at: new Date() }
}

type Stage = Awaited<ReturnType<typeof openStage>>
const sign = async ({ rail }: Stage, made: readonly Attempt[] = []) =>
  attemptOf(await rail.attempt(order, reservation, made, 'pay'), made.length + 1)
/** A payment of the order that the rail does not know. */
function signElsewhere({ stub, now }: Stage): Attempt {
  const raw = encodeRaw({
    ...{ owner: wallet, contract: stub.contract, data: trc20TransferData(destination_address, amount) },
    ...{ ref_block: refBlockOf(stub.solid().hash), timestamp: BigInt(now()), fee_limit: 10_000_000n },
    expiration: BigInt(now() + 10 * MINUTE_MS),
  })
  const signed = signRaw(raw, Buffer.from(key, 'hex'))
  return {
    ...{ purpose: 'pay', tx_hash: txIdOf(raw), signed, terms: {}, attempt: 9, created_at: new Date() },
  }
}
const lookAt = ({ rail }: Stage, made: readonly Attempt[]) => rail.look(order, reservation, made)

describe('a payment', () => {
  test('is signed, taken, mined and final when its block is solidified', async () => {
    const stage = await openStage()
    const { rail, stub } = stage
    await rail.check()
    expect(await rail.screen(order)).toEqual({ kind: 'payable' })
    const attempt = await sign(stage)
    expect(attempt.terms).toMatchObject({
      fee_limit: '8357100',
      energy: '83571',
      expiration: `${stage.now() + 10 * MINUTE_MS}`,
    })
    expect(await lookAt(stage, [attempt])).toEqual({ kind: 'absent' })
    expect(await rail.broadcast(order, attempt)).toEqual({ kind: 'accepted' })
    expect(await rail.broadcast(order, attempt), 'DUP_TRANSACTION_ERROR').toEqual({ kind: 'accepted' })
    stage.pass(3000, 1)
    const { height, hash } = stub.head()
    expect(await lookAt(stage, [attempt])).toEqual({ kind: 'waiting' })
    stage.pass(3000, 2)
    expect(await lookAt(stage, [attempt])).toEqual({
      ...{ kind: 'mined', tx_hash: attempt.tx_hash, effect: 'paid' },
      ...{ block_height: height, block_hash: hash, gas_paid_wei: 6_428_500n },
    })
    expect(stub.balanceOf(destination_address)).toBe(amount)
    expect(await rail.holdings()).toMatchObject({ wallet, asset: 975_000_000n, native: 993_571_500n })
    expect(await rail.outgoingAt(height)).toMatchObject({ hash, outgoing: [attempt.tx_hash] })
    expect((await rail.outgoingAt(height - 1n)).outgoing).toEqual([])
  })

  test('is made again only when the first can never be mined', async () => {
    const stage = await openStage()
    const { rail, stub } = stage
    const first = await sign(stage)
    const again = () => rail.attempt(order, reservation, [first], 'pay')
    expect(await again()).toMatchObject({ kind: 'later', why: 'not_worth_it' })
    // Past the expiry by the head, and not by a solidified block.
    stage.pass(9 * MINUTE_MS)
    stage.pass(MINUTE_MS + 1, 1)
    expect(await lookAt(stage, [first])).toEqual({ kind: 'absent' })
    expect(await again()).toMatchObject({ kind: 'later', why: 'not_worth_it' })
    expect(await rail.broadcast(order, first), 'expired bytes').toEqual({ kind: 'unknown' })
    stage.pass(2 * MINUTE_MS)
    expect(await lookAt(stage, [first])).toEqual({ kind: 'expired' })
    const second = attemptOf(await again(), 2)
    expect(second.tx_hash).not.toBe(first.tx_hash)
    expect(await lookAt(stage, [first, second])).toEqual({ kind: 'absent' })
    await rail.broadcast(order, second)
    stage.pass(3000)
    expect(await lookAt(stage, [first, second])).toMatchObject({
      kind: 'mined',
      tx_hash: second.tx_hash,
      effect: 'paid',
    })
    expect(stub.balanceOf(destination_address)).toBe(amount)
  })

  test('that is mined in the last moment is no reason for a second one', async () => {
    const stage = await openStage()
    const { rail, stub } = stage
    const first = await sign(stage)
    stage.pass(9 * MINUTE_MS)
    await rail.broadcast(order, first)
    // The block comes after the expiry, its predecessor before: java-tron takes the transaction.
    stage.pass(MINUTE_MS + 1, 1)
    expect(stub.mined().map(({ id }) => id)).toEqual([first.tx_hash])
    expect(await lookAt(stage, [first])).toEqual({ kind: 'waiting' })
    expect(await rail.attempt(order, reservation, [first], 'pay')).toMatchObject({ kind: 'later' })
    stage.pass(3000)
    expect(await lookAt(stage, [first])).toMatchObject({ kind: 'mined', effect: 'paid' })
  })

  test('that is mined while another one of its transfer may be mined does not end the transfer yet', async () => {
    const stage = await openStage()
    const { rail } = stage
    const first = await sign(stage)
    stage.pass(12 * MINUTE_MS + 1000)
    const second = await sign(stage, [first])
    await rail.broadcast(order, second)
    stage.pass(3000)
    // As if a third had been signed beside it: the bytes of the second are mined, the others live on.
    const third = signElsewhere(stage)
    expect(await lookAt(stage, [first, second])).toMatchObject({ kind: 'mined', tx_hash: second.tx_hash })
    expect(await lookAt(stage, [first, second, third])).toEqual({ kind: 'waiting' })
    stage.pass(12 * MINUTE_MS + 1000)
    expect(await lookAt(stage, [first, second, third])).toMatchObject({
      ...{ kind: 'mined', tx_hash: second.tx_hash, effect: 'paid' },
    })
  })

  test('whose signature was lost on its way is asked for again as the same bytes, and named once they are past', async () => {
    const stage = await openStage()
    const { rail, stub, asked, trouble } = stage
    const again = () => rail.attempt(order, reservation, [], 'pay')
    trouble.loses_answers = true
    expect(await again()).toMatchObject({ kind: 'later', why: 'signer_unavailable' })
    stage.pass(MINUTE_MS)
    expect(await again()).toMatchObject({ kind: 'later', why: 'signer_unavailable' })
    trouble.loses_answers = false
    expect(asked[1]!.unsigned).toBe(asked[0]!.unsigned)
    // The signature that was lost may be out until it is past.
    stage.pass(11 * MINUTE_MS)
    expect(await again()).toMatchObject({ kind: 'later', why: 'not_worth_it' })
    expect(asked).toHaveLength(2)
    stage.pass(MINUTE_MS + 1000)
    const attempt = attemptOf(await again())
    expect(asked.at(-1)!.earlier).toEqual([txIdOf(asked[0]!.unsigned)])
    await rail.broadcast(order, attempt)
    stage.pass(3000)
    expect(await lookAt(stage, [attempt])).toMatchObject({ kind: 'mined', effect: 'paid' })
    expect(stub.mined()).toHaveLength(1)
  })

  test('whose signature was lost and is mined nevertheless is no reason for a second one', async () => {
    const stage = await openStage()
    const { rail, stub, asked, trouble } = stage
    trouble.loses_answers = true
    await rail.attempt(order, reservation, [], 'pay')
    trouble.loses_answers = false
    stub.take(signRaw(asked[0]!.unsigned, Buffer.from(key, 'hex')))
    stage.pass(20 * MINUTE_MS)
    await expect(rail.attempt(order, reservation, [], 'pay')).rejects.toThrow(
      `its payment ${txIdOf(asked[0]!.unsigned)} was mined, and the service has the draft of it and no signature`,
    )
    expect(asked).toHaveLength(1)
  })

  test('whose signature was lost gives no money back until it is past, and none that was mined is read too late', async () => {
    const stage = await openStage()
    const { rail, stub, asked, trouble } = stage
    trouble.loses_answers = true
    await rail.attempt(order, reservation, [], 'pay')
    expect(await lookAt(stage, []), 'it may be mined').toEqual({ kind: 'expired', is_drafted: true })
    stage.pass(12 * MINUTE_MS)
    expect(await lookAt(stage, [])).toEqual({ kind: 'expired', is_drafted: true })
    stage.pass(MINUTE_MS)
    expect(await lookAt(stage, [])).toEqual({ kind: 'expired' })

    await rail.attempt(order, reservation, [], 'pay')
    stub.take(signRaw(asked[1]!.unsigned, Buffer.from(key, 'hex')))
    stage.pass(MINUTE_MS)
    expect(stub.mined()).toHaveLength(1)
    stage.pass(12 * MINUTE_MS)
    expect(await lookAt(stage, [])).toEqual({ kind: 'expired', is_drafted: true })
    stage.pass(2 * MINUTE_MS)
    expect(await lookAt(stage, [])).toEqual({ kind: 'expired' })
  })

  test('is not kept open by rows among the drafts that no signer would sign', async () => {
    const stage = await openStage()
    const raw = encodeRaw({
      ...{
        owner: wallet,
        contract: stage.stub.contract,
        data: trc20TransferData(destination_address, amount),
      },
      ...{ ref_block: refBlockOf(stage.stub.solid().hash), timestamp: 0n, fee_limit: 10_000_000n },
      expiration: BigInt(stage.now() + 1000 * MINUTE_MS),
    })
    for (const [index, bytes] of [raw, 'ab'].entries())
      await stage.drafts.keep(
        { transfer_id: order.id, number: index + 1 },
        { raw: bytes, terms: {}, tx_hash: txIdOf(bytes) },
      )
    expect(await lookAt(stage, [])).toEqual({ kind: 'expired' })
  })

  test('waits while the signer is away, and is not drafted', async () => {
    const stage = await openStage()
    const { rail, drafts, trouble } = stage
    trouble.is_away = true
    expect(await rail.screen(order)).toMatchObject({ kind: 'later', why: 'signer_unavailable' })
    expect(await rail.attempt(order, reservation, [], 'pay')).toMatchObject({ why: 'signer_unavailable' })
    expect(await drafts.draftsOf(order.id)).toEqual([])
    trouble.is_away = false
    expect(await rail.attempt(order, reservation, [], 'pay')).toMatchObject({ kind: 'signed' })
  })

  test('is drafted once for two nodes that sign at the same time', async () => {
    const stage = await openStage()
    const signed = await Promise.all([1, 2, 3].map(() => sign(stage)))
    expect(new Set(signed.map(({ tx_hash }) => tx_hash)).size).toBe(1)
  })

  test('that a reorganisation removes is sent again as the same bytes', async () => {
    const stage = await openStage()
    const { rail, stub } = stage
    const first = await sign(stage)
    await rail.broadcast(order, first)
    stage.pass(3000, 1)
    stub.reorganise(1)
    expect(await lookAt(stage, [first])).toEqual({ kind: 'absent' })
    expect(await rail.broadcast(order, first)).toEqual({ kind: 'accepted' })
    stage.pass(3000)
    expect(await lookAt(stage, [first])).toMatchObject({ kind: 'mined', effect: 'paid' })
  })

  test.each([
    ['reverts', 'none'],
    ['out_of_energy', 'none'],
    ['takes_fee', 'other'],
  ] as const)('to an address that %s: %s', async (effect, expected) => {
    const stage = await openStage()
    stage.stub.effects.set(destination_address, effect)
    const attempt = await sign(stage)
    await stage.rail.broadcast(order, attempt)
    stage.pass(3000)
    expect(await lookAt(stage, [attempt])).toMatchObject({ kind: 'mined', effect: expected })
  })

  test('a cancel signs nothing; without a signature nothing can be mined', async () => {
    const stage = await openStage()
    expect(await stage.rail.attempt(order, reservation, [], 'cancel')).toMatchObject({
      kind: 'later',
      why: 'not_worth_it',
    })
    expect(await lookAt(stage, [])).toEqual({ kind: 'expired' })
  })
})

describe('waits', () => {
  const screened = async (stage: Stage, asked = order) => {
    const answer = await stage.rail.screen(asked)
    return answer.kind === 'later' ? answer.why : answer
  }
  test('for TRX, unless energy and bandwidth are staked', async () => {
    const stage = await openStage()
    stage.stub.fund(wallet, { sun: -999_999_999n })
    expect(await screened(stage)).toBe('gas_coin_too_low')
    stage.stub.staked.energy = 200_000n
    expect(await screened(stage)).toEqual({ kind: 'payable' })
    stage.stub.staked.free = 0n
    expect(await screened(stage)).toBe('gas_coin_too_low')
    stage.stub.staked.bandwidth = 500n
    expect(await screened(stage)).toEqual({ kind: 'payable' })
  })
  test('while energy costs more than the cap, also staked', async () => {
    const stage = await openStage({ fee_most: 9_000_000n })
    expect(await screened(stage)).toEqual({ kind: 'payable' })
    stage.stub.staked.energy = 200_000n
    stage.stub.prices.energy = 210n
    expect(await screened(stage)).toBe('fee_above_cap')
    expect(await stage.rail.attempt(order, reservation, [], 'pay')).toMatchObject({ why: 'fee_above_cap' })
  })
  test('for USDT, for a token that is paused, for a wallet that is blocked', async () => {
    const stage = await openStage()
    expect(await screened(stage, orderOf({ amount: 2_000_000_000n }))).toBe('wallet_too_empty')
    stage.stub.is_paused = true
    expect(await screened(stage)).toBe('token_reverts')
    stage.stub.blocked.add(wallet)
    expect(await screened(stage)).toBe('wallet_blocked')
  })
})

describe('refuses', () => {
  test.each([
    ['its own wallet', wallet, 'destination_is_wallet'],
    ['the contract', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'destination_is_token'],
    ['an address that the token blocks', destination_address, 'token_refuses'],
  ])('%s', async (_, to, rail_code) => {
    const { rail, stub } = await openStage({ nodes: 2 })
    stub.blocked.add(destination_address)
    expect(await rail.screen(orderOf({ destination_address: to }))).toEqual({ kind: 'refused', rail_code })
  })
})

describe('endpoints', () => {
  test('one that hides a mined payment makes no second one', async () => {
    const stage = await openStage({ nodes: 2 })
    const { rail, stub } = stage
    const attempt = await sign(stage)
    await rail.broadcast(order, attempt)
    stage.pass(13 * MINUTE_MS)
    stub.nodes[0]!.lie = (path, answer) => (/transaction(?:info)?byid$/.test(path) ? {} : answer)
    expect(await lookAt(stage, [attempt]), 'they contradict each other').toEqual({ kind: 'waiting' })
    expect(await rail.attempt(order, reservation, [attempt], 'pay')).toMatchObject({ kind: 'later' })
    stub.nodes[1]!.is_down = true
    expect(await lookAt(stage, [attempt]), 'one alone decides nothing').toEqual({ kind: 'waiting' })
  })

  test('one whose nodes differ by some blocks makes no second payment', async () => {
    const stage = await openStage()
    const { rail, stub } = stage
    const attempt = await sign(stage)
    await rail.broadcast(order, attempt)
    stage.pass(9 * MINUTE_MS)
    // The newest block is told by one node, transactions by another, which has not heard of the last minutes.
    stub.nodes[0]!.lie = (path, answer) => (/transaction(?:info)?byid$/.test(path) ? {} : answer)
    stage.pass(3 * MINUTE_MS - 1000)
    expect(await lookAt(stage, [attempt])).toEqual({ kind: 'absent' })
    expect(await rail.attempt(order, reservation, [attempt], 'pay')).toMatchObject({ kind: 'later' })
    stub.nodes[0]!.lie = undefined
    stage.pass(MINUTE_MS)
    expect(await lookAt(stage, [attempt])).toMatchObject({ kind: 'mined', effect: 'paid' })
  })

  test('receipts that are switched off do not make a payment lost', async () => {
    const stage = await openStage()
    const attempt = await sign(stage)
    await stage.rail.broadcast(order, attempt)
    stage.pass(13 * MINUTE_MS)
    stage.stub.nodes[0]!.lie = (path, answer) => (path.endsWith('gettransactioninfobyid') ? {} : answer)
    expect(await lookAt(stage, [attempt])).toEqual({ kind: 'waiting' })
    await expect(stage.rail.check()).rejects.toThrow(/transHistory/)
  })

  test('a solidified block from the future proves no expiry', async () => {
    const stage = await openStage()
    const attempt = await sign(stage)
    stage.stub.nodes[0]!.lie = (path, answer) => {
      if (path !== 'walletsolidity/getblock') return answer
      const told = structuredClone(answer) as { block_header: { raw_data: { timestamp: number } } }
      told.block_header.raw_data.timestamp += 24 * 60 * MINUTE_MS
      return told
    }
    expect(await lookAt(stage, [attempt])).toEqual({ kind: 'absent' })
  })

  test('an answer that is lost is unknown, and the payment is found all the same', async () => {
    const stage = await openStage()
    const attempt = await sign(stage)
    stage.stub.nodes[0]!.loses_answers = true
    expect(await stage.rail.broadcast(order, attempt)).toEqual({ kind: 'unknown' })
    stage.pass(3000)
    expect(await lookAt(stage, [attempt])).toMatchObject({ kind: 'mined', effect: 'paid' })
  })

  test('broadcasts go to all of them', async () => {
    const stage = await openStage({ nodes: 2 })
    const attempt = await sign(stage)
    await stage.rail.broadcast(order, attempt)
    for (const { asked } of stage.stub.nodes) expect(asked.get('wallet/broadcasthex')).toBe(1)
  })

  test('one of another chain is refused by the check', async () => {
    const { stub } = await openStage()
    const rpc = openTronRpc({ urls: [stub.nodes[0]!.url] })
    closing.push(rpc.stop)
    const signer = localTronSigner({
      ...{ key, sealKey: async () => seal_key, fee_most: 1n },
      per_hour: { count: 1, amount: 1n, cost: 1n },
    })
    const failed = await openTronRail({ rpc, signer, drafts: draftsInMemory(), fee_most: 1n })
      .check()
      .catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(ChainCheckFailed)
    expect(failed).toMatchObject({ part: 'chain' })
  })

  test.each([
    ['no JSON', '<html>'],
    ['an error', { Error: 'class java.lang.NullPointerException : null' }],
    ['another transaction', { id: 'ab'.repeat(32), txID: 'ab'.repeat(32), blockNumber: 3 }],
    ['a list', [{}]],
    ['text for a height', { id: 'x', blockNumber: '0x3' }],
  ])('nonsense is unknown: %s', async (_, told) => {
    const stage = await openStage()
    const attempt = await sign(stage)
    await stage.rail.broadcast(order, attempt)
    stage.pass(13 * MINUTE_MS)
    stage.stub.nodes[0]!.lie = (path, answer) => (/transaction(?:info)?byid$/.test(path) ? told : answer)
    await expect(lookAt(stage, [attempt])).rejects.toThrow(/no endpoint answers/)
  })

  test('amounts above 2^53 are read exactly', async () => {
    const stage = await openStage()
    const much = 9_007_199_254_740_993n
    stage.stub.nodes[0]!.lie = (path, answer) =>
      path.endsWith('getaccount')
        ? JSON.stringify(answer).replace(/"balance":[0-9]+/, `"balance":${much}`)
        : answer
    expect((await stage.rail.holdings()).native).toBe(much)
  })

  test('holdings of more addresses than can be read within a block are those of one block', async () => {
    const { stub, rail } = await openStage({ nodes: 2 })
    const addresses = Array.from({ length: 70 }, (_, n) =>
      tronAddressOfKey(createHash('sha256').update(`deposits ${n}`).digest()),
    )
    const moves = addresses.map((to) => ({ from: wallet, to, amount: 5n }))
    stub.call({ moves, result: 'SUCCESS' })
    stub.mine(5)
    let asked = 0
    const moved = () => {
      if (++asked > 130 || asked % 30 > 0) return
      // An address that was read already pays the wallet, and another one is paid.
      const [first, second] = addresses.slice(asked / 30)
      const swept = { from: first!, to: wallet, amount: 5n }
      const paid = { from: wallet, to: second!, amount: 1n }
      stub.call({ moves: [swept, paid], result: 'SUCCESS' })
      stub.mine(1)
    }
    for (const node of stub.nodes)
      node.lie = (path, answer) => {
        if (path.endsWith('triggerconstantcontract')) moved()
        return answer
      }
    const held = await rail.holdings(addresses)
    const figures = new Map(held.held_at!.map((one) => [one.address, one.amount]))
    expect(asked, 'some were asked about again, not all').toBeGreaterThan(2 * (addresses.length + 1))
    expect(asked).toBeLessThan(3 * addresses.length)
    expect(held.asset + held.at_addresses, 'what moves among ours stays ours').toBe(1_000_000_000n)
    // All of the last moves are solidified when nothing moves any more.
    stub.mine(5)
    const after = await rail.holdings(addresses)
    for (const { address, amount: now } of after.held_at!) expect(now).toBe(stub.balanceOf(address))
    expect(figures.get(addresses[1]!), 'swept while the others were read').toBe(0n)
  })

  test('holdings that differ at one block are none', async () => {
    const stage = await openStage({ nodes: 2 })
    stage.stub.nodes[1]!.lie = (path, answer) =>
      path.endsWith('getaccount') ? { ...(answer as object), balance: 1 } : answer
    await expect(stage.rail.holdings()).rejects.toMatchObject({ details: { why: 'endpoints_disagree' } })
  })
})
