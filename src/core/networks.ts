/**
 * The networks of on-chain transfers and deposits, one row each. Everything that differs between networks and is known in advance stands
 * here: addresses of tokens, depth of a confirmation, pace of blocks, names and links for people.
 */
export const networkNames = ['polygon', 'arbitrum', 'optimism', 'tron', 'ethereum', 'bitcoin'] as const

export type Network = (typeof networkNames)[number]

const MINUTE_MS = 60_000

export type NetworkRow = {
  /** A network carries one asset. */
  readonly asset: 'USDT' | 'BTC'
  /** Blocks on top of a transaction, its own included, before a transfer is confirmed or a deposit credited (contract §9). */
  readonly confirmations: number
  /** The smallest deposit that is credited by itself, in smallest units: a smaller one costs more to sweep than it is worth. */
  readonly deposit_least: bigint
  /** The longest pause between two status queries of a transfer: about the time between two blocks. */
  readonly poll_most_ms: number
  /** Extra time before a transfer counts as late, on top of the general setting. */
  readonly patience_ms: number
  readonly title: string
  /** A public block explorer; the hash of a transaction follows. */
  readonly explorer: string
} & (
  | {
      readonly kind: 'evm'
      /** EIP-155: part of what is signed, so a transaction for one network is invalid on every other network. */
      readonly chain_id: bigint
      /** Pays for gas; 18 decimals. */
      readonly gas_coin: 'ETH' | 'POL'
      /** First the USDT contract that transfers pay from, then other USDT contracts. All of them are refused as destinations. */
      readonly usdt_contracts: readonly [string, ...string[]]
    }
  | {
      readonly kind: 'tron'
      /** Pays for energy and bandwidth; 6 decimals. */
      readonly gas_coin: 'TRX'
      readonly usdt_contracts: readonly [string, ...string[]]
    }
  | { readonly kind: 'bitcoin' }
)

export const networks = {
  polygon: {
    asset: 'USDT',
    kind: 'evm',
    chain_id: 137n,
    gas_coin: 'POL',
    usdt_contracts: ['0xc2132D05D31c914a87C6611C10748AEb04B58e8F'],
    confirmations: 32,
    deposit_least: 1_000_000n,
    poll_most_ms: 15_000,
    patience_ms: 0,
    title: 'Polygon',
    explorer: 'https://polygonscan.com/tx/',
  },
  arbitrum: {
    asset: 'USDT',
    kind: 'evm',
    chain_id: 42_161n,
    gas_coin: 'ETH',
    usdt_contracts: ['0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'],
    confirmations: 20,
    deposit_least: 1_000_000n,
    poll_most_ms: 15_000,
    patience_ms: 0,
    title: 'Arbitrum One',
    explorer: 'https://arbiscan.io/tx/',
  },
  optimism: {
    asset: 'USDT',
    kind: 'evm',
    chain_id: 10n,
    gas_coin: 'ETH',
    // USDT0, and the bridged token before it: both are in use.
    usdt_contracts: [
      '0x01bFF41798a0BcF287b996046Ca68b395DbC1071',
      '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58',
    ],
    confirmations: 20,
    deposit_least: 1_000_000n,
    poll_most_ms: 15_000,
    patience_ms: 0,
    title: 'OP Mainnet (Optimism)',
    explorer: 'https://optimistic.etherscan.io/tx/',
  },
  tron: {
    asset: 'USDT',
    kind: 'tron',
    gas_coin: 'TRX',
    usdt_contracts: ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    confirmations: 20,
    deposit_least: 1_000_000n,
    poll_most_ms: 15_000,
    patience_ms: 0,
    title: 'Tron (TRC-20)',
    explorer: 'https://tronscan.org/#/transaction/',
  },
  ethereum: {
    asset: 'USDT',
    kind: 'evm',
    chain_id: 1n,
    gas_coin: 'ETH',
    usdt_contracts: ['0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    confirmations: 12,
    deposit_least: 10_000_000n,
    poll_most_ms: 30_000,
    patience_ms: 15 * MINUTE_MS,
    title: 'Ethereum',
    explorer: 'https://etherscan.io/tx/',
  },
  bitcoin: {
    asset: 'BTC',
    kind: 'bitcoin',
    confirmations: 2,
    deposit_least: 10_000n,
    poll_most_ms: 60_000,
    patience_ms: 180 * MINUTE_MS,
    title: 'Bitcoin',
    explorer: 'https://mempool.space/tx/',
  },
} as const satisfies Record<Network, NetworkRow>

export const isNetwork = (name: string): name is Network => Object.hasOwn(networks, name)

export const explorerLink = (network: Network, tx_hash: string): string =>
  `${networks[network].explorer}${encodeURIComponent(tx_hash)}`
