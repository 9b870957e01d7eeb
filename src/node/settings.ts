import { resolve } from 'node:path'
import { readClientCertificate } from '../rails/pix/efi/certificate.ts'
import { readProjectKey } from '../rails/pix/starkbank/project-key.ts'
import { roles } from './role.ts'
import {
  authorities,
  bitcoinWallet,
  blockHash,
  blockHeight,
  btc,
  certificatePair,
  cidrs,
  databaseUrl,
  depositKinds,
  endpointUrls,
  evmAddress,
  exchangeUrls,
  extendedPrivateKey,
  extendedPublicKey,
  feeRate,
  hexKey,
  httpsOrigin,
  integer,
  integers,
  nameServers,
  oneOf,
  origin,
  partsOf,
  pixKey,
  projectId,
  satoshis,
  sender,
  serviceUrl,
  signerAddress,
  signerUrl,
  smtpServer,
  text,
  tronAddress,
  trx,
  urlToken,
  usdt,
  walletKey,
  wei,
  yesOrNo,
} from './setting-values.ts'

/**
 * Every setting, once: the environment variable, what it is for, its default and how it is read. The configuration, its
 * type, .env.example and `trilho config check` come from here; the place of a setting is its place in the configuration.
 */
export type Setting<T = unknown> = Declared<T> & { readonly name: string; readonly default?: string }

type Declared<T> = {
  readonly about: string
  /** For .env.example, when there is no default. */
  readonly example?: string
  /** The value can also come from the file that NAME_FILE names, and is never printed. */
  readonly secret?: true
  /** Returns the value, or throws what is wrong with the text. */
  readonly read: (text: string) => T
}

/** A setting without a default may be absent. */
function setting<T>(name: string, declared: Declared<T> & { default: string }): Setting<T>
function setting<T>(name: string, declared: Declared<T>): Setting<T | undefined>
function setting<T>(name: string, declared: Declared<T>): Setting<T> {
  return { name, ...declared }
}

const listening = {
  port: setting('PORT', {
    about: 'Port to listen on; 0 takes a free one',
    default: '8080',
    read: integer(0, 65_535),
  }),
  host: setting('HOST', { about: 'Address to listen on', default: '127.0.0.1', read: text }),
  public_url: setting('PUBLIC_URL', {
    about:
      'How partners reach this service; used in doc_url, openapi.json and invitations. Default: http://HOST:PORT, with 127.0.0.1 where HOST is 0.0.0.0',
    example: 'https://api.example.com',
    read: origin,
  }),
  trusted_proxies: setting('TRUST_PROXY', {
    about: 'Proxies whose X-Forwarded-For is believed: addresses and CIDR ranges, separated by commas',
    example: '192.0.2.7, 2001:db8::7',
    default: '',
    read: cidrs,
  }),
  connections: {
    max: setting('CONNECTIONS_MAX', {
      about: 'Connections that may be open to this node at once',
      default: '4096',
      read: integer(10, 1_000_000),
    }),
    per_address: setting('CONNECTIONS_PER_ADDRESS', {
      about:
        'Connections that one address may have open at once (an IPv6 /64 counts as one, a /48 as four); proxies of TRUST_PROXY may have any number',
      default: '512',
      read: integer(1, 1_000_000),
    }),
  },
  drain_ms: setting('DRAIN_MS', {
    about:
      'How long a node that is told to stop goes on serving while /readyz answers 503, in milliseconds; more than a load balancer takes to notice. 0: no drain',
    default: '5000',
    read: integer(0, 600_000),
  }),
  in_flight: setting('REQUESTS_IN_FLIGHT', {
    about:
      'Requests of one partner that a node works on at once, in each environment; more wait a second for their turn, then they are answered with 429',
    default: '256',
    read: integer(1, 100_000),
  }),
  console_writes: {
    per_minute: setting('CONSOLE_WRITES_PER_MINUTE', {
      about:
        'Changes and exports that one person may make in the console in a minute; all people of a partner together five times as many',
      default: '60',
      read: integer(1, 1_000_000),
    }),
    per_day: setting('CONSOLE_WRITES_PER_DAY', {
      about:
        'The same in a UTC day. Each change is a line of the audit log, about 1 kB, which is kept for ever',
      default: '2000',
      read: integer(1, 100_000_000),
    }),
  },
  console_reads: setting('CONSOLE_READS_PER_MINUTE', {
    about:
      'Reads that one person may make in the console in a minute; all people of a partner together four times as many. A page makes about ten when it opens, and two a second while payments pass',
    default: '1200',
    read: integer(1, 1_000_000),
  }),
}

const node = {
  role: setting('ROLE', {
    about:
      'What this node does: api answers calls and sends what it accepted; worker brings payouts, transfers and webhooks to their end, audits and tidies up; all does both. The option --role of serve wins',
    default: 'all',
    read: oneOf(...roles),
  }),
  data_dir: setting('DATA_DIR', {
    about: 'Where the embedded PostgreSQL and the secret key live',
    default: './data',
    read: (dir) => resolve(dir),
  }),
  log_level: setting('LOG_LEVEL', {
    about: 'trace, debug, info, warn, error, fatal or silent',
    default: 'info',
    read: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  }),
  log_format: setting('LOG_FORMAT', {
    about: 'text: lines for people; json: one object per line. Default: text on a terminal, json elsewhere',
    example: 'json',
    read: oneOf('text', 'json'),
  }),
  metrics_token: setting('METRICS_TOKEN', {
    about: 'Bearer token for GET /metrics. Without one they are served on METRICS_PORT only, to this machine',
    secret: true,
    read: text,
  }),
  metrics_port: setting('METRICS_PORT', {
    about:
      'Serves /metrics on a port of its own: to whoever has METRICS_TOKEN, or without one to this machine',
    read: integer(0, 65_535),
  }),
  prometheus_url: setting('PROMETHEUS_URL', {
    about: 'Where this machine reaches the Prometheus that reads the metrics; only for trilho golive',
    example: 'http://prometheus.example.com:9090',
    read: serviceUrl,
  }),
  alertmanager_url: setting('ALERTMANAGER_URL', {
    about: 'Where this machine reaches the Alertmanager that sends the alerts; only for trilho golive',
    example: 'http://alertmanager.example.com:9093',
    read: serviceUrl,
  }),
  demo: setting('DEMO', {
    about: 'true: make a demo partner, key and customer when the database is empty, also with DATABASE_URL',
    default: 'false',
    read: yesOrNo,
  }),
  demo_secrets: setting('DEMO_SECRETS', {
    about:
      'Where the key and the password of the demo go: print, to standard output; file, to demo.env in DATA_DIR, for where standard output is collected. Default: print, or file under systemd; the container image says file',
    example: 'file',
    read: oneOf('print', 'file'),
  }),
}

const database = {
  database_url: setting('DATABASE_URL', {
    about:
      'A PostgreSQL 15 or newer to use instead of the embedded one. With several hosts between commas the primary among them is used',
    example: 'postgresql://trilho:password@db1.example.com:5432,db2.example.com:5432/trilho',
    secret: true,
    read: databaseUrl,
  }),
  database_tls: setting('DATABASE_TLS', {
    about:
      'verify: a database on another machine must be reached by TLS and show a certificate for its name; off: not, where nobody else can listen on the network',
    default: 'verify',
    read: oneOf('verify', 'off'),
  }),
  database_standby: setting('DATABASE_STANDBY', {
    about:
      'Only for trilho golive. seen: a standby must be connected to the primary; provider: your provider keeps a synchronous one that nobody can see',
    default: 'seen',
    read: oneOf('seen', 'provider'),
  }),
  migrate: setting('MIGRATE', {
    about:
      'false: a start leaves the database as it is, and DATABASE_URL needs no user; somebody else runs trilho migrate before, as the owner',
    default: 'true',
    read: yesOrNo,
  }),
  database_pool: setting('DATABASE_POOL', {
    about:
      'Connections beside the ledger’s, per environment; one of them may be at the housekeeping for a while. Calls that only read have half as many more',
    default: '8',
    read: integer(2, 200),
  }),
  database_wait_ms: setting('DATABASE_WAIT_MS', {
    about:
      'How long a request waits for the database during a switch-over before it is answered with 503, in milliseconds',
    default: '6000',
    read: integer(0, 8000),
  }),
  start_wait_ms: setting('START_WAIT_MS', {
    about:
      'How long a start waits for a database that is not there yet, in milliseconds; 0: until it is told to stop',
    default: '0',
    read: integer(0, 86_400_000),
  }),
  lanes: setting('LANES', {
    about: 'Money transactions that may run at once, per environment and node',
    default: '1',
    read: integer(1, 16),
  }),
}

const secrets = {
  secret_key: setting('SECRET_KEY', {
    about:
      'Encrypts the secrets that must be read back; 64 hex digits. Needed with DATABASE_URL; made in DATA_DIR otherwise',
    example: 'output of: openssl rand -hex 32',
    secret: true,
    read: hexKey,
  }),
  secret_keys_previous: setting('SECRET_KEY_PREVIOUS', {
    default: '',
    about:
      'Keys that SECRET_KEY takes over from, separated by commas, until trilho secrets rotate has ended; 64 hex digits each',
    secret: true,
    read: (keys) => partsOf(keys).map(hexKey),
  }),
}

const payments = {
  pix_wait_ms: setting('PIX_WAIT_MS', {
    about: 'How long the create call of a payout waits for the Pix network, in milliseconds',
    default: '2000',
    read: integer(0, 10_000),
  }),
  lease_ms: setting('LEASE_MS', {
    about:
      'Length of a worker’s lease on a payout or transfer, in milliseconds: when it ends, any other node takes the order over',
    default: '15000',
    read: integer(500, 600_000),
  }),
  rail_timeout_ms: setting('RAIL_TIMEOUT_MS', {
    about:
      'How long a payment network or chain may take to answer one call, in milliseconds; at most a third of LEASE_MS. Default: 5000, or that third when it is less',
    example: '5000',
    read: integer(50, 200_000),
  }),
  stuck_after_ms: setting('STUCK_AFTER_MS', {
    about:
      'A payout that is on its way for longer than this becomes an exception that somebody must look at, in milliseconds; transfers get what their network needs on top',
    default: '900000',
    read: integer(1000, 86_400_000),
  }),
  reconcile_every_ms: setting('RECONCILE_EVERY_MS', {
    about:
      'How often a worker node compares the books with what the wallet of each configured rail holds, in milliseconds',
    default: '300000',
    read: integer(1000, 86_400_000),
  }),
  require_address_checksum: setting('REQUIRE_ADDRESS_CHECKSUM', {
    about:
      'true: EVM addresses in lower case only, which carry no checksum, are refused; a mistyped one could not be told',
    default: 'false',
    read: yesOrNo,
  }),
}

const pix = {
  efi: {
    client_id: setting('EFI_CLIENT_ID', {
      about:
        'Client_Id of the application at Efí: production pays Pix over it, and is paid. Needs the other EFI settings',
      example: 'Client_Id_0123456789abcdef',
      read: text,
    }),
    client_secret: setting('EFI_CLIENT_SECRET', {
      about: 'Client_Secret of that application',
      secret: true,
      read: text,
    }),
    certificate: setting('EFI_CERTIFICATE', {
      about:
        'Certificate of that application and its private key, both PEM, in one text; better as a file. Convert Efí’s .p12: openssl pkcs12 -legacy -in certificate.p12 -nodes -out efi.pem',
      secret: true,
      read: readClientCertificate,
    }),
    pix_key: setting('EFI_PIX_KEY', {
      about: 'A Pix key of the account at Efí that pays. It needs a webhook there',
      example: 'payments@example.com',
      read: pixKey,
    }),
    notice_token: setting('EFI_NOTICE_TOKEN', {
      about:
        'The last part of the address to which Efí posts notices: PUBLIC_URL/rails/pix/efi/TOKEN; 32 characters or more',
      example: 'output of: openssl rand -hex 32',
      secret: true,
      read: urlToken,
    }),
    at_once: setting('EFI_AT_ONCE', {
      about: 'Payments that all nodes together hand to Efí at once; Efí advises one',
      default: '1',
      read: integer(1, 16),
    }),
    url: setting('EFI_URL', {
      about: 'Where Efí is reached: its own sandbox is https://pix-h.api.efipay.com.br',
      default: 'https://pix.api.efipay.com.br',
      read: httpsOrigin,
    }),
    ca: setting('EFI_CA', {
      about:
        'Certificates of the authorities that EFI_URL is checked against, PEM; default: the public ones. For tests',
      secret: true,
      read: authorities,
    }),
  },
  starkbank: {
    project_id: setting('STARKBANK_PROJECT_ID', {
      about:
        'Id of a project at Stark Bank: production pays Pix over it, in place of Efí, and takes no charges. Never tried against the bank. Needs STARKBANK_PRIVATE_KEY',
      example: '5656565656565656',
      read: projectId,
    }),
    private_key: setting('STARKBANK_PRIVATE_KEY', {
      about: 'Private key of that project, PEM, curve secp256k1; better as a file',
      secret: true,
      read: readProjectKey,
    }),
    at_once: setting('STARKBANK_AT_ONCE', {
      about: 'Payments that all nodes together hand to Stark Bank at once',
      default: '4',
      read: integer(1, 16),
    }),
    url: setting('STARKBANK_URL', {
      about: 'Where Stark Bank is reached: its own sandbox is https://sandbox.api.starkbank.com',
      default: 'https://api.starkbank.com',
      read: httpsOrigin,
    }),
    ca: setting('STARKBANK_CA', {
      about:
        'Certificates of the authorities that STARKBANK_URL is checked against, PEM; default: the public ones. For tests',
      secret: true,
      read: authorities,
    }),
  },
}

/** One network's settings; they begin with its name. */
const evmNetwork = (name: string, title: string, coin: string, cost_most: string) => ({
  rpc: setting(`${name}_RPC`, {
    about: `JSON-RPC endpoints of ${title}, separated by commas: production pays USDT there. With two or more, of different providers, what is final must be the same from two`,
    example: 'https://node.example.com/key, https://other.example.net/key',
    default: '',
    secret: true,
    read: endpointUrls,
  }),
  usdt: setting(`${name}_USDT`, {
    about: `The contract of USDT on ${title}, where it is not Tether’s: for test chains`,
    example: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    read: evmAddress,
  }),
  cost_most: setting(`${name}_COST_MAX`, {
    about: `The most that the gas of one transaction on ${title} may cost, in ${coin}; a transfer that would cost more waits`,
    default: cost_most,
    read: wei,
  }),
  start_height: setting(`${name}_START_HEIGHT`, {
    about: `The first block of ${title} that is read for deposits, at the first start with EVM_DEPOSIT_XPUB: payments in earlier blocks are not found. Default: some minutes below the newest one`,
    example: '75000000',
    read: blockHeight,
  }),
})

const bitcoin = {
  rpc: setting('BITCOIN_RPC', {
    about:
      'Nodes of Bitcoin (Bitcoin Core’s JSON-RPC), separated by commas, with user and password: production pays BTC. With two or more, what is in the chain and unspent must be the same from two',
    example: 'http://trilho:password@127.0.0.1:8332, https://other.example.net/key',
    default: '',
    secret: true,
    read: endpointUrls,
  }),
  cookie_file: setting('BITCOIN_RPC_COOKIE_FILE', {
    about:
      'Where a node on this machine writes its credentials at each start. For endpoints of BITCOIN_RPC on this machine (127.0.0.1, localhost) without a user; others never get them',
    example: '/var/lib/bitcoind/.cookie',
    read: (path: string) => resolve(path),
  }),
  key: setting('BITCOIN_WALLET_KEY', {
    about:
      'Private key of the wallet that pays BTC, 64 hex digits. Needed by nodes that send (ROLE all or worker); better as a file',
    secret: true,
    read: walletKey,
  }),
  wallet: setting('BITCOIN_WALLET', {
    about:
      'Address of that wallet (bc1q…, P2WPKH). Optional with a key: that of another wallet is then refused instead of being paid from. A node with ROLE=api and no key needs it',
    example: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    read: bitcoinWallet,
  }),
  deposit_xpub: setting('BITCOIN_DEPOSIT_XPUB', {
    about:
      'Extended public key (xpub…) from which each customer gets an address for BTC, m/0/index. Production takes deposits of BTC with it; every node needs it',
    example:
      'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V',
    read: extendedPublicKey,
  }),
  deposit_key: setting('BITCOIN_DEPOSIT_KEY', {
    about:
      'The extended private key (xprv…) of BITCOIN_DEPOSIT_XPUB: transfers also spend what customers paid in. Optional: without it these coins stay where they are. For nodes that send; better as a file',
    secret: true,
    read: extendedPrivateKey,
  }),
  genesis: setting('BITCOIN_GENESIS', {
    about: 'The hash of block 0, where it is not Bitcoin’s: for test chains',
    example: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
    read: blockHash,
  }),
  fee_most: setting('BITCOIN_FEE_MAX', {
    about:
      'The most that miners may get for one transaction, in satoshis; a transfer that would cost more waits',
    default: '100000',
    read: satoshis,
  }),
  rate_most: setting('BITCOIN_RATE_MAX', {
    about: 'The same in satoshis per virtual byte',
    default: '500',
    read: feeRate,
  }),
  rate_fallback: setting('BITCOIN_RATE_FALLBACK', {
    about:
      'What is paid where the node has not seen enough to estimate a fee, in satoshis per virtual byte; at most BITCOIN_RATE_MAX',
    default: '10',
    read: feeRate,
  }),
  start_height: setting('BITCOIN_START_HEIGHT', {
    about:
      'The first block that is read, at the first start with a new wallet: coins of earlier blocks are not found. Default: ten blocks below the newest one',
    example: '920000',
    read: blockHeight,
  }),
}

const tron = {
  rpc: setting('TRON_RPC', {
    about:
      'Full nodes of Tron (java-tron’s HTTP API), separated by commas: production pays USDT there. A key of TronGrid is the user: https://KEY@api.trongrid.io. With two or more, of different providers, what is final must be the same from two',
    example: 'https://node.example.com/key, https://other.example.net/key',
    default: '',
    secret: true,
    read: endpointUrls,
  }),
  key: setting('TRON_WALLET_KEY', {
    about:
      'Private key of the wallet that pays USDT on Tron, 64 hex digits. Needed by nodes that send (ROLE all or worker); better as a file',
    secret: true,
    read: walletKey,
  }),
  wallet: setting('TRON_WALLET', {
    about:
      'Address of that wallet (T…). Optional with a key: that of another wallet is then refused instead of being paid from. A node with ROLE=api and no key needs it',
    example: 'TEvQ7WSPCbJCKVC7qLo29L6zGJb2VQBRVy',
    read: tronAddress,
  }),
  deposit_xpub: setting('TRON_DEPOSIT_XPUB', {
    about:
      'Extended public key (xpub…) from which each customer gets an address for USDT on Tron, m/0/index. Production takes deposits there with it; every node needs it',
    example:
      'xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd',
    read: extendedPublicKey,
  }),
  start_height: setting('TRON_START_HEIGHT', {
    about:
      'The first block of Tron that is read for deposits, at the first start with TRON_DEPOSIT_XPUB: payments in earlier blocks are not found. Default: some minutes below the newest one',
    example: '77000000',
    read: blockHeight,
  }),
  usdt: setting('TRON_USDT', {
    about: 'The contract of USDT on Tron, where it is not Tether’s: for test chains',
    example: 'TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj',
    read: tronAddress,
  }),
  genesis: setting('TRON_GENESIS', {
    about: 'The id of block 0, where it is not Tron’s: for test chains',
    example: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
    read: blockHash,
  }),
  fee_most: setting('TRON_FEE_MAX', {
    about:
      'The most that one transaction on Tron may cost, in TRX, for energy and bandwidth; a transfer that would cost more waits. All its energy counts, also what is staked',
    default: '30',
    read: trx,
  }),
  expiry: setting('TRON_EXPIRY_S', {
    about:
      'How long a payment on Tron may be mined after it was signed, in seconds. A payment that got lost is made again only after that, and a canceled one fails only then',
    default: '600',
    read: integer(10, 600),
  }),
}

const chains = {
  chains: {
    evm_key: setting('EVM_WALLET_KEY', {
      about:
        'Private key of the wallet that pays on EVM networks, 64 hex digits. Needed by nodes that send (ROLE all or worker); better as a file',
      secret: true,
      read: walletKey,
    }),
    evm_wallet: setting('EVM_WALLET', {
      about:
        'Address of that wallet. Optional with a key: that of another wallet is then refused instead of being paid from. A node with ROLE=api needs it to resume rails',
      example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      read: evmAddress,
    }),
    evm_deposit_xpub: setting('EVM_DEPOSIT_XPUB', {
      about:
        'Extended public key (xpub…) from which each customer gets an address for USDT, m/0/index, the same on all EVM networks. Production takes deposits on the configured ones with it; every node needs it',
      example:
        'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt',
      read: extendedPublicKey,
    }),
    evm_deposit_key: setting('EVM_DEPOSIT_KEY', {
      about:
        'The extended private key (xprv…) of EVM_DEPOSIT_XPUB: deposits are swept into the wallet by the rule that operators set. Optional: without it they stay where they are. For nodes that send; better as a file',
      secret: true,
      read: extendedPrivateKey,
    }),
    ethereum: evmNetwork('ETHEREUM', 'Ethereum', 'ETH', '0.02'),
    polygon: evmNetwork('POLYGON', 'Polygon', 'POL', '1'),
    arbitrum: evmNetwork('ARBITRUM', 'Arbitrum One', 'ETH', '0.002'),
    optimism: evmNetwork('OPTIMISM', 'OP Mainnet', 'ETH', '0.002'),
    bitcoin,
    remote: {
      place: setting('SIGNER_URL', {
        about:
          'Where trilho signer listens: unix:/path/of/socket, or https:// with host and port. Then the keys are there, this service has none, and needs EVM_WALLET, BITCOIN_WALLET and TRON_WALLET for the networks that it pays on (docs/operate/signer.md)',
        example: 'unix:/run/trilho-signer/signer.sock',
        read: signerUrl,
      }),
      certificate: setting('SIGNER_CLIENT_CERTIFICATE', {
        about:
          'With SIGNER_URL=https://…: the certificate with which this service shows the signer who asks, and its private key, both PEM, in one text',
        secret: true,
        read: certificatePair,
      }),
      ca: setting('SIGNER_CA', {
        about:
          'With SIGNER_URL=https://…: the authority that the signer’s certificate is checked against, PEM',
        secret: true,
        read: authorities,
      }),
      deposits: setting('SIGNER_DEPOSITS', {
        about:
          'Whose deposit addresses the signer has the private keys of: evm, bitcoin, or both, separated by commas. Needs SIGNER_URL, and EVM_DEPOSIT_XPUB or BITCOIN_DEPOSIT_XPUB',
        example: 'evm, bitcoin',
        default: '',
        read: depositKinds,
      }),
    },
    tron,
    signer: {
      count: setting('SIGNER_PER_HOUR', {
        about:
          'How many transactions the signer signs in an hour on one network, replacements included. It refuses more, whoever asks',
        default: '600',
        read: integer(1, 1_000_000),
      }),
      amount: setting('SIGNER_USDT_PER_HOUR', {
        about: 'How much the signer signs in an hour on one network, in whole USDT',
        default: '250000',
        read: usdt,
      }),
      btc: setting('SIGNER_BTC_PER_HOUR', {
        about: 'How much the signer signs in an hour on bitcoin, in BTC',
        default: '2',
        read: btc,
      }),
      costs: setting('SIGNER_COSTS_PER_HOUR', {
        about:
          'How much gas the signer signs in an hour on one network, in transactions at the highest cost (…_COST_MAX, BITCOIN_FEE_MAX, TRON_FEE_MAX)',
        default: '100',
        read: integer(1, 1_000_000),
      }),
    },
  },
}

const conversions = {
  prices_from: setting('PRICES_FROM', {
    about:
      'exchanges: production prices are the median of Binance, Bitso, Mercado Bitcoin, Kraken and Coinbase, which this node asks for itself. Without it and without PRICES_FILE nothing is quoted, and Ethereum, whose fee needs the price of ether, cannot be configured',
    example: 'exchanges',
    read: oneOf('exchanges'),
  }),
  exchange_urls: setting('EXCHANGE_URLS', {
    about:
      'Other addresses of exchanges, for a mirror or a proxy: name=URL, separated by commas. https only, unless the host is this machine',
    example: 'binance=https://data-api.binance.vision',
    default: '',
    read: exchangeUrls,
  }),
  prices_file: setting('PRICES_FILE', {
    about: 'In place of PRICES_FROM: a JSON file with production prices that your price feed replaces',
    example: '/var/lib/trilho/prices.json',
    read: (path) => resolve(path),
  }),
  quoting: {
    price_max_age_ms: setting('PRICE_MAX_AGE_MS', {
      about: 'Nobody is quoted from a price that was seen longer ago than this, in milliseconds',
      default: '5000',
      read: integer(100, 600_000),
    }),
    spread_bps: setting('SPREAD_BPS', {
      about: 'Moves production prices against the customer, in basis points',
      default: '0',
      read: integer(0, 1000),
    }),
    partner_fee_max_bps: setting('PARTNER_FEE_MAX_BPS', {
      about: 'The highest fee of its own that a partner may put on a quote, in basis points',
      default: '1000',
      read: integer(0, 5000),
    }),
  },
}

const simulation = {
  sandbox: {
    broadcast_ms: setting('SANDBOX_BROADCAST_MS', {
      about: 'When a sandbox transfer is broadcast, in milliseconds after it was made',
      default: '1000',
      read: integer(0, 600_000),
    }),
    confirm_ms: setting('SANDBOX_CONFIRM_MS', {
      about:
        'When a sandbox transfer is confirmed, in milliseconds after it was made, and how long each step of a sandbox deposit on a chain takes',
      default: '3000',
      read: integer(0, 600_000),
    }),
    journal: setting('SANDBOX_JOURNAL', {
      about: 'A file in which the simulated rails note what they were told; for tests',
      read: text,
    }),
  },
}

const deliveries = {
  webhooks: {
    allow_private: setting('WEBHOOK_ALLOW_PRIVATE', {
      about:
        'true: webhooks may go to loopback and private addresses, for development; link-local and metadata addresses never',
      default: 'false',
      read: yesOrNo,
    }),
    denied: setting('WEBHOOK_DENY', {
      about:
        'Addresses and CIDR ranges that no webhook goes to, separated by commas, beside those that never may: your own public ones, for example. Wins over WEBHOOK_ALLOW_PRIVATE',
      example: '198.51.100.0/24, 2001:db8::/32',
      default: '',
      read: cidrs,
    }),
    timeout_ms: setting('WEBHOOK_TIMEOUT_MS', {
      about: 'How long a webhook’s receiver may take to answer, in milliseconds',
      default: '10000',
      read: integer(100, 30_000),
    }),
    per_second: setting('WEBHOOK_PER_SECOND', {
      about:
        'How many webhooks a node sends for one partner in a second, over a while; what was not used in two seconds may follow at once',
      default: '1000',
      read: integer(1, 1_000_000),
    }),
    retry_ms: setting('WEBHOOK_RETRY_MS', {
      about:
        'When a webhook that failed is tried again, in milliseconds after each failure, separated by commas',
      default: '5000,300000,1800000,7200000,18000000,36000000,50400000,72000000,86400000',
      read: integers(1, 604_800_000),
    }),
    dns: setting('WEBHOOK_DNS', {
      about:
        'Name servers to ask for the hosts of webhooks, separated by commas; those of the machine when absent',
      example: '192.0.2.53, 192.0.2.54:5353',
      default: '',
      read: nameServers,
    }),
  },
}

const mails = {
  mail: {
    server: setting('SMTP_URL', {
      about:
        'The mail server for notifications: smtps:// for TLS from the beginning, smtp:// for STARTTLS, without which nothing is sent to another machine. Without SMTP_URL notifications are shown in the console only. Needs MAIL_FROM and PUBLIC_URL',
      example: 'smtps://user:password@smtp.example.com:465',
      secret: true,
      read: smtpServer,
    }),
    from: setting('MAIL_FROM', {
      about: 'The sender of notifications: an address, or a name and an address. Needs SMTP_URL',
      example: 'Trilho <no-reply@example.com>',
      read: sender,
    }),
    tls: setting('SMTP_TLS', {
      about:
        'verify: the mail server must be reached by TLS and show a certificate for its name, unless it is on this machine; off: not, where nobody else can listen on the network',
      default: 'verify',
      read: oneOf('verify', 'off'),
    }),
    first_ms: setting('MAIL_FIRST_MS', {
      about:
        'How long a first notification waits for others, so that one mail has all of them, in milliseconds',
      default: '60000',
      read: integer(0, 3_600_000),
    }),
    every_ms: setting('MAIL_EVERY_MS', {
      about: 'A person gets at most one mail in this time, in milliseconds',
      default: '600000',
      read: integer(0, 86_400_000),
    }),
  },
}

const keeping = {
  retention: {
    every_ms: setting('HOUSEKEEPING_MS', {
      about: 'How often a node deletes old rows (docs/operate/retention.md), in milliseconds',
      default: '600000',
      read: integer(100, 86_400_000),
    }),
    event_days: setting('EVENT_RETENTION_DAYS', {
      about:
        'How many days events stay in the log, at least 30; an event with a delivery that is kept stays with it',
      default: '365',
      read: integer(1, 36_500),
    }),
    delivery_days: setting('DELIVERY_RETENTION_DAYS', {
      about:
        'How many days deliveries of webhooks are kept after their end, with what was sent and answered; at least 7',
      default: '30',
      read: integer(1, 36_500),
    }),
    quote_days: setting('QUOTE_RETENTION_DAYS', {
      about:
        'How many days quotes are kept after their end when they were never executed; executed ones stay',
      default: '30',
      read: integer(1, 36_500),
    }),
    request_days: setting('REQUEST_RETENTION_DAYS', {
      about: 'How many days the log of requests goes back, at least 7',
      default: '30',
      read: integer(1, 36_500),
    }),
  },
  requests_per_day: setting('REQUEST_LOG_PER_DAY', {
    about: 'How many requests of one partner a node logs per day, a tenth of them refused by limits; 0: none',
    default: '50000',
    read: integer(0, 100_000_000),
  }),
  audit: {
    every_ms: setting('AUDIT_EVERY_MS', {
      about:
        'How often the audit in the background begins anew at the latest, in milliseconds; 0: it does not run on this node',
      default: '3600000',
      read: integer(0, 604_800_000),
    }),
    share_pct: setting('AUDIT_SHARE_PCT', {
      about: 'How much of the time the audit in the background may be at work, in percent',
      default: '10',
      read: integer(1, 100),
    }),
  },
}

/** Read by `trilho signer` only, beside the keys and limits of chains and the settings of its output. */
const signing = {
  listen: setting('SIGNER_LISTEN', {
    about:
      'Where the signer listens: unix:/path/of/socket (mode 0660), or address:port with TLS on both sides. Never plain TCP',
    example: 'unix:/run/trilho-signer/signer.sock',
    read: signerAddress,
  }),
  log_dir: setting('SIGNER_LOG_DIR', {
    about: 'The folder of the chained log of signatures. The hourly limits are counted from it: keep it',
    example: '/var/lib/trilho-signer',
    read: (dir: string) => resolve(dir),
  }),
  seal_key: setting('SIGNER_SEAL_KEY', {
    about: 'The seal key, 64 hex digits, as trilho signer seal-key writes it on a node of the service',
    secret: true,
    read: hexKey,
  }),
  certificate: setting('SIGNER_CERTIFICATE', {
    about:
      'With address:port: the certificate of the signer and its private key, both PEM, in one text; better as a file',
    secret: true,
    read: certificatePair,
  }),
  clients_ca: setting('SIGNER_CLIENTS_CA', {
    about:
      'With address:port: the authority of the certificates of clients, PEM. Every holder of a certificate of this authority may ask for signatures: use one that signs nothing else',
    secret: true,
    read: authorities,
  }),
}

/** The settings of `trilho signer`. Those that the service has too have the same names. */
export const signerSettings = {
  ...signing,
  log_level: node.log_level,
  log_format: node.log_format,
  evm_key: chains.chains.evm_key,
  evm_deposit_key: chains.chains.evm_deposit_key,
  bitcoin_key: bitcoin.key,
  bitcoin_deposit_key: bitcoin.deposit_key,
  bitcoin_fee_most: bitcoin.fee_most,
  bitcoin_rate_most: bitcoin.rate_most,
  tron_key: tron.key,
  tron_usdt: tron.usdt,
  tron_fee_most: tron.fee_most,
  networks: Object.fromEntries(
    (['ethereum', 'polygon', 'arbitrum', 'optimism'] as const).map((network) => {
      const { usdt, cost_most } = chains.chains[network]
      return [network, { usdt, cost_most }]
    }),
  ) as Record<
    'ethereum' | 'polygon' | 'arbitrum' | 'optimism',
    Pick<typeof chains.chains.ethereum, 'usdt' | 'cost_most'>
  >,
  limits: chains.chains.signer,
}

export const settings = {
  ...listening,
  ...node,
  ...database,
  ...secrets,
  ...payments,
  ...pix,
  ...chains,
  ...conversions,
  ...simulation,
  ...deliveries,
  ...mails,
  ...keeping,
}

/** The sections of .env.example. */
export const groups: readonly { readonly title: string; readonly settings: Settings }[] = [
  { title: 'Listening', settings: listening },
  { title: 'The node', settings: node },
  { title: 'The database', settings: database },
  { title: 'Secrets', settings: secrets },
  { title: 'Payouts and transfers', settings: payments },
  { title: 'Pix of production', settings: pix },
  { title: 'Chains of production', settings: chains },
  {
    title: 'The signer as a process of its own (trilho signer); the service does not read these',
    settings: signing,
  },
  { title: 'Conversions', settings: conversions },
  { title: 'The sandbox', settings: simulation },
  { title: 'Webhooks', settings: deliveries },
  { title: 'Mail', settings: mails },
  { title: 'What is kept, and the audit', settings: keeping },
]

export type Settings = { readonly [place: string]: Setting | Settings }

/** The type of the configuration that a tree of settings gives. */
export type ValuesOf<S> = S extends Setting<infer T> ? T : { readonly [K in keyof S]: ValuesOf<S[K]> }

export const isSetting = (part: Setting | Settings): part is Setting => 'read' in part

/** All settings of a tree, in order. */
export function settingsIn(tree: Settings): Setting[] {
  return Object.values(tree).flatMap((part) => (isSetting(part) ? [part] : settingsIn(part)))
}
