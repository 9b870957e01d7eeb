import { randomBytes } from 'node:crypto'
import { addr } from 'micro-eth-signer'
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { networks } from '../../src/core/networks.ts'
import { columnsOf } from '../../src/db/columns.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import type { Api } from '../support/api.ts'
import { asAdmin } from '../support/database.ts'
import { openDesk } from '../support/operators.ts'
import { retryUntilAnswered } from '../support/retry.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import { type Anvil, hex, startAnvil } from './anvil.ts'
import { chainTest as test } from './chain-test.ts'
import { randomAddress } from './evm-stage.ts'
import { paymentsOf } from './paid-once.ts'
import { deployToken, type TestToken } from './token.ts'

/**
 * Somebody writes to the database: with the service's own login, or as the owner of the tables, past every trigger. Nothing is paid
 * to another address, and no other amount.
 */
const ETHER = 10n ** 18n
const GWEI = 10n ** 9n
const TRANSFERS = '/v1/onchain/transfers'
/** Slow enough for a machine that does other work too. */
const PATIENT = { timeout: 100_000, interval: 200 }

let node: Anvil
let token: TestToken
let service: TestService
let wallet: string
let api: Api
let customer_id: string

beforeEach(async () => {
  node = await startAnvil({ chain_id: Number(networks.polygon.chain_id) })
  token = await deployToken(node)
  const key = randomBytes(32).toString('hex')
  wallet = addr.fromPrivateKey(new Uint8Array(Buffer.from(key, 'hex')))
  await node.setBalance(wallet, 1000n * ETHER)
  await token.mint(wallet, 1_000_000_000n)
  await token.setBroken(true)
  service = await startTestService({
    ...{ EVM_WALLET_KEY: key, POLYGON_RPC: node.url, POLYGON_USDT: token.contract },
    SANDBOX_BROADCAST_MS: '600000',
  })
  const partner = await service.partner({ environment: 'production' })
  api = partner.api
  const world = service.worlds.production
  const { partner_id } = partner
  customer_id = (await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })).id
  const { propose, approve } = openDesk(() => service.office)
  const details = { partner_id, customer_id, asset: 'USDT', amount: '500000000' } as const
  const order = { ...details, reason: 'funding', reference: 'seals' }
  const { id } = await propose(world, { name: 'credit', details: order }, 'maria@operator.example')
  await approve(world, id, 'joao@operator.example')
})
afterEach(async () => {
  await service?.stop()
  await node?.stop()
})

type Ordered = { readonly id: string; readonly destination: string; readonly amount: bigint }

async function order(amount = 5_000_000n): Promise<Ordered> {
  const destination = randomAddress()
  const ordered = {
    ...{ customer_id, asset: 'USDT', network: 'polygon', amount: `${amount}` },
    ...{ destination_address: destination, idempotency_key: destination },
  }
  // Refused until the service has read what the wallet holds.
  const { json } = await retryUntilAnswered(() => api.post(TRANSFERS, ordered), { cut: 0, unavailable: 0 })
  expect(json).toMatchObject({ status: 'pending' })
  return { id: json.id, destination, amount }
}

/** The token refuses every transfer until this, so that nothing is reserved or signed before. */
const mendToken = () => token.setBroken(false)

const admin = (...statements: string[]) => asAdmin(service.database.url, statements)
/** As the owner, past every trigger. */
const tamper = (...statements: string[]) => admin('SET session_replication_role = replica', ...statements)
const hurry = () =>
  admin(`UPDATE live.transfers SET next_attempt_at = now() WHERE status IN ('pending', 'processing')`)
const statusOf = async (id: string) => (await api.get(`${TRANSFERS}/${id}`)).json.status

/** The next questions come at once, and blocks come as often as they are asked for. */
const passTime = async () => {
  await hurry()
  await node.mine(4)
}

async function expectConfirmed({ id }: Ordered): Promise<void> {
  await eventually(async () => {
    await passTime()
    expect(await statusOf(id)).toBe('confirmed')
  }, PATIENT)
}

/** The transfer waits for a person, who has been told. */
async function expectRefused(id: string): Promise<void> {
  await eventually(async () => {
    await hurry()
    const problems = await admin(
      `SELECT details ->> 'problem' AS problem FROM live.exceptions WHERE object_id = '${id}' AND closed_at IS NULL`,
    )
    expect(problems).toEqual([{ problem: expect.stringMatching(/seal|another wallet/) }])
  }, PATIENT)
  expect(await admin(`SELECT status, tx_hash FROM live.transfers WHERE id = '${id}'`)).toEqual([
    { status: 'pending', tx_hash: null },
  ])
}

/** All that left the wallet, to the unit. */
async function expectPayments(paid: readonly Ordered[]): Promise<void> {
  const place = { network: 'polygon', node, token, endpoints: [] } as const
  const lines = (await paymentsOf(place, wallet)).map(({ to, amount }) => ({ to, amount }))
  const byAddress = (a: { to: string }, b: { to: string }) => (a.to < b.to ? -1 : 1)
  expect(lines.sort(byAddress)).toEqual(
    paid.map(({ destination, amount }) => ({ to: destination, amount })).sort(byAddress),
  )
}

describe('what was ordered', () => {
  test('cannot be changed with the service’s own login, nor by the owner while the triggers are there', async () => {
    const victim = await order()
    const changes = {
      destination_address: `'${randomAddress()}'`,
      amount_net: '6000000',
      fee: '0',
      seal: `'${'0'.repeat(64)}'`,
      network: `'arbitrum'`,
      id: `'tr_other'`,
    }
    const { db } = service.worlds.production
    for (const [column, value] of Object.entries(changes)) {
      const change = `SET ${column} = ${value} WHERE id = '${victim.id}'`
      await expect(db.query(`UPDATE transfers ${change}`)).rejects.toThrow(/never changes/)
      await expect(admin(`UPDATE live.transfers ${change}`)).rejects.toThrow(/never changes/)
    }
    await expect(db.query(`DELETE FROM transfers WHERE id = '${victim.id}'`)).rejects.toThrow(/permission/)
    await mendToken()
    await expectConfirmed(victim)
    await expectPayments([victim])
    expect((await service.audit()).production.findings).toEqual([])
  })

  test('is not signed otherwise, past every trigger; others are paid meanwhile, and a person is told', async () => {
    const thief = randomAddress()
    const other = await order(7_000_000n)
    const tampered = [await order(), await order(), await order(), await order(), await order()]
    const [elsewhere, more, unsealed, copied, equal] = tampered.map(({ id }) => id)
    const set = (id: string | undefined, change: string) =>
      `UPDATE live.transfers SET ${change} WHERE id = '${id}'`
    const seal_of_other = `seal = (SELECT seal FROM live.transfers WHERE id = '${other.id}')`
    await tamper(
      set(elsewhere, `destination_address = '${thief}'`),
      set(more, `amount_net = amount_net + 1`),
      set(unsealed, `seal = NULL`),
      set(copied, seal_of_other),
      set(
        equal,
        `destination_address = '${other.destination}', amount_net = ${other.amount}, ${seal_of_other}`,
      ),
    )
    await mendToken()
    for (const { id } of tampered) await expectRefused(id)
    const honest = await order()
    await expectConfirmed(other)
    await expectConfirmed(honest)
    await expectPayments([other, honest])
    expect(await token.balanceOf(thief)).toBe(0n)
    expect(await token.balanceOf(other.destination)).toBe(other.amount)
  })
})

describe('a row that nobody ordered', () => {
  const columns = columnsOf('transfers').split(/,\s*/)
  const copy = (from: string, id: string, changes: Record<string, string>) => {
    const values = columns.map((column) => changes[column] ?? column)
    return `SELECT ${values.join(', ')} FROM ${from} WHERE id = '${id}'`
  }

  test('is not paid, with no seal or a copied one, nor is a transfer of the sandbox', async () => {
    const thief = randomAddress()
    const victim = await order()
    const { db } = service.worlds.production
    const forged = [`${victim.id}a`, `${victim.id}b`, `${victim.id}c`]
    const changesOf = [
      { destination_address: `'${thief}'`, seal: 'NULL' },
      { destination_address: `'${thief}'` },
      {},
    ]
    for (const [index, id] of forged.entries()) {
      const changes = { ...changesOf[index], id: `'${id}'`, idempotency_key: `'${id}'` }
      await db.query(`INSERT INTO transfers (${columns.join(', ')}) ${copy('transfers', victim.id, changes)}`)
    }
    const moved = await sandboxTransfer()
    await tamper(
      `INSERT INTO live.transfers (${columns.join(', ')}) ${copy('sandbox.transfers', moved.id, {})}`,
    )
    await mendToken()
    for (const id of [...forged, moved.id]) await expectRefused(id)
    const honest = await order()
    await expectConfirmed(victim)
    await expectConfirmed(honest)
    await expectPayments([victim, honest])
    expect(await token.balanceOf(thief)).toBe(0n)
    expect(await token.balanceOf(moved.destination)).toBe(0n)
  })

  async function sandboxTransfer(): Promise<{ id: string; destination: string }> {
    const { api: sandbox } = await service.partner()
    const made = await sandbox.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
    const owner = { customer_id: made.json.id, asset: 'USDT' }
    await sandbox.post('/v1/sandbox/deposits', { ...owner, amount: '50000000' })
    const destination = randomAddress()
    const ordered = { ...owner, network: 'polygon', amount: '5000000', destination_address: destination }
    const { status, json } = await sandbox.post(TRANSFERS, { ...ordered, idempotency_key: 'moved' })
    expect(status).toBe(201)
    return { id: json.id, destination }
  }
})

describe('what was reserved', () => {
  test('cannot be re-pointed; past every trigger, a reservation of another wallet is not signed', async () => {
    await mendToken()
    // Above the cap of the cost nothing is signed, so that both transfers have a nonce and no transaction.
    await node.call('anvil_setNextBlockBaseFeePerGas', hex(100_000n * GWEI))
    await node.mine()
    const [first, second] = [await order(), await order()]
    await eventually(async () => {
      await hurry()
      const reserved = `SELECT id FROM live.transfers WHERE nonce IS NOT NULL AND tx_hash IS NULL`
      expect(await admin(reserved)).toHaveLength(2)
    }, PATIENT)
    const { db } = service.worlds.production
    const [low, high] = (await admin(`SELECT id FROM live.transfers ORDER BY nonce`)).map(({ id }) => id)
    for (const change of [`wallet_id = 'polygon:${randomAddress()}'`, 'nonce = nonce + 1', 'nonce = NULL']) {
      const update = `SET ${change} WHERE id = '${high}'`
      await expect(db.query(`UPDATE transfers ${update}`)).rejects.toThrow(/never changes/)
    }
    await expect(db.query('UPDATE wallets SET next_nonce = 0')).rejects.toThrow(/given once/)
    await expect(tamper(`UPDATE live.transfers SET nonce = 0 WHERE id = '${high}'`)).rejects.toThrow(
      /duplicate/,
    )

    await tamper(`UPDATE live.transfers SET wallet_id = 'polygon:${randomAddress()}' WHERE id = '${high}'`)
    // Empty blocks lower the base fee until the cost is below the cap.
    await node.mine(100)
    await expectRefused(String(high))
    const paid = [first, second].find(({ id }) => id === low)!
    await expectConfirmed(paid)
    await expectPayments([paid])

    // The nonce of the refused transfer stays a gap: a later payment waits behind it.
    const last = await order()
    await eventually(async () => {
      await passTime()
      expect(await statusOf(last.id)).toBe('processing')
    }, PATIENT)
    await expectPayments([paid])
    expect((await service.audit()).production.ok).toBe(false)
  })
})
