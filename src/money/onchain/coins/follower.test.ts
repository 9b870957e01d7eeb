import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DrawnChain, drawChain, drawTransaction } from '../../../../test/support/drawn-chain.ts'
import { type Bench, openBench } from '../../../../test/support/rail-bench.ts'
import type { Client } from '../../../db/pool.ts'
import type { FollowedBlock } from '../../../rails/chain/bitcoin/rail.ts'
import { addWallet } from '../../custody/wallets.ts'
import { coinIdOf, outpointOf } from './block-effects.ts'
import { type Following, follow } from './follower.ts'
import { sumCoinsAt, tipOf } from './store.ts'

const OURS = '0014aa'
const OTHERS = '0014bb'
const WALLET = 'bitcoin:bc1qours'

let bench: Bench
let db: Client
beforeAll(async () => {
  bench = await openBench()
  await addWallet(bench.world.db, 'bitcoin', { wallet: 'bc1qours' })
  db = (await bench.world.db.connect()) as unknown as Client
})
afterAll(async () => {
  ;(db as unknown as { release(): void }).release()
  await bench.stop()
})
beforeEach(() => bench.admin('TRUNCATE coins, blocks, foreign_spends'))

const followingOf = (chain: DrawnChain): Following => ({
  network: 'bitcoin',
  wallet_id: WALLET,
  script: OURS,
  rail: chain.rail,
  start_height: chain.genesis.block_height,
})

type Shown = {
  id: string
  amount: bigint
  height: bigint
  spent_by: string | null
  spent_height: bigint | null
}

/** What the stored coins say of the chain: those that are in a block. */
async function stored(): Promise<Shown[]> {
  const { rows } = await db.query(
    'SELECT id, amount, block_height AS height, spent_by, spent_height FROM coins WHERE block_height IS NOT NULL ORDER BY id',
  )
  return rows
}

/** The same, computed from the blocks of one branch alone. */
function expected(branch: readonly FollowedBlock[]): Shown[] {
  const coins = new Map<string, Shown>()
  for (const { block_height, transactions } of branch)
    for (const { txid, inputs, outputs } of transactions) {
      for (const input of inputs) {
        const coin = coins.get(coinIdOf(input))
        if (coin) coins.set(coin.id, { ...coin, spent_by: txid, spent_height: block_height })
      }
      outputs.forEach(({ script, amount }, vout) => {
        const id = coinIdOf({ txid, vout })
        if (script === OURS)
          coins.set(id, { id, amount, height: block_height, spent_by: null, spent_height: null })
      })
    }
  return [...coins.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

test('coins are found, spent and summed as of any block; coinbase outputs are marked', async () => {
  const chain = drawChain()
  const miner = drawTransaction('miner', { outputs: [{ amount: 50n, script: OURS }] })
  const paid = drawTransaction('paid', {
    inputs: [{ txid: 'ff'.repeat(32), vout: 1 }],
    outputs: [
      { amount: 5n, script: OTHERS },
      { amount: 7n, script: OURS },
    ],
  })
  const spender = drawTransaction('spender', {
    inputs: [{ txid: paid.txid, vout: 1 }],
    outputs: [{ amount: 6n, script: OTHERS }],
  })
  chain.grow([miner])
  chain.grow([drawTransaction('other miner', {}), paid])
  chain.grow([drawTransaction('third miner', {}), spender])
  expect(await follow(db, followingOf(chain))).toMatchObject({ kind: 'at_head', foreign: [spender.txid] })
  expect(await tipOf(db, 'bitcoin')).toMatchObject({ hash: chain.head().block_hash })
  const { rows } = await db.query('SELECT id, is_coinbase, made_by FROM coins ORDER BY amount')
  expect(rows).toEqual([
    { id: `${paid.txid}:1`, is_coinbase: false, made_by: null },
    { id: `${miner.txid}:0`, is_coinbase: true, made_by: null },
  ])
  const sums = await Promise.all(
    [0n, 1n, 2n, 3n].map((height) =>
      sumCoinsAt(bench.world.db, { wallet_id: WALLET, network: 'bitcoin' }, height).then(
        ({ in_wallet }) => in_wallet,
      ),
    ),
  )
  expect(sums).toEqual([0n, 50n, 57n, 50n])
})

test('a foreign spend is told once, and its row stays when the block is undone', async () => {
  const chain = drawChain()
  const paid = drawTransaction('paid', { outputs: [{ amount: 7n, script: OURS }] })
  const spender = drawTransaction('spender', { inputs: [{ txid: paid.txid, vout: 0 }] })
  const fork = chain.grow([paid])
  chain.grow([drawTransaction('m', {}), spender])
  expect(await follow(db, followingOf(chain))).toMatchObject({ foreign: [spender.txid] })
  const second = chain.grow([drawTransaction('n', {}), spender], fork)
  chain.setHead(chain.grow([], second))
  expect(await follow(db, followingOf(chain))).toMatchObject({ kind: 'at_head', foreign: [] })
  expect((await db.query('SELECT txid FROM foreign_spends')).rows).toEqual([{ txid: spender.txid }])
})

test('a reorganisation below the oldest stored block stops the follower and changes nothing', async () => {
  const chain = drawChain()
  const low = chain.grow([drawTransaction('paid', { outputs: [{ amount: 7n, script: OURS }] })])
  chain.grow()
  const following = followingOf(chain)
  expect(await follow(db, following)).toMatchObject({ kind: 'at_head' })
  await bench.admin('DELETE FROM blocks WHERE height < 2')
  const before = await stored()
  const other = chain.grow([], low)
  chain.setHead(chain.grow([], other))
  expect(await follow(db, following)).toMatchObject({ kind: 'lost', oldest: { height: 2n } })
  expect(await stored()).toEqual(before)
})

test('a reorganisation that takes the very first block that was read is followed', async () => {
  const chain = drawChain()
  const low = chain.grow()
  chain.grow([drawTransaction('paid', { outputs: [{ amount: 7n, script: OURS }] })])
  const following = { ...followingOf(chain), start_height: 2n }
  expect(await follow(db, following)).toMatchObject({ kind: 'at_head' })
  const again = drawTransaction('again', { outputs: [{ amount: 8n, script: OURS }] })
  chain.setHead(chain.grow([], chain.grow([again], low)))
  expect(await follow(db, following)).toMatchObject({ kind: 'at_head' })
  expect(await stored()).toMatchObject([{ amount: 8n, height: 2n }])
  expect((await tipOf(db, 'bitcoin'))?.hash).toBe(chain.head().block_hash)
})

test('an endpoint that tells a false height of the first block is not believed', async () => {
  const chain = drawChain()
  chain.grow()
  const following = followingOf(chain)
  const block = async (hash: string) => ({ ...(await chain.rail.block(hash)), block_height: 1000n })
  const lied = follow(db, { ...following, rail: { ...chain.rail, block } })
  await expect(lied).rejects.toThrow('is said to be at height 1000')
  expect(await follow(db, following)).toMatchObject({ kind: 'at_head' })
  expect(await tipOf(db, 'bitcoin')).toMatchObject({ height: 1n })
})

test('of the blocks the newest 2,016 are kept', async () => {
  const chain = drawChain(3000n)
  for (let n = 0; n < 5; n++) chain.grow()
  await follow(db, followingOf(chain))
  await bench.admin(`UPDATE blocks SET height = height - 2014 WHERE height < 3005`)
  chain.grow()
  await follow(db, followingOf(chain))
  const { rows } = await db.query('SELECT height FROM blocks ORDER BY height')
  expect(rows.map(({ height }) => height)).toEqual([3005n, 3006n])
})

test('a head below the newest stored block, on the same branch, undoes nothing', async () => {
  const chain = drawChain()
  const low = chain.grow()
  const top = chain.grow()
  await follow(db, followingOf(chain))
  chain.setHead(low)
  expect(await follow(db, followingOf(chain))).toMatchObject({ kind: 'at_head' })
  expect(await tipOf(db, 'bitcoin')).toMatchObject({ hash: top.block_hash })
})

test('two followers at once apply each block once', async () => {
  const chain = drawChain()
  for (let n = 0; n < 12; n++)
    chain.grow([drawTransaction(`paid ${n}`, { outputs: [{ amount: 7n, script: OURS }] })])
  const other = await bench.world.db.connect()
  try {
    await Promise.all([follow(db, followingOf(chain)), follow(other, followingOf(chain))])
  } finally {
    other.release()
  }
  expect(await stored()).toEqual(expected(chain.branchOf(chain.head())))
})

/** One more block on any block drawn before; its transactions spend and make coins, by small numbers. */
const anyStep = fc.record({
  on: fc.nat({ max: 30 }),
  spends: fc.array(fc.nat({ max: 30 }), { maxLength: 3 }),
  makes: fc.array(fc.boolean(), { maxLength: 3 }),
  repeats: fc.boolean(),
  is_followed: fc.boolean(),
})

test('whatever branches were followed before, the coins are those of the last branch alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 14 }), async (steps) => {
      await bench.admin('TRUNCATE coins, blocks, foreign_spends')
      const chain = drawChain()
      const blocks = [chain.genesis]
      let drawn = 0
      for (const step of steps) {
        const parent = blocks[step.on % blocks.length]!
        const branch = chain.branchOf(parent)
        const open = expected(branch).filter(({ spent_by }) => spent_by === null)
        const spent = [...new Set(step.spends.map((n) => open[n % Math.max(1, open.length)]?.id))]
        const transaction = drawTransaction(`${drawn++} of ${blocks.length}`, {
          inputs: spent.flatMap((id) => (id === undefined ? [] : [outpointOf(id)])),
          outputs: step.makes.map((ours, n) => ({ amount: BigInt(n + 1), script: ours ? OURS : OTHERS })),
        })
        // The same transaction may be in both branches, as after most reorganisations.
        const of_other = blocks.flatMap(({ transactions }) => transactions.slice(1)).at(-1)
        const is_new = (one = of_other) =>
          one !== undefined &&
          !branch.some(({ transactions }) => transactions.some(({ txid }) => txid === one.txid)) &&
          one.inputs.every((input) => open.some(({ id }) => id === coinIdOf(input)))
        const body = step.repeats && is_new() ? [of_other!] : [transaction]
        // Spent in the same block, too.
        const vout = transaction.outputs.findIndex(({ script }) => script === OURS)
        if (body[0] === transaction && vout >= 0 && step.spends.length > 2)
          body.push(drawTransaction(`child ${drawn++}`, { inputs: [{ txid: transaction.txid, vout }] }))
        const block = chain.grow([drawTransaction(`miner ${drawn++}`, {}), ...body], parent)
        blocks.push(block)
        const tip = await tipOf(db, 'bitcoin')
        // A chain moves to a branch of at least the same height.
        if (step.is_followed && block.block_height >= (tip?.height ?? 0n)) {
          chain.setHead(block)
          expect(await follow(db, followingOf(chain))).toMatchObject({ kind: 'at_head' })
          expect(await stored()).toEqual(expected(chain.branchOf(block)))
        }
      }
    }),
    { numRuns: 25 },
  )
})
