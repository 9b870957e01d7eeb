import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { HDKey } from '@scure/bip32'
import { afterEach, expect } from 'vitest'
import { networks } from '../../src/core/networks.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { scriptOf } from '../../src/rails/chain/bitcoin/transaction.ts'
import { openApi } from '../support/api.ts'
import { createDatabase } from '../support/database.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import { startBitcoinNode, bitcoinTest as test } from './bitcoin-node.ts'
import { mineCoins, openTestWallet } from './bitcoin-wallet.ts'
import { dumpTables, spellingsOfText } from './secrets.ts'

/** A server whose production world finds BTC of customers in the blocks of a node, and pays with it. */
const PATIENT = { timeout: 150_000, interval: 250 }
const AMOUNT = 2_000_000n
const { confirmations } = networks.bitcoin

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('a customer of production pays in BTC; the server is killed after the block, credits once, and pays a transfer with the coin', async () => {
  const node = await startBitcoinNode()
  closing.push(node.stop)
  await node.mine(1)
  const [wallet, payer, recipient] = [openTestWallet(randomBytes(32)), openTestWallet(), openTestWallet()]
  const [coin] = await mineCoins(node, payer.script, 1)
  const account = HDKey.fromMasterSeed(randomBytes(32)).derive("m/84'/0'/0'")
  const direct = openDirectAccess(await createDatabase())
  closing.push(direct.stop)
  const env = testEnv(direct.database.url, {
    ...{ BITCOIN_RPC: node.url, BITCOIN_GENESIS: node.genesis, BITCOIN_WALLET_KEY: wallet.key },
    ...{ BITCOIN_DEPOSIT_XPUB: account.publicExtendedKey, BITCOIN_DEPOSIT_KEY: account.privateExtendedKey! },
    LOG_LEVEL: 'debug',
  })
  const start = async () => {
    const server = await spawnServer(env)
    closing.push(() => server.kill('SIGTERM'))
    return server
  }
  const first = await start()
  const { partner_id, key, api: before } = await direct.partner(first.url, { environment: 'production' })
  const named = { partner_id, name: 'Ana Souza', document: someCpf() }
  const { id: customer_id } = await addCustomer(direct.worlds.production, named)
  const path = `/v1/customers/${customer_id}/deposit_addresses`
  const given = await before.post(path, { network: 'bitcoin' })
  expect(given).toMatchObject({ status: 201, json: { address: expect.stringMatching(/^bc1q/) } })
  const tips = async () =>
    (await direct.worlds.production.db.query<{ hash: string }>('SELECT hash FROM blocks')).rows
  const { hash: head } = await node.head()
  await eventually(async () => expect(await tips()).toContainEqual({ hash: head }), PATIENT)
  await first.kill('SIGTERM')

  const script = scriptOf(given.json.address)!
  const change = { script: payer.script, amount: coin!.amount - AMOUNT - 10_000n }
  await node.send(payer.spend([coin!], [{ script, amount: AMOUNT }, change]))
  const [paid_in] = await node.mine(confirmations + 1)
  // It ends right after it stored the first block that it had not read.
  const doomed = await spawnServer({ ...env, CRASH_AT: 'after_follow' }).catch(() => undefined)
  if (doomed && doomed.process.signalCode === null) await once(doomed.process, 'exit')
  expect(await tips(), 'the block is stored').toContainEqual({ hash: paid_in })
  const { rows } = await direct.worlds.production.db.query('SELECT id FROM deposits')
  expect(rows, 'and nobody was told').toEqual([])

  const server = await start()
  const api = openApi(server.url, key)
  const deposits = `/v1/deposits?customer_id=${customer_id}`
  await eventually(async () => {
    const { json } = await api.get(deposits)
    expect(json.data).toMatchObject([{ status: 'completed', amount: AMOUNT.toString(), output_index: 0 }])
  }, PATIENT)
  const order = {
    ...{ customer_id, asset: 'BTC', network: 'bitcoin', amount: '1000000', idempotency_key: 'first' },
    destination_address: recipient.address,
  }
  const made = await eventually(async () => {
    const answer = await api.post('/v1/onchain/transfers', order)
    expect(answer).toMatchObject({ status: 201 })
    return answer
  }, PATIENT)
  const transfer = `/v1/onchain/transfers/${made.json.id}`
  await eventually(async () => expect((await api.get(transfer)).json.status).toBe('processing'), PATIENT)
  await node.mine(confirmations)
  await eventually(async () => expect((await api.get(transfer)).json.status).toBe('confirmed'), PATIENT)
  expect((await api.get(deposits)).json.data, 'one deposit').toHaveLength(1)
  expect((await direct.audit()).production.findings).toEqual([])
  for (const text of [first.output(), server.output(), await dumpTables(direct.database.url)])
    for (const secret of spellingsOfText(account.privateExtendedKey!))
      expect(text.includes(secret), 'the private key is in the log or in a table').toBe(false)
}, 400_000)
