/** Pages of block explorers, by network. Hashes of the sandbox are simulated and on no chain. */
const explorers: Readonly<Record<string, string>> = {
  ethereum: 'https://etherscan.io/tx/',
  polygon: 'https://polygonscan.com/tx/',
  arbitrum: 'https://arbiscan.io/tx/',
  optimism: 'https://optimistic.etherscan.io/tx/',
  tron: 'https://tronscan.org/#/transaction/',
  bitcoin: 'https://mempool.space/tx/',
}

type Place = { readonly network: string; readonly environment: 'production' | 'sandbox' }

export function explorerUrl(tx_hash: string, { network, environment }: Place): string | undefined {
  const base = environment === 'production' ? explorers[network] : undefined
  return base === undefined ? undefined : base + encodeURIComponent(tx_hash)
}
