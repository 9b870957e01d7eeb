import type { Network } from '../onchain/address.ts'

/** Public block explorers, by network. */
const explorers: Readonly<Record<Network, string>> = {
  polygon: 'https://polygonscan.com/tx/',
  arbitrum: 'https://arbiscan.io/tx/',
  optimism: 'https://optimistic.etherscan.io/tx/',
  tron: 'https://tronscan.org/#/transaction/',
  ethereum: 'https://etherscan.io/tx/',
  bitcoin: 'https://mempool.space/tx/',
}

export const networkTitles: Readonly<Record<Network, string>> = {
  polygon: 'Polygon',
  arbitrum: 'Arbitrum One',
  optimism: 'OP Mainnet (Optimism)',
  tron: 'Tron (TRC-20)',
  ethereum: 'Ethereum',
  bitcoin: 'Bitcoin',
}

export const explorerLink = (network: Network, tx_hash: string): string =>
  `${explorers[network]}${encodeURIComponent(tx_hash)}`
