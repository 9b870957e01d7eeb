/** The parts, as the start and the report name them. */
export const parts: readonly {
  readonly part: string
  readonly is: 'real' | 'stub'
  readonly about: string
}[] = [
  {
    part: 'Trilho',
    is: 'real',
    about: 'two nodes, each a process of its own, with the settings of production and no key of a wallet',
  },
  {
    part: 'Signer',
    is: 'real',
    about: 'one more process, trilho signer, with a folder, a log and settings of its own: it has every key',
  },
  {
    part: 'PostgreSQL',
    is: 'real',
    about: 'a primary and a synchronous standby, two servers with files of their own',
  },
  {
    part: 'Ethereum, Polygon, Arbitrum, Optimism',
    is: 'real',
    about: 'four EVM nodes (anvil) with the chain ids of these networks; a token contract in place of USDT',
  },
  {
    part: 'Bitcoin',
    is: 'real',
    about: 'a node of Bitcoin Core’s lineage on a chain of its own: bitcoind, or litecoind of Debian',
  },
  {
    part: 'Tron',
    is: 'stub',
    about:
      'two endpoints in front of one chain in memory, which checks signatures and expiry as java-tron does, and knows USDT only',
  },
  { part: 'Efí, the bank of Pix', is: 'stub', about: 'answers as its documentation describes, over TLS' },
  {
    part: 'Exchanges',
    is: 'stub',
    about: 'Binance, Bitso, Mercado Bitcoin, Kraken and Coinbase in their documented forms',
  },
]
