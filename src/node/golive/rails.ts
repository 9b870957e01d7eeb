import type { FoundOut, HeldFacts, NoticeAddress, RailFacts } from '../../control/golive/facts.ts'
import { newestPaidFrom, newestPaidOver } from '../../control/golive/store.ts'
import { type Network, type NetworkRow, networks } from '../../core/networks.ts'
import { freeRail, type RailName, selectControls } from '../../money/custody/controls-store.ts'
import { holdingsOfRail, newestPixReconciliation, newestReconciliations } from '../../money/custody/store.ts'
import type { RemoteSigner } from '../../rails/signer/remote.ts'
import type { World } from '../../world.ts'
import type { Config } from '../config.ts'
import { findOut, reasonOf } from './find-out.ts'

type Production = World<'production'>

const controlOf = ({ reads }: Production, rail: RailName) =>
  findOut(async () => (await selectControls(reads)).find((one) => one.rail === rail) ?? freeRail(rail))

/** What the check of a rail says is known, also when it says that something is wrong. */
const problemOf = (check: () => Promise<unknown>): Promise<FoundOut<string | null>> =>
  findOut(() =>
    check().then(
      () => null,
      (error: unknown) => `${reasonOf(error)}.`,
    ),
  )

type SignerReach = {
  readonly config: Pick<Config, 'chains'>
  readonly remote_signer: Pick<RemoteSigner, 'check'> | undefined
}

/** The addresses of a remote signer come from the settings: only its own answer shows that it runs. */
async function signerOf(
  network: Network,
  { config: { chains }, remote_signer }: SignerReach,
): Promise<FoundOut<string | null>> {
  const [key, setting] =
    network === 'tron'
      ? [chains.tron.key, 'TRON_WALLET_KEY']
      : network === 'bitcoin'
        ? [chains.bitcoin.key, 'BITCOIN_WALLET_KEY']
        : [chains.evm_key, 'EVM_WALLET_KEY']
  if (remote_signer) return problemOf(() => remote_signer.check())
  return key === undefined
    ? { unknown: `this node has no key of a wallet: ${setting} is not set` }
    : { known: null }
}

export async function askChain(world: Production, network: Network, reach: SignerReach): Promise<RailFacts> {
  const { reads } = world
  const chain = world.chains[network]
  const row: NetworkRow = networks[network]
  // The check inspects the endpoints, which the node may not have asked for a while.
  const check = await problemOf(() => chain.check())
  const [wallet, signer, control, held, reconciled] = await Promise.all([
    findOut(async () => (await chain.wallet()).wallet),
    signerOf(network, reach),
    controlOf(world, network),
    findOut(async () => {
      const stored = await holdingsOfRail(reads, network)
      return stored && { amount: stored.asset_amount, gas: stored.native_amount, age_ms: stored.age_ms }
    }),
    findOut(async () => (await newestReconciliations(reads, network, 1))[0]),
  ])
  const endpoints = chain.endpoints()
  return {
    ...{ rail: network, asset: row.asset, gas_coin: row.kind === 'evm' ? row.gas_coin : null },
    ...{ check, wallet, signer, control, held, reconciled, notices: undefined },
    endpoints: {
      healthy: endpoints.filter(({ state }) => state === 'healthy').length,
      all: endpoints.length,
    },
    round_trip:
      'known' in wallet
        ? await findOut(() => newestPaidFrom(reads, { network, wallet: wallet.known }))
        : wallet,
  }
}

export async function askPix(world: Production, config: Config): Promise<RailFacts> {
  const { reads, pix } = world
  const [check, control, held, reconciled, notices, round_trip] = await Promise.all([
    problemOf(() => pix.ready()),
    controlOf(world, 'pix'),
    findOut(async (signal): Promise<HeldFacts | undefined> => {
      const balance = await pix.account?.balance(signal)
      return balance && { amount: balance.available, gas: 0n, age_ms: 0 }
    }),
    findOut(() => newestPixReconciliation(reads)),
    findOut(async (signal) => noticeOf(await pix.noticeAddress?.(signal), config)),
    findOut(() => newestPaidOver(reads, pix.provider)),
  ])
  return {
    ...{
      rail: 'pix',
      asset: 'BRL',
      gas_coin: null,
      wallet: undefined,
      signer: undefined,
      endpoints: undefined,
    },
    ...{ check, control, held, reconciled, round_trip },
    notices: pix.noticeAddress ? notices : undefined,
  }
}

/** The provider may add a path or a query to the registered address. */
function noticeOf(address: string | undefined, { public_url, efi }: Config): NoticeAddress | null {
  if (address === undefined) return null
  const ours = `${public_url}/rails/pix/efi/${efi.notice_token}`
  return {
    is_ours: address.startsWith(ours),
    // The address ends with a secret.
    host: URL.canParse(address) ? new URL(address).host : '?',
  }
}
