import { randomBytes } from 'node:crypto'
import { addr } from 'micro-eth-signer'
import { afterAll, beforeAll, expect } from 'vitest'
import { networks } from '../../src/core/networks.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { type Anvil, startAnvil } from '../chains/anvil.ts'
import { chainTest as test } from '../chains/chain-test.ts'
import { randomAddress } from '../chains/evm-stage.ts'
import { awaitHoldings } from '../chains/held.ts'
import { deployToken } from '../chains/token.ts'
import { browse, looks } from '../support/browser.ts'
import { makePerson } from '../support/console.ts'
import { asAdmin } from '../support/database.ts'
import { openDesk } from '../support/operators.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { eventually, until } from '../support/wait.ts'

/** A transfer of a live key on a chain, as the partner and the operator see it. */
const ETHER = 10n ** 18n
const FUNDS = 250_000_000_000n
let node: Anvil
let service: TestService
let transfer_id: string
let partner_id: string

beforeAll(async () => {
  const key = randomBytes(32).toString('hex')
  const wallet = addr.fromPrivateKey(new Uint8Array(Buffer.from(key, 'hex')))
  node = await startAnvil({ chain_id: Number(networks.polygon.chain_id) })
  const token = await deployToken(node)
  await token.mint(wallet, FUNDS)
  await node.setBalance(wallet, 25n * ETHER)
  service = await startTestService({
    ...{ EVM_WALLET_KEY: key, POLYGON_RPC: node.url, POLYGON_USDT: token.contract },
    RECONCILE_EVERY_MS: '2000',
  })
  await awaitHoldings(node, service.database.url)
  const partner = await service.partner({ environment: 'production' })
  partner_id = partner.partner_id
  const customer_id = await fund()
  const { json } = await partner.api.post('/v1/onchain/transfers', {
    ...{ customer_id, asset: 'USDT', network: 'polygon', amount: '2500000' },
    ...{ destination_address: randomAddress(), idempotency_key: 'first' },
  })
  transfer_id = json.id
  await eventually(async () => {
    await node.mine(networks.polygon.confirmations)
    const { json } = await partner.api.get(`/v1/onchain/transfers/${transfer_id}`)
    expect(json.status).toBe('confirmed')
  })
})
afterAll(async () => {
  await service?.stop()
  await node?.stop()
})

/** Two operators book what the wallet holds, and credit a customer. */
async function fund(): Promise<string> {
  const world = service.worlds.production
  const customer = { partner_id, name: 'Ana Souza', document: someCpf() }
  const { id: customer_id } = await addCustomer(world, customer)
  const { propose, approve } = openDesk(() => service.office)
  const asset = 'USDT'
  const move = { rail: 'polygon', direction: 'to_rail', asset, amount: `${FUNDS}` } as const
  const credit = { partner_id, customer_id, asset, amount: '50000000' } as const
  for (const action of [
    { name: 'move_custody', details: { ...move, reason: 'funding', reference: 'wallet' } },
    { name: 'credit', details: { ...credit, reason: 'funding', reference: 'customer' } },
  ] as const) {
    const { id } = await propose(world, action, 'maria@operator.example')
    await approve(world, id, 'joao@operator.example')
  }
  return customer_id
}

test('the partner sees the transfer confirmed, with its hash', async () => {
  const owner = await makePerson(service, { email: 'ana@partner.example', partner_id, role: 'owner' })
  for (const { theme, width, language } of looks)
    await browse({ url: service.url, as: owner, theme, width, language }, async ({ page, visit, fits }) => {
      await visit(`/production/transfers/${transfer_id}`)
      await page
        .getByText(language === 'en' ? 'Confirmed' : 'Confirmada')
        .first()
        .waitFor()
      await fits()
    })
})

test('the operator sees what the wallet holds, no difference to the books, and the node', async () => {
  const admin = await makePerson(service, { email: 'rui@operator.example', role: 'admin', factor: true })
  await until(async () => {
    // The wallet's block must be past the payment.
    await node.mine(networks.polygon.confirmations)
    const newest = `SELECT difference, booked FROM live.reconciliations ORDER BY at DESC LIMIT 1`
    const [row] = await asAdmin(service.database.url, [newest])
    return row !== undefined && BigInt(String(row.difference)) === 0n && BigInt(String(row.booked)) < FUNDS
  }, 90_000)
  for (const { theme, width, language, place } of looks)
    await browse(
      { url: service.url, as: admin, theme, width, language },
      async ({ page, visit, fits, axe, screenshot }) => {
        await visit('/operator/production/rails')
        await page.getByRole('heading', { name: language === 'en' ? 'Wallets' : 'Carteiras' }).waitFor()
        await page.getByText(language === 'en' ? '1 of 1 answer' : '1 de 1 respondem').waitFor()
        await axe()
        await fits()
        await screenshot(`operator-wallets-${theme}-${place}`)
      },
    )
})
