import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { chainTest as test } from '../../../../test/chains/chain-test.ts'
import { type EvmStage, openEvmStage } from '../../../../test/chains/evm-stage.ts'
import { networks } from '../../../core/networks.ts'

let stage: EvmStage

beforeAll(async () => {
  stage = await openEvmStage('optimism')
})
afterEach(() => stage.clear())
afterAll(() => stage?.stop())

const refused = (rail_code: string) => ({ kind: 'refused', rail_code })

describe('an order is refused', () => {
  test('to the zero address, the wallet itself, and contracts of the token', async () => {
    const { chain, token, wallet, order } = await stage.open()
    const to = (destination_address: string) => chain.screen(order({ destination_address }))
    expect(await to(`0x${'0'.repeat(40)}`)).toEqual(refused('destination_is_zero'))
    expect(await to(wallet)).toEqual(refused('destination_is_wallet'))
    expect(await to(wallet.toLowerCase())).toEqual(refused('destination_is_wallet'))
    for (const contract of [token.contract, ...networks.optimism.usdt_contracts])
      expect(await to(contract)).toEqual(refused('destination_is_token'))
  })

  test('to an address that the token blocks, also while the token is paused', async () => {
    const { chain, token, order: newOrder } = await stage.open()
    const order = newOrder()
    await token.setBlackListed(order.destination_address, true)
    expect(await chain.screen(order)).toEqual(refused('token_refuses'))
    expect(await chain.screen(newOrder())).toEqual({ kind: 'payable' })
    await token.setPaused(true)
    expect(await chain.screen(order)).toEqual(refused('token_refuses'))
  })
})

describe('an order waits', () => {
  const later = { kind: 'later', at: expect.any(Date), why: expect.any(String) }

  test('while the wallet has too few tokens, even if the token is paused', async () => {
    const { chain, token, order } = await stage.open({ tokens: 1_499_999n })
    expect(await chain.screen(order())).toEqual(later)
    await token.setPaused(true)
    expect(await chain.screen(order())).toEqual(later)
    await token.setPaused(false)
    expect(await chain.screen(order({ amount: 1_499_999n }))).toEqual({ kind: 'payable' })
  })

  test('before it gets a nonce if it is above all that the signer signs in an hour', async () => {
    const { chain, order } = await stage.open({ order_most: 1_499_999n })
    expect(chain.order_most).toBe(1_499_999n)
    expect(await chain.screen(order())).toEqual({ ...later, why: 'signer_limit' })
    expect(await chain.screen(order({ amount: 1_499_999n }))).toEqual({ kind: 'payable' })
  })

  test('while the wallet has too little to pay for gas', async () => {
    const { chain, token, order } = await stage.open({ gas_coin: 1000n })
    expect(await chain.screen(order())).toEqual(later)
    await token.setPaused(true)
    expect(await chain.screen(order())).toEqual(later)
  })

  test('while the token is paused, and is paid afterwards', async () => {
    const { chain, token, order } = await stage.open()
    await token.setPaused(true)
    expect(await chain.screen(order())).toEqual({ ...later, why: 'token_reverts' })
    await token.setPaused(false)
    expect(await chain.screen(order())).toEqual({ kind: 'payable' })
  })

  test('while the token reverts without saying why', async () => {
    const { chain, token, order } = await stage.open()
    await token.setBroken(true)
    expect(await chain.screen(order())).toEqual(later)
  })

  test('while the token blocks the wallet', async () => {
    const { chain, token, wallet, order } = await stage.open()
    await token.setBlackListed(wallet, true)
    await token.setPaused(true)
    expect(await chain.screen(order())).toEqual(later)
  })

  test('while only one of two endpoints says that the token refuses', async () => {
    const { chain, token, order: newOrder } = await stage.open()
    const order = newOrder()
    await token.setBlackListed(order.destination_address, true)
    stage.endpoints[1].become({ cut: true })
    expect(await chain.screen(order), 'the second one is down').toEqual(later)
    stage.endpoints[1].become({
      answer: ({ method, params }) =>
        method === 'eth_call' && params[0].data.startsWith('0xa9059cbb') ? { result: '0x' } : undefined,
    })
    expect(await chain.screen(order), 'the second one says otherwise').toEqual(later)
  })
})

test('a token that returns false would not pay', async () => {
  const { chain, order } = await stage.open()
  for (const endpoint of stage.endpoints)
    endpoint.become({
      answer: ({ method, params }) =>
        method === 'eth_call' && params[0].data.startsWith('0xa9059cbb')
          ? { result: `0x${'0'.repeat(64)}` }
          : undefined,
    })
  expect(await chain.screen(order())).toMatchObject({ kind: 'later' })
})
