import { addr } from 'micro-eth-signer'
import type { Logger } from 'pino'
import type { Clock } from '../core/clock.ts'
import { type Network, networks } from '../core/networks.ts'
import { type FollowedChain, followedChain } from '../money/onchain/coins/chain.ts'
import { sweepsSignedWithinAnHour } from '../money/sweeps/store.ts'
import { openBitcoinRpc } from '../rails/chain/bitcoin/nodes.ts'
import { scriptOf } from '../rails/chain/bitcoin/transaction.ts'
import { openBitcoinRail } from '../rails/chain/bitcoin.ts'
import {
  type DepositAddresses,
  type DepositXpubs,
  derivedAddresses,
  encodeAddress,
} from '../rails/chain/deposit-addresses.ts'
import { type EvmNetwork, isEvmNetwork, openEvmRpc } from '../rails/chain/evm/network.ts'
import { evmSweeper, type Sweeper } from '../rails/chain/evm/sweeping.ts'
import { evmChain } from '../rails/chain/evm.ts'
import { type ChainRail, type Chains, chainsOf } from '../rails/chain/rail.ts'
import type { Rpc } from '../rails/chain/rpc.ts'
import { unavailableChain } from '../rails/chain/unavailable.ts'
import { type EfiRail, openEfi } from '../rails/pix/efi/rail.ts'
import type { PixRail } from '../rails/pix/rail.ts'
import { openStarkBank, type StarkRail } from '../rails/pix/starkbank/rail.ts'
import { unavailablePix } from '../rails/pix/unavailable.ts'
import { type ExchangePrices, exchangePrices } from '../rails/prices/exchanges.ts'
import type { MarketFeed } from '../rails/prices/feed.ts'
import { filePrices, noPrices } from '../rails/prices/file.ts'
import { localBitcoinSigner } from '../rails/signer/bitcoin.ts'
import { gasPointOf, openDepositKeys } from '../rails/signer/deposit-keys.ts'
import type { SignedBefore } from '../rails/signer/hourly.ts'
import { localSigner } from '../rails/signer/local.ts'
import {
  type ExpectedSigner,
  type RemoteSigner,
  remoteSigner,
  type SignerCall,
  type SignerPlace,
} from '../rails/signer/remote.ts'
import { type SealTransfer, sealKeyOf, sealOf } from '../rails/signer/seal.ts'
import type { Signer } from '../rails/signer/signer.ts'
import { localSweepSigner, type SweepSigner } from '../rails/signer/sweeps.ts'
import { secretOf } from '../rails/signer/wallet-key.ts'
import type { World } from '../world.ts'
import type { Config } from './config.ts'
import { openTron } from './rails-tron.ts'

/** What production pays with, made from the settings. A network without endpoints stays unavailable. */
export type ProductionRails = {
  readonly pix: PixRail<'production'>
  readonly chains: Chains<'production'>
  readonly deposit_addresses: DepositAddresses<'production'>
  readonly prices: World<'production'>['prices']
  readonly transferSeals: () => Promise<SealTransfer>
  /** The chains that are followed block by block. */
  readonly followers: readonly FollowedChain[]
  /** The networks whose deposits can be swept into the wallet; without the key of deposit addresses only the USDT at them is counted. */
  readonly sweepers: readonly Sweeper[]
  /** The signer in a process of its own, with SIGNER_URL. */
  readonly remote_signer: RemoteSigner | undefined
  /** The wallet of each configured network, as far as this node knows it. No chain is asked. */
  wallets(): Promise<Partial<Record<Network, string>>>
  stop(): Promise<void>
}

type RailSettings = Pick<
  Config,
  | 'efi'
  | 'starkbank'
  | 'chains'
  | 'prices_from'
  | 'prices_file'
  | 'exchange_urls'
  | 'quoting'
  | 'rail_timeout_ms'
>

export type RailOptions = {
  readonly config: RailSettings
  /** The key of the audit log, from which the seal key is derived. */
  readonly logKey: () => Promise<Buffer>
  /** What was signed within the last hour: a restart does not lift the signer's limits. */
  readonly signedBefore: () => Promise<readonly SignedBefore[]>
  /** The database of production, which is opened after its rails. */
  readonly db: () => World<'production'>['db']
  readonly onSignerCall?: (call: SignerCall) => void
  readonly clock: Clock
  readonly log: Logger
}

const isConfigured = ({ chains }: Pick<Config, 'chains'>, network: Network): boolean =>
  chains[network].rpc.length > 0

/** Whether production pays Pix. */
export const isPixConfigured = ({ efi, starkbank }: Pick<Config, 'efi' | 'starkbank'>): boolean =>
  efi.client_id !== undefined || starkbank.project_id !== undefined

/** The name of the Pix provider of production, where one is configured. */
export const pixProviderOf = ({ starkbank }: Pick<Config, 'starkbank'>): string =>
  starkbank.project_id === undefined ? 'Efí' : 'Stark Bank'

/** The networks of production that have endpoints. */
export const configuredNetworks = (config: Pick<Config, 'chains'>): readonly Network[] =>
  (Object.keys(networks) as Network[]).filter((network) => isConfigured(config, network))

export function openProductionRails(options: RailOptions): ProductionRails {
  const { config, logKey, clock, log } = options
  const exchanges = openExchanges(options)
  const { prices_file } = config
  const prices = exchanges ?? (prices_file === undefined ? undefined : filePrices({ path: prices_file, log }))
  let seal_key: Buffer | undefined
  const sealKey = async () => (seal_key ??= sealKeyOf(await logKey()))
  const remote = openRemote(options, sealKey)
  const parts = { ...options, sealKey, remote, ethPrice: () => etherPrice(prices, clock) }
  const evm = openEvm(parts)
  const bitcoin = isConfigured(config, 'bitcoin') ? openBitcoin(parts) : undefined
  const tron = isConfigured(config, 'tron') ? openTron({ ...parts, keyless }) : undefined
  const followers = [...(bitcoin ? [bitcoin.chain] : []), ...(tron ? [tron.chain] : [])]
  const pix = openConfiguredEfi(parts) ?? openConfiguredStarkBank(parts)

  return {
    pix: pix ?? unavailablePix,
    prices: prices ?? noPrices,
    followers,
    sweepers: evm.sweepers,
    remote_signer: remote,
    chains: chainsOf(
      (network) =>
        followers.find((chain) => chain.network === network) ??
        evm.chains.get(network) ??
        unavailableChain(network),
    ),
    deposit_addresses: derivedAddresses('production', xpubsOf(config), (network) =>
      isConfigured(config, network),
    ),
    async transferSeals() {
      if (configuredNetworks(config).length === 0) return () => null
      const key = await sealKey()
      return (ordered) => sealOf(key, ordered)
    },
    wallets: async () => ({
      ...(await evm.signer.addresses()),
      ...(await bitcoin?.signer.addresses()),
      ...(await tron?.signer.addresses()),
    }),
    async stop() {
      const rpcs = [...evm.rpcs, ...(bitcoin ? [bitcoin.rpc] : []), ...(tron ? [tron.rpc] : [])]
      const others = [exchanges, pix, remote].flatMap((one) => one ?? [])
      await Promise.all([...rpcs, ...others].map((one) => one.stop()))
    },
  }
}

function xpubsOf({ chains }: RailSettings): DepositXpubs {
  const { evm_deposit_xpub: evm, bitcoin, tron } = chains
  return {
    ...(evm === undefined ? {} : { evm }),
    ...(bitcoin.deposit_xpub === undefined ? {} : { bitcoin: bitcoin.deposit_xpub }),
    ...(tron.deposit_xpub === undefined ? {} : { tron: tron.deposit_xpub }),
  }
}

function openExchanges({ config, clock, log }: RailOptions): ExchangePrices | undefined {
  if (config.prices_from !== 'exchanges') return undefined
  const { exchange_urls: urls, quoting } = config
  return exchangePrices({ urls, age_most_ms: quoting.price_max_age_ms, clock, log })
}

type Parts = RailOptions & {
  readonly sealKey: () => Promise<Buffer>
  readonly ethPrice: () => Promise<bigint | undefined>
  readonly remote: RemoteSigner | undefined
}

/** Undefined without SIGNER_URL. The configuration has everything that the kind of connection needs. */
function openRemote(
  { config, log, onSignerCall }: RailOptions,
  sealKey: () => Promise<Buffer>,
): RemoteSigner | undefined {
  const { place, certificate, ca } = config.chains.remote
  if (place === undefined) return undefined
  const full: SignerPlace = place.kind === 'unix' ? place : { ...place, certificate: certificate!, ca: ca! }
  return remoteSigner({
    ...{ place: full, expected: expectedSigner(config), sealKey, log },
    timeout_ms: config.rail_timeout_ms,
    ...(onSignerCall ? { onCall: onSignerCall } : {}),
  })
}

function expectedSigner(config: RailSettings): ExpectedSigner {
  const { remote, signer, evm_wallet, evm_deposit_xpub: xpub, bitcoin } = config.chains
  const configured = configuredNetworks(config)
  const pinned = { bitcoin: bitcoin.wallet, tron: config.chains.tron.wallet }
  const others = Object.entries(pinned).filter(
    ([network, wallet]) => configured.includes(network as Network) && wallet !== undefined,
  )
  return {
    wallets: {
      ...evmAddresses(evm_wallet, configured.filter(isEvmNetwork)),
      ...Object.fromEntries(others),
    },
    amounts_per_hour: { usdt: signer.amount, btc: signer.btc },
    ...(remote.deposits.includes('evm') && xpub !== undefined
      ? { gas_account: encodeAddress.evm(gasPointOf(xpub)) }
      : {}),
    ...(remote.deposits.includes('bitcoin') && bitcoin.deposit_xpub !== undefined
      ? {
          bitcoin_deposits: derivedAddresses('production', { bitcoin: bitcoin.deposit_xpub }).addressOf(
            'bitcoin',
            0,
          ),
        }
      : {}),
  }
}

/** Undefined: production has no Pix. The configuration has all parts, or none. */
function openConfiguredEfi({ config, clock, log }: Parts): EfiRail | undefined {
  const { client_id, client_secret, certificate, pix_key, at_once, url, ca } = config.efi
  if (!client_id || !client_secret || !certificate || !pix_key) return undefined
  const access = { url, client_id, client_secret, certificate, ...(ca === undefined ? {} : { ca }) }
  return openEfi({ access, pix_key, at_once, timeout_ms: config.rail_timeout_ms, clock, log })
}

function openConfiguredStarkBank({ config, clock, log }: Parts): StarkRail | undefined {
  const { project_id, private_key, at_once, url, ca } = config.starkbank
  if (!project_id || !private_key) return undefined
  const access = { url, project_id, private_key, ...(ca === undefined ? {} : { ca }) }
  return openStarkBank({ access, at_once, timeout_ms: config.rail_timeout_ms, clock, log })
}

function openEvm({ config, sealKey, signedBefore, db, ethPrice, remote, clock, log }: Parts) {
  const { chains: given, rail_timeout_ms: timeout_ms } = config
  const configured = configuredNetworks(config).filter(isEvmNetwork)
  const signer = remote?.transfers ?? openEvmSigner(config, configured, { sealKey, signedBefore, clock })
  const openSweeper = sweepersOf(config, configured, { db, clock, remote })
  const rpcs: Rpc[] = []
  const sweepers: Sweeper[] = []
  const open = (network: EvmNetwork): ChainRail<'production'> => {
    const { rpc: urls, usdt, cost_most, start_height } = given[network]
    const rpc = openEvmRpc({ network, urls, timeout_ms, clock, log })
    rpcs.push(rpc)
    const sweeper = openSweeper?.(network, rpc)
    if (sweeper) sweepers.push(sweeper)
    return evmChain({
      ...{ network, rpc, signer, clock, log, ethPrice },
      signs: given.evm_key !== undefined || remote !== undefined,
      cost_most_wei: cost_most,
      order_most: given.signer.amount,
      ...(usdt === undefined ? {} : { contract: usdt }),
      ...(given.evm_wallet === undefined ? {} : { wallet: given.evm_wallet }),
      ...(given.evm_deposit_xpub === undefined
        ? {}
        : { deposits: start_height === undefined ? {} : { start_height } }),
    })
  }
  const chains = new Map<Network, ChainRail<'production'>>(
    configured.map((network) => [network, open(network)]),
  )
  return { chains, signer, rpcs, sweepers }
}

/** Undefined without deposit addresses, and on a node that does not know the wallet. */
function sweepersOf(
  { chains }: RailSettings,
  configured: readonly EvmNetwork[],
  { db, clock, remote }: Pick<Parts, 'db' | 'clock' | 'remote'>,
): ((network: EvmNetwork, rpc: Rpc) => Sweeper) | undefined {
  const { evm_deposit_xpub: xpub, evm_deposit_key } = chains
  const wallet = sweptInto(chains)
  if (xpub === undefined || wallet === undefined) return undefined
  const gas_account = encodeAddress.evm(gasPointOf(xpub))
  const contractOf = ({ usdt }: (typeof chains)[EvmNetwork]) => (usdt === undefined ? {} : { contract: usdt })
  const limitsOf = (network: EvmNetwork) => {
    const { cost_most } = chains[network]
    const { count, costs } = chains.signer
    const per_hour = { count, cost: cost_most * BigInt(costs) }
    return { wallet, cost_most_wei: cost_most, per_hour, ...contractOf(chains[network]) }
  }
  const signer: SweepSigner | undefined = remote
    ? remoteSweeps(chains, remote, { xpub, gas_account })
    : evm_deposit_key === undefined
      ? undefined
      : localSweepSigner({
          keys: openDepositKeys(evm_deposit_key, xpub),
          networks: Object.fromEntries(configured.map((network) => [network, limitsOf(network)])),
          signedBefore: () => sweepsSignedWithinAnHour(db()),
          clock,
        })
  return (network, rpc) =>
    evmSweeper({
      ...{ network, rpc, wallet, gas_account, cost_most_wei: chains[network].cost_most },
      ...contractOf(chains[network]),
      ...(signer === undefined ? {} : { signer }),
    })
}

/** The wallet that sweeps pay into, if this node may sweep. */
function sweptInto({ evm_key, evm_wallet, remote }: RailSettings['chains']): string | undefined {
  if (evm_key !== undefined) return addr.fromPrivateKey(secretOf(evm_key))
  return remote.place !== undefined && evm_wallet !== undefined
    ? addr.addChecksum(evm_wallet.toLowerCase())
    : undefined
}

/** The addresses follow from the public key; the signer was found to have the private one (`remote.ts`). */
function remoteSweeps(
  { remote: { deposits } }: RailSettings['chains'],
  remote: RemoteSigner,
  { xpub, gas_account }: { readonly xpub: string; readonly gas_account: string },
): SweepSigner | undefined {
  if (!deposits.includes('evm')) return undefined
  const { addressOf } = derivedAddresses('production', { evm: xpub })
  return { ...remote.sweeps, gas_account, addressAt: (index) => addressOf('polygon', index) }
}

function openBitcoin({ config, sealKey, signedBefore, db, remote, clock, log }: Parts) {
  const { chains, rail_timeout_ms: timeout_ms } = config
  const { rpc: urls, key, wallet, cookie_file, genesis, start_height, rate_fallback } = chains.bitcoin
  const { fee_most, rate_most, deposit_xpub: xpub, deposit_key: xprv } = chains.bitcoin
  const caps = { fee_most, rate_most }
  const { count, btc: amount, costs } = chains.signer
  const per_hour = { count, amount, cost: fee_most * BigInt(costs) }
  const signer = remote
    ? remote.transfers
    : key === undefined
      ? keyless(wallet === undefined ? {} : { bitcoin: wallet }, 'BITCOIN_WALLET_KEY')
      : localBitcoinSigner({
          ...{ key, sealKey, caps, per_hour, signedBefore, clock },
          ...(xprv === undefined || xpub === undefined ? {} : { deposit_keys: openDepositKeys(xprv, xpub) }),
        })
  const rpc = openBitcoinRpc({
    ...{ urls, timeout_ms, clock, log },
    ...(cookie_file === undefined ? {} : { cookie_file }),
    ...(genesis === undefined ? {} : { genesis }),
  })
  const rail = openBitcoinRail({
    ...{ rpc, signer, caps, rate_fallback, clock, log, is_mainnet: genesis === undefined },
    ...(wallet === undefined ? {} : { wallet }),
  })
  const chain = followedChain({
    ...{ rail, db, clock, log, order_most: amount },
    ...(xpub === undefined || !(xprv !== undefined || chains.remote.deposits.includes('bitcoin'))
      ? {}
      : { canSpendAt: spendableWith(xpub) }),
    ...(start_height === undefined ? {} : { start_height }),
  })
  return { chain, signer, rpc }
}

/** The keys belong to the public key (`openDepositKeys`), which tells the scripts that they spend. */
function spendableWith(xpub: string): (address_index: number, script: string) => boolean {
  const { addressOf } = derivedAddresses('production', { bitcoin: xpub })
  return (address_index, script) => scriptOf(addressOf('bitcoin', address_index)) === script
}

/**
 * A node that only answers calls has no key: it signs nothing. It may know the address, to ask for its nonces or coins when operators
 * resume a rail.
 */
const keyless = (addresses: Awaited<ReturnType<Signer['addresses']>>, setting: string): Signer => {
  const withoutKey = async (): Promise<never> => {
    throw new Error(`This node has no key of a wallet: ${setting} is not set.`)
  }
  return { addresses: async () => addresses, keepRoom: withoutKey, sign: withoutKey }
}

/** The address is written as that of a key is: the database names wallets by it. */
function evmAddresses(wallet: string | undefined, configured: readonly EvmNetwork[]) {
  if (wallet === undefined) return {}
  const address = addr.addChecksum(wallet.toLowerCase())
  return Object.fromEntries(configured.map((network) => [network, address]))
}

function openEvmSigner(
  { chains }: RailSettings,
  configured: readonly EvmNetwork[],
  parts: Pick<Parts, 'signedBefore' | 'clock' | 'sealKey'>,
): Signer {
  const { evm_key: key, signer } = chains
  if (key === undefined) return keyless(evmAddresses(chains.evm_wallet, configured), 'EVM_WALLET_KEY')
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

async function etherPrice(prices: MarketFeed | undefined, clock: Clock): Promise<bigint | undefined> {
  const ether = await prices?.ether()
  if (!ether || clock.now() - ether.at.getTime() > ETHER_PRICE_MAX_AGE_MS) return undefined
  return ether.price / PRICE_TO_UNITS
}
