import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addr } from 'micro-eth-signer'
import type { Reach } from '../src/cli/command.ts'
import { withDatabase } from '../src/cli/with-database.ts'
import { act } from '../src/control/operator/act.ts'
import type { MoneyAction } from '../src/control/operator/actions.ts'
import type { OperatorActor } from '../src/core/actor.ts'
import { makeCpf } from '../src/core/document.ts'
import { networks } from '../src/core/networks.ts'
import { type Config, readConfig } from '../src/node/config.ts'
import { startService } from '../src/node/serve.ts'
import { addCustomer } from '../src/parties/customers/customers.ts'
import { listPartners } from '../src/parties/partners/partners.ts'
import { type Anvil, startAnvil } from '../test/chains/anvil.ts'
import { deployToken } from '../test/chains/token.ts'

/**
 * A whole Trilho that pays on a chain of this machine: a node (anvil) with Polygon's chain id, a token in place of USDT, a funded
 * wallet, and a service whose production world pays from it. Everything lives in a new folder and is gone at the end.
 */
const USDT = 10n ** 6n
const WALLET_TOKENS = 100_000n * USDT
const CUSTOMER_TOKENS = 1_000n * USDT
const GAS_COIN = 10n ** 20n
const BLOCK_SECONDS = 1
/** Somebody to pay. */
const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const operators = ['maria@operator.example', 'joao@operator.example'] as const

const node = await startChain()
const folder = await mkdtemp(join(tmpdir(), 'trilho-local-chain-'))
try {
  await serve(await configure(node, folder))
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  const text =
    code === 'EADDRINUSE' ? `${message}. Choose another port: PORT=8081 npm run local-chain` : message
  process.stderr.write(`${text}\n`)
  process.exitCode = 1
} finally {
  await node.stop()
  await rm(folder, { recursive: true, force: true })
}
process.exit()

/** Until it is told to stop. */
async function serve(config: Config): Promise<void> {
  const service = await startService({
    config,
    print: (text) => void process.stdout.write(text),
    onFatal(error) {
      throw error
    },
  })
  try {
    process.stdout.write(renderInstructions(service.url, await withDatabase(config, prepare)))
    await new Promise<void>((resolve) => {
      // Ctrl+C reaches this process from the terminal and from npm; the second signal must not cut the first one short.
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
    })
  } finally {
    await service.stop()
  }
}

async function startChain(): Promise<Anvil> {
  try {
    return await startAnvil({ chain_id: Number(networks.polygon.chain_id) })
  } catch (error) {
    throw new Error(
      `anvil does not start; its package exists for Linux on x64 only. ${(error as Error).message}`,
    )
  }
}

async function configure(node: Anvil, folder: string): Promise<Config> {
  const key = randomBytes(32)
  const wallet = addr.fromPrivateKey(new Uint8Array(key))
  const token = await deployToken(node)
  await token.mint(wallet, WALLET_TOKENS)
  await node.setBalance(wallet, GAS_COIN)
  await node.call('evm_setIntervalMining', BLOCK_SECONDS)
  return readConfig({
    LOG_LEVEL: 'warn',
    DRAIN_MS: '0',
    ...process.env,
    DATA_DIR: folder,
    EVM_WALLET_KEY: key.toString('hex'),
    EVM_WALLET: wallet,
    POLYGON_RPC: node.url,
    POLYGON_USDT: token.contract,
  })
}

type Prepared = { readonly key: string; readonly customer_id: string }

/** As two operators would: one proposes what moves money, the other approves it. */
async function prepare({ office, shared, worlds }: Reach): Promise<Prepared> {
  const [partner] = await listPartners(shared)
  const partner_id = partner!.id
  const maria = await makeOperator(office, { kind: 'shell' }, operators[0])
  const joao = await makeOperator(office, maria, operators[1])
  const world = worlds.production
  const made = await act(office, maria, {
    name: 'create_key',
    environment: 'production',
    details: { partner_id, name: 'Live key of the local chain' },
  })
  if (!('done' in made)) throw new Error('the key was not made')
  const { id: customer_id } = await addCustomer(world, {
    partner_id,
    name: 'Ana Souza',
    document: makeCpf('529982247'),
  })
  const reference = 'local chain'
  await byTwo(office, [maria, joao], {
    name: 'credit',
    details: {
      ...{ partner_id, customer_id, asset: 'USDT', amount: CUSTOMER_TOKENS.toString() },
      ...{ reason: 'a first balance', reference },
    },
  })
  return { key: made.done.value, customer_id }
}

type Office = Reach['office']

async function makeOperator(
  office: Office,
  by: Parameters<typeof act>[1],
  email: string,
): Promise<OperatorActor> {
  const made = await act(office, by, {
    name: 'create_user',
    details: { email, name: email, partner_id: null, role: 'admin' },
  })
  if (!('done' in made)) throw new Error(`${email} was not made`)
  return { kind: 'operator', user_id: made.done.user.id, email, role: 'admin' }
}

async function byTwo(
  office: Office,
  [proposer, approver]: readonly [OperatorActor, OperatorActor],
  { name, details }: MoneyAction,
): Promise<void> {
  const proposed = await act(office, proposer, { name, details, environment: 'production' } as never)
  if (!('proposed' in proposed)) throw new Error(`${name} was not proposed`)
  await act(office, approver, { name: 'approve', details: { proposal_id: proposed.proposed.id } })
}

function renderInstructions(url: string, { key, customer_id }: Prepared): string {
  const order = {
    ...{ customer_id, asset: 'USDT', network: 'polygon', amount: '2500000' },
    ...{ destination_address: DESTINATION, idempotency_key: 'first' },
  }
  return `
  Production pays on a chain of this machine (${networks.polygon.title}'s chain id, a block every second). Paste this into another
  terminal, once for the transfer and again for the retry, which pays nothing more:

    export TRILHO_URL=${url} TRILHO_KEY=${key} CUSTOMER=${customer_id}
    curl -s "$TRILHO_URL/v1/onchain/transfers" -H "Authorization: Bearer $TRILHO_KEY" -H 'Content-Type: application/json' \\
      -d '${JSON.stringify(order)}'

  It is confirmed after ${networks.polygon.confirmations} blocks. See it in the console under Production: ${url}/console
  Ctrl+C ends everything, and nothing is kept.

`
}
