import { randomBytes } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { addr } from 'micro-eth-signer'
import { afterAll, beforeAll, expect } from 'vitest'
import { money } from '../../src/core/money.ts'
import { networks } from '../../src/core/networks.ts'
import { moveCustody } from '../../src/money/custody/moves.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { chainTest as test } from './chain-test.ts'
import { awaitHoldings } from './held.ts'
import { deployToken, type TestToken } from './token.ts'

/** A service whose production world takes deposits on a chain, as a partner uses it. */
const ETHER = 10n ** 18n
const USDT = 1_000_000n
const DEEP = networks.polygon.confirmations
let node: Anvil
let token: TestToken
let service: TestService
const key = randomBytes(32).toString('hex')
const wallet = addr.fromPrivateKey(new Uint8Array(Buffer.from(key, 'hex')))
const account = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'")

beforeAll(async () => {
  node = await startAnvil({ chain_id: Number(networks.polygon.chain_id) })
  token = await deployToken(node)
  await token.mint(wallet, 100n * USDT)
  await node.setBalance(wallet, 10n * ETHER)
  service = await startTestService({
    EVM_WALLET_KEY: key,
    EVM_DEPOSIT_XPUB: account.publicExtendedKey!,
    POLYGON_RPC: node.url,
    POLYGON_USDT: token.contract,
    POLYGON_START_HEIGHT: '1',
    RECONCILE_EVERY_MS: '1000',
  })
  const { production } = service.worlds
  await production.commit(
    moveCustody(production, {
      ...{ rail: 'polygon', direction: 'to_rail', reason: 'minted', reference: 'minted' },
      money: money('USDT', 100n * USDT),
    }),
  )
  await awaitHoldings(node, service.database.url)
})
afterAll(async () => {
  await service?.stop()
  await node?.stop()
})

async function newCustomer() {
  const { api, partner_id } = await service.partner({ environment: 'production' })
  const world = service.worlds.production
  const { id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })
  const made = await api.post(`/v1/customers/${id}/deposit_addresses`, { network: 'polygon' })
  expect(made.status).toBe(201)
  return { api, customer_id: id, address: made.json.address as string }
}

/** A comparison at the newest final block, or a later one, finds no difference. */
async function reconciled(): Promise<void> {
  const head = Number(await node.call<string>('eth_blockNumber'))
  await eventually(async () => {
    const { rows } = await service.worlds.production.db.query(
      'SELECT block_height, difference FROM reconciliations ORDER BY at DESC LIMIT 1',
    )
    expect(Number(rows[0]?.block_height ?? 0)).toBeGreaterThanOrEqual(head + 1 - DEEP)
    expect(rows[0].difference).toBe(0n)
  })
}

test('a payment to a customer’s address is credited, also one that another customer orders', async () => {
  const ana = await newCustomer()
  const rui = await newCustomer()
  expect(ana.address).toBe(addr.fromPublicKey(account.deriveChild(0).deriveChild(0).publicKey!))
  await token.mint(ana.address, 50n * USDT)
  const list = (status: string) => ana.api.get(`/v1/deposits?status=${status}`)
  await eventually(async () =>
    expect((await list('pending')).json.data).toMatchObject([{ amount: '50000000', network: 'polygon' }]),
  )
  await reconciled()
  await node.mine(DEEP)
  await eventually(async () => expect((await list('completed')).json.data).toHaveLength(1))
  await reconciled()
  const balance = async ({ api, customer_id }: typeof ana) => {
    const { json } = await api.get(`/v1/customers/${customer_id}/balances`)
    return json.data.find(({ asset }: { asset: string }) => asset === 'USDT').available
  }
  expect(await balance(ana)).toBe('50000000')

  // The wallet pays a deposit address: the transfer leaves, and the deposit comes in.
  const sent = await ana.api.post('/v1/onchain/transfers', {
    ...{ customer_id: ana.customer_id, asset: 'USDT', network: 'polygon', amount: '20000000' },
    ...{ destination_address: rui.address, idempotency_key: 'to another customer' },
  })
  expect(sent.status).toBe(201)
  await eventually(async () => {
    await node.mine(4)
    expect((await ana.api.get(`/v1/onchain/transfers/${sent.json.id}`)).json.status).toBe('confirmed')
    expect(await balance(rui)).toBe('20000000')
  })
  await node.mine(2 * DEEP)
  await reconciled()
  expect(await token.balanceOf(rui.address)).toBe(20n * USDT)
  // The stage booked the minted tokens by itself; two operators do that in production.
  const findings = (await service.audit()).production.findings.map(({ check }) => check)
  expect(findings).toEqual([
    'every custody move in production was proposed by one operator and approved by another',
  ])
})
