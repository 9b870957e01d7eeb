import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HDKey } from '@scure/bip32'
import { addr } from 'micro-eth-signer'
import { encodeFunctionData } from 'viem'
import type { Reach } from '../src/cli/command.ts'
import { withDatabase } from '../src/cli/with-database.ts'
import { act } from '../src/control/operator/act.ts'
import type { MoneyAction } from '../src/control/operator/actions.ts'
import type { OperatorActor } from '../src/core/actor.ts'
import { makeCpf } from '../src/core/document.ts'
import { networks } from '../src/core/networks.ts'
import { addDepositAddress } from '../src/money/deposits/addresses.ts'
import { type Config, readConfig } from '../src/node/config.ts'
import { startService } from '../src/node/serve.ts'
import { addCustomer } from '../src/parties/customers/customers.ts'
import { listPartners } from '../src/parties/partners/partners.ts'
import { type Anvil, startAnvil } from '../test/chains/anvil.ts'
import { deployToken, type TestToken, tokenArtefact } from '../test/chains/token.ts'

/**
 * A whole Trilho that pays and is paid on a chain of this machine: a node (anvil) with Polygon's chain id, a token in place of USDT, a
 * funded wallet, deposit addresses, and a service whose production world uses them. Everything lives in a new folder and is gone at the
 * end.
 */
const USDT = 10n ** 6n
const WALLET_TOKENS = 100_000n * USDT
const CUSTOMER_TOKENS = 1_000n * USDT
const GAS_COIN = 10n ** 20n
const BLOCK_SECONDS = 1
const DEPOSITED_TOKENS = 5n * USDT
/** The recipient of the transfer in the printed instructions. */
const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const operators = ['maria@operator.example', 'joao@operator.example'] as const

const node = await startChain()
const [payer] = (await node.call<string[]>('eth_accounts')) as [string]
const folder = await mkdtemp(join(tmpdir(), 'trilho-local-chain-'))
try {
  const token = await deployToken(node)
  await serve(await configure(node, token, folder), token)
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

/** Runs the service until a signal stops it. */
async function serve(config: Config, token: TestToken): Promise<void> {
  const service = await startService({
    config,
    print: (text) => void process.stdout.write(text),
    onFatal(error) {
      throw error
    },
  })
  try {
    process.stdout.write(renderInstructions(service.url, token, await withDatabase(config, prepare)))
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

async function configure(node: Anvil, token: TestToken, folder: string): Promise<Config> {
  const key = randomBytes(32)
  const wallet = addr.fromPrivateKey(new Uint8Array(key))
  const deposits = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'")
  await token.mint(wallet, WALLET_TOKENS)
  await token.mint(payer, WALLET_TOKENS)
  await node.setBalance(wallet, GAS_COIN)
  // What the wallet holds is read at a block that is final.
  await node.mine(2 * networks.polygon.confirmations)
  await node.call('evm_setIntervalMining', BLOCK_SECONDS)
  return readConfig({
    LOG_LEVEL: 'warn',
    DRAIN_MS: '0',
    ...process.env,
    DATA_DIR: folder,
    EVM_WALLET_KEY: key.toString('hex'),
    EVM_WALLET: wallet,
    EVM_DEPOSIT_XPUB: deposits.publicExtendedKey,
    EVM_DEPOSIT_KEY: deposits.privateExtendedKey!,
    POLYGON_RPC: node.url,
    POLYGON_USDT: token.contract,
  })
}

type Prepared = {
  readonly key: string
  readonly customer_id: string
  readonly deposit_address: string
  readonly logins: readonly string[]
}

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
  const { address } = await addDepositAddress(world, { partner_id }, { customer_id, network: 'polygon' })
  const reference = 'local chain'
  await byTwo(office, [maria, joao], {
    name: 'move_custody',
    details: {
      ...{ rail: 'polygon', direction: 'to_rail', asset: 'USDT', amount: WALLET_TOKENS.toString() },
      ...{ reason: 'what the wallet was funded with', reference },
    },
  })
  await byTwo(office, [maria, joao], {
    name: 'credit',
    details: {
      ...{ partner_id, customer_id, asset: 'USDT', amount: CUSTOMER_TOKENS.toString() },
      ...{ reason: 'a first balance', reference },
    },
  })
  const logins = [maria.login, joao.login]
  return { key: made.done.value, customer_id, deposit_address: address.address, logins }
}

type Office = Reach['office']

async function makeOperator(
  office: Office,
  by: Parameters<typeof act>[1],
  email: string,
): Promise<OperatorActor & { readonly login: string }> {
  const made = await act(office, by, {
    name: 'create_user',
    details: { email, name: email, partner_id: null, role: 'admin' },
  })
  if (!('done' in made)) throw new Error(`${email} was not made`)
  const { user, password } = made.done
  return { kind: 'operator', user_id: user.id, email, role: 'admin', login: `${email}   ${password}` }
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

/** The body of a JSON-RPC call with which a stranger pays tokens to a deposit address. */
function paymentTo(address: string, token: TestToken): string {
  const { abi } = tokenArtefact
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [address, DEPOSITED_TOKENS] })
  const params = [{ from: payer, to: token.contract, data }]
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params })
}

function renderInstructions(url: string, token: TestToken, prepared: Prepared): string {
  const { key, customer_id, deposit_address, logins } = prepared
  const order = {
    ...{ customer_id, asset: 'USDT', network: 'polygon', amount: '2500000' },
    ...{ destination_address: DESTINATION, idempotency_key: 'first' },
  }
  const { title, confirmations } = networks.polygon
  return `
  Production pays on a chain of this machine (${title}'s chain id, a block every second). Paste this into another
  terminal, once for the transfer and again for the retry, which pays nothing more:

    export TRILHO_URL=${url} TRILHO_KEY=${key} CUSTOMER=${customer_id}
    curl -s "$TRILHO_URL/v1/onchain/transfers" -H "Authorization: Bearer $TRILHO_KEY" -H 'Content-Type: application/json' \\
      -d '${JSON.stringify(order)}'

  It is confirmed after ${confirmations} blocks. The customer has a deposit address, ${deposit_address}.
  Here somebody pays 5 USDT to it, and the deposit is credited after ${confirmations} blocks:

    curl -s ${node.url} -H 'Content-Type: application/json' -d '${paymentTo(deposit_address, token)}'
    curl -s "$TRILHO_URL/v1/deposits?customer_id=$CUSTOMER" -H "Authorization: Bearer $TRILHO_KEY"

  See both in the console under Production, as the owner above: ${url}/console
  Operators see the wallet and compare the books under Rails & workers; each sets up a second factor first:

${logins.map((login) => `    ${login}`).join('\n')}

  Ctrl+C ends everything, and nothing is kept.

`
}
