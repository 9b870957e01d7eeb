import type { EvmNetwork } from '../../src/rails/chain/evm/network.ts'
import { openBank } from '../../test/pix/bank.ts'
import { efiSettings, startEfiStub } from '../../test/pix/efi-stub.ts'
import { startCluster } from '../../test/support/cluster.ts'
import { startExchangeStub } from '../../test/support/exchange-stub.ts'
import { openBitcoinChain } from './bitcoin-chain.ts'
import type { Closing } from './closing.ts'
import { openEvmChain } from './evm-chain.ts'
import type { Keys } from './keys.ts'
import { openTronChain } from './tron-chain.ts'

export const evmNetworks = [
  'ethereum',
  'polygon',
  'arbitrum',
  'optimism',
] as const satisfies readonly EvmNetwork[]
export const depositNetworks = [...evmNetworks, 'bitcoin'] as const
/** The rehearsal plays no deposits on Tron. */
export const transferNetworks = [...depositNetworks, 'tron'] as const

const BANK_OPENING = 500_000_00n

/** Everything that is not Trilho: the database, the chains, the bank and the exchanges, with the settings that name them. */
export async function openOutside({
  keys,
  tell,
  closing,
}: {
  keys: Keys
  tell: (text: string) => void
  closing: Closing
}) {
  const cluster = await startCluster()
  closing.push(cluster.stop)
  tell('PostgreSQL: a primary and a synchronous standby')
  const chains = await Promise.all(evmNetworks.map((network) => openEvmChain(network, keys, closing)))
  tell('four EVM nodes, two endpoints each')
  const bitcoin = await openBitcoinChain(keys.bitcoin_wallet, closing)
  tell(`a node of Bitcoin’s lineage: ${bitcoin.node.program}`)
  const tron = await openTronChain(keys.tron_wallet, closing)
  const efi = await startEfiStub(openBank({ opening: BANK_OPENING }))
  closing.push(efi.stop)
  const exchanges = await startExchangeStub()
  closing.push(exchanges.stop)
  tell('stubs of Tron, with two endpoints, of Efí and of the exchanges')
  const contracts: Record<string, string> = Object.assign({}, ...chains.map(({ contract }) => contract))
  const settings: Record<string, string> = {
    ...{ DATABASE_URL: cluster.url, EFI_AT_ONCE: '4', ...efiSettings(efi) },
    ...{ PRICES_FROM: 'exchanges', EXCHANGE_URLS: exchanges.setting },
    ...Object.assign({}, ...chains.map(({ settings: of_chain }) => of_chain)),
    ...{ ...bitcoin.settings, ...tron.settings, ...contracts },
  }
  return {
    ...{ cluster, chains, bitcoin, tron, efi, exchanges, contracts, settings },
    opening: BANK_OPENING,
  }
}
