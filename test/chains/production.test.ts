import { randomBytes } from 'node:crypto'
import { addr } from 'micro-eth-signer'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { networks } from '../../src/core/networks.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { runCli } from '../support/cli.ts'
import { openDesk } from '../support/operators.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { chainTest as test } from './chain-test.ts'
import { randomAddress } from './evm-stage.ts'
import { awaitHoldings } from './held.ts'
import { deployToken, type TestToken } from './token.ts'

/** A service whose production world pays on a chain, as a partner uses it. */
const ETHER = 10n ** 18n
let node: Anvil
let token: TestToken
let service: TestService
const key = randomBytes(32).toString('hex')
const wallet = addr.fromPrivateKey(new Uint8Array(Buffer.from(key, 'hex')))

beforeAll(async () => {
  node = await startAnvil({ chain_id: Number(networks.polygon.chain_id) })
  token = await deployToken(node)
  await token.mint(wallet, 1_000_000_000n)
  await node.setBalance(wallet, 10n * ETHER)
  service = await startTestService({
    EVM_WALLET_KEY: key,
    EVM_WALLET: wallet,
    POLYGON_RPC: node.url,
    POLYGON_USDT: token.contract,
  })
  await awaitHoldings(node, service.database.url)
})
afterAll(async () => {
  await service?.stop()
  await node?.stop()
})

async function newCustomer(units: bigint) {
  const world = service.worlds.production
  const { api, partner_id } = await service.partner({ environment: 'production' })
  const { id: customer_id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })
  const { propose, approve } = openDesk(() => service.office)
  const details = { partner_id, customer_id, asset: 'USDT', amount: units.toString() } as const
  const order = { ...details, reason: 'funding', reference: randomBytes(6).toString('hex') }
  const { id } = await propose(world, { name: 'credit', details: order }, 'maria@operator.example')
  await approve(world, id, 'joao@operator.example')
  return { api, customer_id }
}

describe('a live key', () => {
  test('sends USDT to an address; the transfer is confirmed when its payment is deep enough', async () => {
    const { api, customer_id } = await newCustomer(20_000_000n)
    const destination_address = randomAddress()
    const order = {
      customer_id,
      asset: 'USDT',
      network: 'polygon',
      amount: '5000000',
      destination_address,
      idempotency_key: 'first',
    }
    const made = await api.post('/v1/onchain/transfers', order)
    expect(made).toMatchObject({ status: 201, json: { status: 'pending', fee: '1000000' } })
    const path = `/v1/onchain/transfers/${made.json.id}`
    await eventually(async () => expect((await api.get(path)).json.status).toBe('processing'))
    await eventually(async () => {
      await node.mine(networks.polygon.confirmations)
      expect((await api.get(path)).json).toMatchObject({ status: 'confirmed' })
    })
    const { json } = await api.get(path)
    const receipt = await node.call<{ status: string }>('eth_getTransactionReceipt', json.tx_hash)
    expect(receipt.status).toBe('0x1')
    expect(await token.balanceOf(destination_address)).toBe(5_000_000n)
    const again = await api.post('/v1/onchain/transfers', order)
    expect(again.json).toEqual(made.json)
    expect(await token.balanceOf(destination_address)).toBe(5_000_000n)
    expect((await service.audit()).production.findings).toEqual([])
  })

  test('is refused on networks without endpoints', async () => {
    const { api, customer_id } = await newCustomer(20_000_000n)
    const refused = await api.post('/v1/onchain/transfers', {
      ...{ customer_id, asset: 'USDT', network: 'arbitrum', amount: '5000000' },
      ...{ destination_address: randomAddress(), idempotency_key: 'elsewhere' },
    })
    expect(refused).toMatchObject({ status: 503, json: { error: { code: 'rail_unavailable' } } })
  })
})

describe('rails check', () => {
  const env = () => ({
    EVM_WALLET_KEY: key,
    POLYGON_RPC: node.url,
    POLYGON_USDT: token.contract,
  })

  test('prints the wallet of each configured network', async () => {
    const done = await runCli(['rails', 'check', '--json'], env())
    expect(done.code).toBe(0)
    expect(JSON.parse(done.out)).toEqual({
      ok: true,
      networks: [{ network: 'polygon', wallet, endpoints: '1 of 1', problem: null }],
    })
  })

  test('says what is wrong, and exits 1', async () => {
    const wrong = { ...env(), POLYGON_USDT: wallet, ARBITRUM_RPC: node.url }
    const done = await runCli(['rails', 'check', '--json'], wrong)
    expect(done.code).toBe(1)
    const { networks: found } = JSON.parse(done.out) as { networks: { network: string; problem: string }[] }
    expect(Object.fromEntries(found.map(({ network, problem }) => [network, problem]))).toEqual({
      polygon: expect.stringContaining(`there is no contract at ${wallet}`),
      arbitrum: expect.stringContaining('chain'),
    })
    expect(done.out + done.err).not.toContain(node.url)
  })
})
