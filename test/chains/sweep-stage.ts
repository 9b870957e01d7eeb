import { randomBytes } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { addr } from 'micro-eth-signer'
import { networks } from '../../src/core/networks.ts'
import { setRailLimits } from '../../src/money/custody/controls.ts'
import { insertAddress } from '../../src/money/deposits/addresses-store.ts'
import { noteSighting } from '../../src/money/deposits/sightings.ts'
import { newestSweeps, transactionsOfSweeps } from '../../src/money/sweeps/store.ts'
import { openSweeping } from '../../src/money/sweeps/sweeping.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { openEvmRpc } from '../../src/rails/chain/evm/network.ts'
import { evmSweeper, type SweeperOptions } from '../../src/rails/chain/evm/sweeping.ts'
import { type DepositKeys, openDepositKeys } from '../../src/rails/signer/deposit-keys.ts'
import { localSweepSigner } from '../../src/rails/signer/sweeps.ts'
import { openExceptions } from '../../src/records/exceptions/store.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { silent } from '../support/rail-bench.ts'
import { openDirectAccess, someCpf } from '../support/service.ts'
import { startAnvil } from './anvil.ts'
import { startRpcProxy } from './rpc-proxy.ts'
import { deployToken } from './token.ts'

/** Deposit addresses on an anvil chain, with their rows in a database, and sweepers as nodes have them. */
export type SweepStage = Awaited<ReturnType<typeof openSweepStage>>

export const ETHER = 10n ** 18n
export const DEPTH = 3
/** anvil finalizes the block that is so far below the newest one. */
export const FINALIZED = 64

const NETWORK = 'polygon'

export const newDepositKeys = () => {
  const { privateExtendedKey: xprv, publicExtendedKey: xpub } = HDKey.fromMasterSeed(randomBytes(32))
  return { xprv, xpub, keys: openDepositKeys(xprv, xpub) }
}

type DirectAccess = ReturnType<typeof openDirectAccess>
type Paid = { readonly address: string; readonly amount: bigint; readonly tx_hash?: string }

/** Writes the address of a new customer, and what was credited to it. The tokens are the caller's business. */
export async function creditAt(
  { worlds: { production: world }, partner }: DirectAccess,
  { address_index, address, amounts }: { address_index: number; address: string; amounts: readonly bigint[] },
): Promise<void> {
  const { partner_id } = await partner('', { environment: 'production' })
  const { id: customer_id } = await addCustomer(world, { partner_id, name: 'Ana', document: someCpf() })
  const id = world.newId('deposit_address')
  await insertAddress(world.db, { id, partner_id, customer_id, network: NETWORK, address_index, address })
  for (const amount of amounts) await creditMore(world, { address, amount })
}

/** One more credited deposit at an address that is known. */
export const creditMore = (world: DirectAccess['worlds']['production'], { address, amount, tx_hash }: Paid) =>
  noteSighting(world, {
    ...{ network: NETWORK, address, amount, output_index: 0 },
    tx_hash: tx_hash ?? `0x${randomBytes(32).toString('hex')}`,
    block: { height: 1n, hash: `0x${'1'.repeat(64)}` },
    depth: networks[NETWORK].confirmations,
  })

type SweeperChanges = Partial<SweeperOptions> & { readonly per_hour?: number }
type SweeperParts = Pick<SweeperOptions, 'rpc' | 'wallet' | 'gas_account'> & {
  readonly contract: string
  readonly keys: DepositKeys
}

function sweeperOn({ keys, ...parts }: SweeperParts, { per_hour = 1000, ...rest }: SweeperChanges) {
  const { wallet, contract } = parts
  const limits = { wallet, contract, cost_most_wei: ETHER, per_hour: { count: per_hour, cost: 100n * ETHER } }
  const signer = localSweepSigner({ keys, networks: { [NETWORK]: limits } })
  const terms = { network: NETWORK, signer, cost_most_wei: ETHER, confirmations: DEPTH } as const
  return evmSweeper({ ...parts, ...terms, ...rest })
}

export async function openSweepStage() {
  const node = await startAnvil({ chain_id: Number(networks[NETWORK].chain_id) })
  const token = await deployToken(node)
  const endpoints = [await startRpcProxy(node.url), await startRpcProxy(node.url)] as const
  const database = await createDatabase()
  const direct = openDirectAccess(database)
  const world = direct.worlds.production
  const { keys, xpub } = newDepositKeys()
  const wallet = addr.fromPrivateKey(new Uint8Array(randomBytes(32)))
  const addressAt = (index: number) => addr.fromPrivateKey(keys.secretAt(index))
  const gas_account = addr.fromPrivateKey(keys.gasSecret())
  const rpcs: ReturnType<typeof openEvmRpc>[] = []
  let next_index = 0
  let later_ms = 0
  const clock = { now: () => Date.now() + later_ms, adjust() {} }
  await node.setBalance(gas_account, 10n * ETHER)

  function openSweeper(changes: SweeperChanges = {}) {
    const urls = endpoints.map(({ url }) => url)
    const fresh = {
      ...{ inspect_after_ms: 0, head_age_most_ms: 86_400_000, behind_most: 1000n },
      timeout_ms: 60_000,
    }
    const rpc = openEvmRpc({ network: NETWORK, urls, ...fresh })
    rpcs.push(rpc)
    return sweeperOn({ rpc, keys, wallet, gas_account, contract: token.contract }, changes)
  }

  /** One node: each call is one round of its chore. */
  function openNode(changes: Parameters<typeof openSweeper>[0] = {}) {
    const sweeper = openSweeper(changes)
    const { sweep } = openSweeping({ world: { ...world, clock }, sweeper, log: silent, is_eager: true })
    const round = async () => {
      const client = await world.db.connect()
      try {
        await sweep(client, () => true)
      } finally {
        client.release()
      }
    }
    return { sweeper, round }
  }

  return {
    ...direct,
    ...{ node, token, endpoints, world, wallet, gas_account },
    ...{ keys, xpub, addressAt, openNode, openSweeper, clock },
    admin: (...statements: string[]) => asAdmin(database.url, statements),
    /** The chain and its pool are left alone; what depends on the age of rows sees them older. */
    passTime(ms: number) {
      later_ms += ms
    },
    rule: (sweep_from: bigint | null, sweep_fee_max: bigint | null = ETHER) =>
      setRailLimits(world, {
        ...{ rail: NETWORK, by: 'shell', reason: 'a test' },
        change: { sweep_from, sweep_fee_max },
      }),
    /** A customer with an address that has tokens, final on the chain and credited. */
    async deposit(...amounts: readonly bigint[]): Promise<string> {
      const address_index = next_index++
      const address = addressAt(address_index)
      for (const amount of amounts) await token.mint(address, amount)
      await node.mine(DEPTH)
      await creditAt(direct, { address_index, address, amounts })
      return address
    },
    async sweeps() {
      const sweeps = await newestSweeps(world.db, 100)
      const made = await transactionsOfSweeps(
        world.db,
        sweeps.map(({ id }) => id),
      )
      return sweeps.reverse().map((sweep) => ({ ...sweep, made: made.get(sweep.id) ?? [] }))
    },
    exceptions: async () =>
      (await openExceptions(world.db, 100)).map(({ kind, object_id, details }) => ({
        kind,
        object_id,
        details,
      })),
    async stop(): Promise<void> {
      await Promise.all(rpcs.map((rpc) => rpc.stop()))
      await direct.stop()
      await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
      await node.stop()
    },
  }
}
