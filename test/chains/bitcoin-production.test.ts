import { randomBytes } from 'node:crypto'
import { afterEach, expect } from 'vitest'
import { networks } from '../../src/core/networks.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { runCli } from '../support/cli.ts'
import { createDatabase } from '../support/database.ts'
import { scrape } from '../support/metrics.ts'
import { openDesk } from '../support/operators.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import { type BitcoinNode, startBitcoinNode, bitcoinTest as test } from './bitcoin-node.ts'
import { mineCoins, openTestWallet, type TestWallet } from './bitcoin-wallet.ts'
import { dumpTables, spellingsOf, spellingsOfText } from './secrets.ts'

/** A server whose production world pays BTC from coins on a node, as operators set it up and a partner uses it. */
const TRANSFERS = '/v1/onchain/transfers'
const PATIENT = { timeout: 150_000, interval: 250 }
const FLOOR = 100_000n

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function openStage() {
  const node = await startBitcoinNode()
  closing.push(node.stop)
  // A block of now: the node has left its initial download.
  await node.mine(1)
  const wallet = openTestWallet(randomBytes(32))
  const coins = await mineCoins(node, wallet.script, 2)
  const direct = openDirectAccess(await createDatabase())
  closing.push(direct.stop)
  const env = testEnv(direct.database.url, {
    ...{ BITCOIN_RPC: node.url, BITCOIN_GENESIS: node.genesis, BITCOIN_START_HEIGHT: '0' },
    ...{ BITCOIN_WALLET_KEY: wallet.key, BITCOIN_WALLET: wallet.address, LOG_LEVEL: 'debug' },
  })
  const server = await spawnServer(env)
  closing.push(() => server.kill('SIGTERM'))
  return { node, wallet, direct, env, server, funded: coins.reduce((sum, { amount }) => sum + amount, 0n) }
}

type Stage = Awaited<ReturnType<typeof openStage>>

/** One operator proposes, another one approves. */
async function byTwo({ direct }: Stage, action: Parameters<ReturnType<typeof openDesk>['propose']>[1]) {
  const { propose, approve } = openDesk(() => direct.office)
  const world = direct.worlds.production
  const { id } = await propose(world, action, 'maria@operator.example')
  await approve(world, id, 'joao@operator.example')
}

async function fundedCustomer(stage: Stage) {
  const { partner_id, api } = await stage.direct.partner(stage.server.url, { environment: 'production' })
  const named = { partner_id, name: 'Ana Souza', document: someCpf() }
  const { id: customer_id } = await addCustomer(stage.direct.worlds.production, named)
  const details = { partner_id, customer_id, asset: 'BTC', amount: '50000000' } as const
  await byTwo(stage, { name: 'credit', details: { ...details, reason: 'funding', reference: 'first' } })
  return { api, customer_id }
}

async function command(stage: Stage, args: readonly string[]) {
  const done = await runCli([...args, '--json'], stage.env)
  expect(done, args.join(' ')).toMatchObject({ code: 0 })
  return { json: JSON.parse(done.out), text: done.out + done.err }
}

async function paidTo(node: BitcoinNode, { script }: TestWallet): Promise<bigint> {
  const { total_amount } = await node.call<{ total_amount: number }>('scantxoutset', 'start', [
    `raw(${script})`,
  ])
  return BigInt(Math.round(total_amount * 10 ** 8))
}

test('a live key sends BTC; the node mines it, the transfer is confirmed, and the books match the wallet', async () => {
  const stage = await openStage()
  const { node, wallet, server, direct, funded } = stage
  const checked = await command(stage, ['rails', 'check'])
  expect(checked.json).toEqual({
    ok: true,
    networks: [{ network: 'bitcoin', wallet: wallet.address, endpoints: '1 of 1', problem: null }],
  })
  const move = { rail: 'bitcoin', asset: 'BTC', direction: 'to_rail', amount: funded.toString() } as const
  await byTwo(stage, { name: 'move_custody', details: { ...move, reason: 'mined', reference: 'coins' } })
  await command(stage, ['rails', 'set-limits', 'bitcoin', '--floor', `${FLOOR}`, '--reason', 'first week'])
  const { api, customer_id } = await fundedCustomer(stage)
  const recipient = openTestWallet()
  const order = {
    ...{ customer_id, asset: 'BTC', network: 'bitcoin', amount: '250000', idempotency_key: 'first' },
    destination_address: recipient.address,
  }
  // Until the blocks are read the rail refuses, and the key stays free.
  const made = await eventually(async () => {
    const answer = await api.post(TRANSFERS, order)
    expect(answer).toMatchObject({ status: 201, json: { status: 'pending', fee: '2508' } })
    return answer
  }, PATIENT)
  const path = `${TRANSFERS}/${made.json.id}`
  await eventually(async () => expect((await api.get(path)).json.status).toBe('processing'), PATIENT)
  await node.mine(networks.bitcoin.confirmations)
  await eventually(async () => expect((await api.get(path)).json.status).toBe('confirmed'), PATIENT)
  const shown = await api.get(path)
  expect(await paidTo(node, recipient)).toBe(250_000n)
  expect((await api.post(TRANSFERS, order)).json, 'the same answer again').toEqual(made.json)
  await node.mine(networks.bitcoin.confirmations)

  const reconciled = await eventually(() => command(stage, ['reconcile']), PATIENT)
  expect(reconciled.json.data).toMatchObject([{ rail: 'bitcoin', on_its_way: '0', difference: '0' }])
  expect(BigInt(reconciled.json.data[0].outside), 'the payment and the miner’s fee have left').toBeLessThan(
    funded - 250_000n,
  )
  const rails = await command(stage, ['rails', 'list'])
  expect(rails.json.data.find(({ rail }: { rail: string }) => rail === 'bitcoin')).toMatchObject({
    ...{ configured: true, message: null, floor: `${FLOOR}`, gas_floor: null },
    custody: { gas_coin: '', held: { wallet: wallet.address } },
  })
  const metrics = await scrape(server.url)
  expect(metrics).toContain('trilho_holdings_asset{environment="production",rail="bitcoin"')
  expect(metrics).not.toMatch(/trilho_(?:holdings_gas_|gas_paid_)[a-z_]+\{[^}]*rail="bitcoin"/)
  expect((await direct.audit()).production.findings).toEqual([])

  const secrets = [
    ...spellingsOf(Buffer.from(wallet.key, 'hex')),
    ...spellingsOfText(wallet.key),
    ...spellingsOfText(new URL(node.url).password),
  ]
  const searched = {
    'the log': server.output(),
    'all tables': await dumpTables(direct.database.url),
    answers: [made, shown].map(({ text }) => text).join('\n') + metrics,
    'command lines': [checked, reconciled, rails].map(({ text }) => text).join('\n'),
  }
  for (const [name, text] of Object.entries(searched)) {
    expect(text, name).toMatch(/bitcoin/)
    for (const secret of secrets) expect(text.includes(secret), `a secret is in ${name}`).toBe(false)
  }
}, 400_000)
