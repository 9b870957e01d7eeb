import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { startAnvil } from '../../test/chains/anvil.ts'
import { bitcoinTest, startBitcoinNode } from '../../test/chains/bitcoin-node.ts'
import { openTestWallet } from '../../test/chains/bitcoin-wallet.ts'
import { chainTest as test } from '../../test/chains/chain-test.ts'
import { silent } from '../../test/support/rail-bench.ts'
import { systemClock } from '../core/clock.ts'
import { readConfig } from './config.ts'
import { openProductionRails } from './rails.ts'

function open(env: Record<string, string>) {
  const rails = openProductionRails({
    config: readConfig(env),
    logKey: async () => Buffer.alloc(32, 1),
    signedBefore: async () => [],
    db: () => {
      throw new Error('There is no database here.')
    },
    clock: systemClock(),
    log: silent,
  })
  onTestFinished(rails.stop)
  return rails
}

test('a node without a key knows the wallet by its address, as a resume of a rail needs it', async () => {
  const node = await startAnvil({ chain_id: 137 })
  onTestFinished(node.stop)
  const EVM_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const given = { POLYGON_RPC: node.url, ROLE: 'api' }
  for (const address of [EVM_WALLET, EVM_WALLET.toLowerCase()]) {
    const { chains, wallets } = open({ ...given, EVM_WALLET: address })
    expect(await chains.polygon.wallet()).toMatchObject({ wallet: EVM_WALLET, mined: 0n, pool: 0n })
    expect(await wallets()).toEqual({ polygon: EVM_WALLET })
  }
  await expect(open(given).chains.polygon.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
})

bitcoinTest('bitcoin is checked with a key, with its address alone, and with another wallet', async () => {
  const node = await startBitcoinNode({ has_cookie: true })
  onTestFinished(node.stop)
  // A block of now: the node has left its initial download.
  await node.mine(1)
  const { key, address } = openTestWallet()
  const given = {
    ...{ BITCOIN_RPC: node.url, BITCOIN_RPC_COOKIE_FILE: node.cookie_file },
    BITCOIN_GENESIS: node.genesis,
  }
  const sending = open({ ...given, BITCOIN_WALLET_KEY: key, SIGNER_BTC_PER_HOUR: '0.5' })
  const answering = open({ ...given, BITCOIN_WALLET: address, ROLE: 'api' })
  for (const { chains, wallets, followers } of [sending, answering]) {
    await chains.bitcoin.check()
    expect(await wallets()).toEqual({ bitcoin: address })
    expect(followers).toEqual([chains.bitcoin])
    expect(chains.polygon.is_configured).toBe(false)
  }
  expect(sending.chains.bitcoin.order_most).toBe(50_000_000n)
  const mistaken = open({
    ...{ ...given, BITCOIN_WALLET_KEY: key },
    BITCOIN_WALLET: openTestWallet().address,
  })
  await expect(mistaken.chains.bitcoin.check()).rejects.toThrow(`the signer's wallet is ${address}, not `)
})

test('transfers are sealed if bitcoin is the only network, and not without any', async () => {
  const ordered = { transfer_id: 'tr_1', network: 'bitcoin', destination_address: 'a', amount: 1n } as const
  const only = open({ BITCOIN_RPC: 'http://127.0.0.1:1', BITCOIN_WALLET_KEY: '22'.repeat(32) })
  expect((await only.transferSeals())(ordered)).toMatch(/./)
  const none = open({})
  expect((await none.transferSeals())(ordered)).toBeNull()
  expect(none.followers).toEqual([])
})

test('the credentials of a node on this machine are sent to no other machine', async () => {
  const heard: (string | undefined)[] = []
  const provider = createServer((request, response) => {
    heard.push(request.headers.authorization)
    response.writeHead(401).end()
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.2', resolve))
  onTestFinished(() => void provider.close())
  const { chains } = open({
    BITCOIN_RPC: `http://127.0.0.2:${(provider.address() as AddressInfo).port}/key`,
    // Any file that can be read.
    BITCOIN_RPC_COOKIE_FILE: new URL(import.meta.url).pathname,
    BITCOIN_WALLET_KEY: '22'.repeat(32),
  })
  await expect(chains.bitcoin.check()).rejects.toThrow('no endpoint is usable')
  expect(heard.length).toBeGreaterThan(0)
  expect(heard.every((authorization) => authorization === undefined)).toBe(true)
})
