import type { Logger } from 'pino'
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { openTokenReader } from '../../src/money/deposits/unknown-tokens.ts'
import {
  countUnknownTokens,
  newestUnknownTokens,
  UNKNOWN_TOKENS_KEPT,
} from '../../src/money/deposits/unknown-tokens-store.ts'
import { TRANSFER_TOPIC } from '../../src/rails/chain/evm/token.ts'
import { silent } from '../support/rail-bench.ts'
import { hex } from './anvil.ts'
import { chainTest as test } from './chain-test.ts'
import { DEEP, type DepositStage, openDepositStage } from './deposit-stage.ts'
import { deployToken, type TestToken } from './token.ts'

const STRANGER = '0x00000000000000000000000000000000000000f1'
const USDT = 1_000_000n
const LARGEST = 2n ** 256n - 1n

let stage: DepositStage
let other: TestToken
beforeEach(async () => {
  stage = await openDepositStage()
  other = await deployToken(stage.node, STRANGER)
  await stage.find()
  // The first run stores where the reading begins.
  await readTokens()
})
afterEach(async () => {
  expect(await stage.bench.findings()).toEqual([])
  await stage.stop()
})

/** One run of a reader that was opened just now. */
async function readTokens(log: Pick<Logger, 'warn'> = silent): Promise<void> {
  const { network, scene, world } = stage
  const db = await world.db.connect()
  try {
    await openTokenReader({ network, otherTokens: scene.chain.payments!.otherTokens!, log }).read(db)
  } finally {
    db.release()
  }
}

const shown = () => newestUnknownTokens(stage.world.db, stage.network, 100)
const count = () => countUnknownTokens(stage.world.db, stage.network)

/** Blocks until everything is final, read by the finder and then by the reader of tokens. */
async function settle(): Promise<void> {
  await stage.node.mine(DEEP)
  await stage.find()
  await readTokens()
}

async function actAsStranger(fields: Readonly<Record<string, string>>): Promise<string> {
  const { node } = stage
  const tx_hash = await node.call<string>('eth_sendTransaction', {
    ...{ from: STRANGER, gas: hex(14_000_000) },
    ...fields,
  })
  await node.mine()
  const receipt = await node.call<{ status: string; contractAddress: string }>(
    'eth_getTransactionReceipt',
    tx_hash,
  )
  expect(receipt.status).toBe('0x1')
  return receipt.contractAddress
}

/** Creation code that returns this code of at most 255 bytes. */
const creation = (code: string): string => {
  const length = (code.length / 2).toString(16).padStart(2, '0')
  return `0x60${length}600c60003960${length}6000f3${code}`
}
const topic = TRANSFER_TOPIC.slice(2)
const word = (value: string | bigint): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')

/** Logs a transfer with four topics, as an NFT does, to the address in the call. */
const NFT = creation(`60016000356000${`7f${topic}`}60006000a400`)
/** Logs as many transfers to the address as the second word of the call says. */
const FLOOD = creation(`6020355b806000526000356000${`7f${topic}`}60206000a3600190038060035700`)

describe('another token at a deposit address', () => {
  test('is shown once and not credited, and USDT still is', async () => {
    const { customer_id, address } = await stage.customer()
    await other.mint(address, LARGEST)
    const tx_hash = await stage.pay(address, 5n * USDT)
    await settle()
    expect(await shown()).toMatchObject([
      {
        network: stage.network,
        contract: other.contract.toLowerCase(),
        address: address.toLowerCase(),
        amount: LARGEST,
      },
    ])
    expect(await stage.deposits()).toMatchObject([{ tx_hash, amount: 5n * USDT, status: 'completed' }])
    expect(await stage.balance(customer_id)).toBe(5n * USDT)
    const before = await shown()
    await stage.bench.admin('UPDATE unknown_token_scans SET height = 0, upto = 0, after_index = -1')
    await readTokens()
    await settle()
    expect(await shown()).toEqual(before)
    expect(await stage.exceptions()).toEqual([])
  })

  test('is shown when its block is final, and not before', async () => {
    const { address } = await stage.customer()
    await other.mint(address, 1n)
    await stage.find()
    await readTokens()
    expect(await shown()).toEqual([])
    await settle()
    expect(await count()).toBe(1)
  })

  test('is not shown if nothing arrived, it is an NFT, or the address is not ours', async () => {
    const { address } = await stage.customer()
    await other.mint(address, 0n)
    await other.mint('0x00000000000000000000000000000000000000aa', 1n)
    const nft = await actAsStranger({ data: NFT })
    await actAsStranger({ to: nft, data: `0x${word(address)}` })
    await settle()
    expect(await shown()).toEqual([])
  })

  test('is found at each of more addresses than one question has', async () => {
    const paid = []
    for (let i = 0; i < 101; i++) paid.push(await stage.customer())
    await other.mint(paid[0]!.address, 1n)
    await other.mint(paid[100]!.address, 2n)
    await settle()
    expect((await shown()).map(({ amount }) => amount)).toEqual([2n, 1n])
  })
})

describe('a flood of worthless tokens', () => {
  const flood = async (address: string, times: readonly bigint[]) => {
    const contract = await actAsStranger({ data: FLOOD })
    for (const n of times) await actAsStranger({ to: contract, data: `0x${word(address)}${word(n)}` })
  }

  test('leaves the newest, and deposits are credited', async () => {
    const { customer_id, address } = await stage.customer()
    await other.mint(address, 3n)
    // Together longer than an answer may be.
    await flood(address, [1500n, 1500n, 1500n])
    await stage.pay(address, 5n * USDT)
    await other.mint(address, 4n)
    await settle()
    expect(await count()).toBe(UNKNOWN_TOKENS_KEPT)
    expect((await shown())[0]).toMatchObject({ contract: other.contract.toLowerCase(), amount: 4n })
    expect(await stage.balance(customer_id)).toBe(5n * USDT)
  })

  test('in one block that no endpoint can answer is left out, and what comes after it is shown', async () => {
    const { customer_id, address } = await stage.customer()
    await flood(address, [6000n])
    await stage.pay(address, 5n * USDT)
    await other.mint(address, 4n)
    const warned: string[] = []
    await stage.node.mine(DEEP)
    await stage.find()
    const log = { warn: (_: unknown, text: string) => void warned.push(text) }
    await readTokens(log as never)
    await readTokens()
    expect(warned).toEqual([expect.stringMatching(/refuse block \d+, which is left out/)])
    expect(await shown()).toMatchObject([{ amount: 4n }])
    expect(stage.scene.chain.endpoints().every(({ state }) => state === 'healthy')).toBe(true)
    expect(await stage.balance(customer_id)).toBe(5n * USDT)
  })
})

describe('an endpoint', () => {
  const isAboutTokens = (method: string, params: readonly any[]) =>
    method === 'eth_getLogs' && params[0].address === undefined

  test('that refuses the question changes nothing for deposits, and the other one is enough', async () => {
    const { customer_id, address } = await stage.customer()
    const refuse = {
      answer: ({ method, params }: { method: string; params: readonly any[] }) =>
        isAboutTokens(method, params)
          ? { error: { code: -32701, message: 'specify an address' } }
          : undefined,
    }
    for (const endpoint of stage.endpoints) endpoint.become(refuse)
    await other.mint(address, 9n)
    await stage.pay(address, 5n * USDT)
    for (let i = 0; i < 4; i++) await settle()
    expect(await stage.balance(customer_id)).toBe(5n * USDT)
    expect(await shown()).toEqual([])
    expect(await stage.exceptions()).toEqual([])
    stage.endpoints[1].become({})
    await other.mint(address, 10n)
    await settle()
    expect((await shown())[0]).toMatchObject({ amount: 10n })
  })

  test('that answers the question with nonsense does not rest for it', async () => {
    const { customer_id, address } = await stage.customer()
    for (const endpoint of stage.endpoints)
      endpoint.become({
        answer: ({ method, params }) => (isAboutTokens(method, params) ? { result: 'nonsense' } : undefined),
      })
    await other.mint(address, 9n)
    await stage.pay(address, 5n * USDT)
    for (let i = 0; i < 4; i++) await settle()
    expect(stage.scene.chain.endpoints().every(({ failures_in_row }) => failures_in_row === 0)).toBe(true)
    expect(await stage.balance(customer_id)).toBe(5n * USDT)
    for (const endpoint of stage.endpoints) endpoint.become({})
    await readTokens()
    expect(await shown()).toMatchObject([{ amount: 9n }])
  })
})
