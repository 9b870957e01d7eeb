import { addr } from 'micro-eth-signer'
import type { Logger } from 'pino'
import type { Clock } from '../core/clock.ts'
import { type Network, networks } from '../core/networks.ts'
import type { FollowedChain } from '../money/onchain/coins/chain.ts'
import { type EvmNetwork, isEvmNetwork, openEvmRpc } from '../rails/chain/evm/network.ts'
import { evmChain } from '../rails/chain/evm.ts'
import { type ChainRail, type Chains, chainsOf } from '../rails/chain/rail.ts'
import type { Rpc } from '../rails/chain/rpc.ts'
import { unavailableChain } from '../rails/chain/unavailable.ts'
import { type FilePrices, filePrices, noPrices } from '../rails/prices/file.ts'
import type { SignedBefore } from '../rails/signer/hourly.ts'
import { localSigner } from '../rails/signer/local.ts'
import { type SealTransfer, sealKeyOf, sealOf } from '../rails/signer/seal.ts'
import type { Signer } from '../rails/signer/signer.ts'
import type { World } from '../world.ts'
import type { Config } from './config.ts'

/** What production pays with, made from the settings. A network without endpoints stays unavailable. */
export type ProductionRails = {
  readonly chains: Chains<'production'>
  readonly prices: World<'production'>['prices']
  readonly transferSeals: () => Promise<SealTransfer>
  /** The chains that are followed block by block. */
  readonly followers: readonly FollowedChain[]
  stop(): Promise<void>
}

type RailSettings = Pick<Config, 'chains' | 'prices_file' | 'rail_timeout_ms'>

export type RailOptions = {
  readonly config: RailSettings
  /** The key of the act log, from which the key of seals is derived. */
  readonly logKey: () => Promise<Buffer>
  /** What was signed within the last hour: a restart does not lift the signer's limits. */
  readonly signedBefore: () => Promise<readonly SignedBefore[]>
  readonly clock: Clock
  readonly log: Logger
}

/** The networks of production that have endpoints. */
export const configuredNetworks = ({ chains }: Pick<Config, 'chains'>): readonly EvmNetwork[] =>
  (Object.keys(networks) as Network[])
    .filter(isEvmNetwork)
    .filter((network) => chains[network].rpc.length > 0)

export function openProductionRails({
  config,
  logKey,
  signedBefore,
  clock,
  log,
}: RailOptions): ProductionRails {
  const { chains: given, prices_file } = config
  const prices = prices_file === undefined ? undefined : filePrices({ path: prices_file, log })
  const configured = configuredNetworks(config)
  let seal_key: Buffer | undefined
  const sealKey = async () => (seal_key ??= sealKeyOf(await logKey()))
  const signer = openSigner(config, configured, { sealKey, signedBefore, clock })
  const opened: Rpc[] = []

  const open = (network: EvmNetwork): ChainRail<'production'> => {
    const { rpc: urls, usdt, cost_most } = given[network]
    const rpc = openEvmRpc({ network, urls, timeout_ms: config.rail_timeout_ms, clock, log })
    opened.push(rpc)
    return evmChain({
      ...{ network, rpc, signer, clock, log },
      signs: given.evm_key !== undefined,
      cost_most_wei: cost_most,
      order_most: given.signer.amount,
      ethPrice: () => etherPrice(prices, clock),
      ...(usdt === undefined ? {} : { contract: usdt }),
      ...(given.evm_wallet === undefined ? {} : { wallet: given.evm_wallet }),
    })
  }

  return {
    prices: prices ?? noPrices,
    followers: [],
    chains: chainsOf((network) =>
      isEvmNetwork(network) && configured.includes(network) ? open(network) : unavailableChain(network),
    ),
    async transferSeals() {
      if (configured.length === 0) return () => null
      const key = await sealKey()
      return (ordered) => sealOf(key, ordered)
    },
    async stop() {
      await Promise.all(opened.map((rpc) => rpc.stop()))
    },
  }
}

/**
 * A node that only answers calls has no key: it signs nothing. It may know the address, to ask for its nonces when operators resume
 * a rail. The address is written as that of a key is: the database names wallets by it.
 */
const keyless = (wallet: string | undefined, configured: readonly EvmNetwork[]): Signer => ({
  async addresses() {
    const address = wallet && addr.addChecksum(wallet.toLowerCase())
    return Object.fromEntries(address ? configured.map((network) => [network, address]) : [])
  },
  keepRoom: async () => withoutKey(),
  sign: async () => withoutKey(),
})

const withoutKey = (): never => {
  throw new Error('This node has no key of a wallet: EVM_WALLET_KEY is not set.')
}

function openSigner(
  { chains }: RailSettings,
  configured: readonly EvmNetwork[],
  parts: Pick<RailOptions, 'signedBefore' | 'clock'> & { readonly sealKey: () => Promise<Buffer> },
): Signer {
  const { evm_key: key, signer } = chains
  if (key === undefined) return keyless(chains.evm_wallet, configured)
  const limitsOf = (network: EvmNetwork) => {
    const { cost_most, usdt } = chains[network]
    const per_hour = {
      count: signer.count,
      amount: signer.amount,
      cost: cost_most * BigInt(signer.costs),
    }
    return { cost_most_wei: cost_most, per_hour, ...(usdt === undefined ? {} : { contract: usdt }) }
  }
  const limits = Object.fromEntries(configured.map((network) => [network, limitsOf(network)]))
  return localSigner({ key, networks: limits, ...parts })
}

/** The fee of a transfer has bounds (interface §4.2), so a price of some minutes ago is good enough for it. */
const ETHER_PRICE_MAX_AGE_MS = 600_000
/** A price is in 10^-8, an amount of USDT in 10^-6. */
const PRICE_TO_UNITS = 100n

async function etherPrice(prices: FilePrices | undefined, clock: Clock): Promise<bigint | undefined> {
  const ether = await prices?.ether()
  if (!ether || clock.now() - ether.at.getTime() > ETHER_PRICE_MAX_AGE_MS) return undefined
  return ether.price / PRICE_TO_UNITS
}
