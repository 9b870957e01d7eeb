import { describe, expect, test } from 'vitest'
import { selfSigned } from '../../test/support/certificate.ts'
import { type ConfigError, describeConfig, readConfig, renderEnvExample } from './config.ts'
import { settings, settingsIn } from './settings.ts'

test('a rail’s timeout is at most a third of the lease, and its default is lowered to fit', () => {
  expect(readConfig({}).rail_timeout_ms).toBe(5000)
  expect(readConfig({ LEASE_MS: '1500' }).rail_timeout_ms).toBe(500)
  expect(readConfig({ LEASE_MS: '60000' }).rail_timeout_ms).toBe(5000)
  expect(readConfig({ LEASE_MS: '1500', RAIL_TIMEOUT_MS: '400' }).rail_timeout_ms).toBe(400)
  expect(() => readConfig({ LEASE_MS: '1500', RAIL_TIMEOUT_MS: '600' })).toThrow(
    /RAIL_TIMEOUT_MS must be at most a third of LEASE_MS \(500\)/,
  )
})

test('TLS to the database is switched off only by an explicit setting, given once', () => {
  const [DATABASE_URL, SECRET_KEY] = ['postgresql://u:p@db.example.com/trilho', 'ab'.repeat(32)]
  const urlOf = (env: Record<string, string>) => readConfig({ DATABASE_URL, SECRET_KEY, ...env }).database_url
  expect(urlOf({})).toBe(DATABASE_URL)
  expect(urlOf({ DATABASE_TLS: 'off' })).toBe(`${DATABASE_URL}?sslmode=disable`)
  expect(urlOf({ DATABASE_TLS: 'off', DATABASE_URL: `${DATABASE_URL}?a=b` })).toBe(
    `${DATABASE_URL}?a=b&sslmode=disable`,
  )
  for (const env of [
    { DATABASE_TLS: 'no' },
    { DATABASE_TLS: 'off', DATABASE_URL: `${DATABASE_URL}?sslmode=require` },
  ])
    expect(() => urlOf(env)).toThrow(
      /DATABASE_TLS (must be one of verify, off|is off, and DATABASE_URL has an sslmode)/,
    )
})

test('every setting has a unique name, a readable default, and one line in .env.example', () => {
  const declared = settingsIn(settings)
  const names = declared.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(45)
  expect(describeConfig({}).map(({ name }) => name)).toEqual(names)
  const example = renderEnvExample()
  for (const setting of declared) {
    expect(example.split(`# ${setting.name}=`)).toHaveLength(2)
    if (setting.default !== undefined) expect(() => setting.read(setting.default!)).not.toThrow()
  }
})

test('a value that was set is in the configuration, with its source', () => {
  const env = { ROLE: 'worker', WEBHOOK_TIMEOUT_MS: '750', LOG_FORMAT: 'text' }
  expect(readConfig(env)).toMatchObject({ role: 'worker', log_format: 'text', webhooks: { timeout_ms: 750 } })
  expect(readConfig({})).toMatchObject({ role: 'all', log_format: undefined, secret_keys_previous: [] })
  expect(describeConfig(env)).toContainEqual({ name: 'ROLE', value: 'worker', source: 'set' })
  expect(() => readConfig({ ROLE: 'both' })).toThrow(/ROLE must be one of all, api, worker, not "both"/)
})

describe('a rail', () => {
  const POLYGON_RPC = 'https://node.example.com/key'
  const EVM_WALLET_KEY = '11'.repeat(32)
  const BITCOIN_RPC = 'http://trilho:secret@127.0.0.1:8332'
  const BITCOIN_WALLET_KEY = '22'.repeat(32)
  const BITCOIN_WALLET = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
  /** BIP 32, test vectors 2 and 1. */
  const XPRV =
    'xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U'
  const XPUB =
    'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB'
  const OTHER_XPUB =
    'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8'
  const mistakesIn = (env: Record<string, string>): readonly string[] => {
    try {
      readConfig(env)
      return []
    } catch (error) {
      return (error as ConfigError).mistakes
    }
  }

  test('that is configured whole is accepted', () => {
    expect(mistakesIn({ POLYGON_RPC, EVM_WALLET_KEY })).toEqual([])
    expect(mistakesIn({ POLYGON_RPC, ROLE: 'api' })).toEqual([])
    const EVM_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    expect(mistakesIn({ POLYGON_RPC, ROLE: 'api', EVM_WALLET })).toEqual([])
    const { chains } = readConfig({ POLYGON_RPC, EVM_WALLET_KEY, POLYGON_COST_MAX: '0.5' })
    expect(chains.polygon).toEqual({ rpc: [POLYGON_RPC], usdt: undefined, cost_most: 5n * 10n ** 17n })
    expect(chains.signer).toEqual({ count: 600, amount: 250_000_000_000n, btc: 200_000_000n, costs: 100 })
  })

  test('with keys of deposit addresses is accepted', () => {
    const rails = { POLYGON_RPC, EVM_WALLET_KEY, BITCOIN_RPC, BITCOIN_WALLET_KEY }
    const xpubs = { EVM_DEPOSIT_XPUB: XPUB, BITCOIN_DEPOSIT_XPUB: XPUB }
    expect(mistakesIn({ ...rails, ...xpubs })).toEqual([])
    expect(mistakesIn({ ...rails, ...xpubs, EVM_DEPOSIT_KEY: XPRV, BITCOIN_DEPOSIT_KEY: XPRV })).toEqual([])
  })

  describe('with a signer in a process of its own', () => {
    const SIGNER_URL = 'unix:/run/trilho-signer/signer.sock'
    const EVM_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const TRON_WALLET_KEY = '33'.repeat(32)
    const tron = { TRON_RPC: 'https://node.example.com', TRON_WALLET: 'TEvQ7WSPCbJCKVC7qLo29L6zGJb2VQBRVy' }
    const whole = { SIGNER_URL, POLYGON_RPC, EVM_WALLET, BITCOIN_RPC, BITCOIN_WALLET, ...tron }
    const { cert, key } = selfSigned('trilho')
    const tls = { SIGNER_CLIENT_CERTIFICATE: `${cert}\n${key}`, SIGNER_CA: cert }

    test('has addresses of wallets, and no key', () => {
      expect(mistakesIn(whole)).toEqual([])
      expect(mistakesIn({ ...whole, SIGNER_URL: 'https://signer.example.com:8443', ...tls })).toEqual([])
      const deposits = { EVM_DEPOSIT_XPUB: XPUB, BITCOIN_DEPOSIT_XPUB: XPUB, SIGNER_DEPOSITS: 'evm, bitcoin' }
      expect(mistakesIn({ ...whole, ...deposits })).toEqual([])
      expect(readConfig(whole).chains.remote.place).toEqual({
        kind: 'unix',
        path: '/run/trilho-signer/signer.sock',
      })
    })

    test.each<[Record<string, string>, RegExp]>([
      [{ EVM_WALLET_KEY }, /^EVM_WALLET_KEY and SIGNER_URL are both set; keep one/],
      [{ TRON_WALLET_KEY }, /^TRON_WALLET_KEY and SIGNER_URL are both set; keep one/],
      [{ TRON_WALLET: '' }, /^TRON_WALLET is needed with SIGNER_URL/],
      [{ BITCOIN_WALLET_KEY }, /^BITCOIN_WALLET_KEY and SIGNER_URL are both set/],
      [{ EVM_DEPOSIT_XPUB: XPUB, EVM_DEPOSIT_KEY: XPRV }, /^EVM_DEPOSIT_KEY and SIGNER_URL are both set/],
      [{ EVM_WALLET: '' }, /^EVM_WALLET is needed with SIGNER_URL/],
      [{ BITCOIN_WALLET: '' }, /^BITCOIN_WALLET is needed with SIGNER_URL/],
      [{ SIGNER_DEPOSITS: 'evm' }, /^EVM_DEPOSIT_XPUB is needed with evm in SIGNER_DEPOSITS/],
      [{ SIGNER_URL: 'http://127.0.0.1:80' }, /^SIGNER_URL must be unix: .* or https:/],
      [{ SIGNER_CA: cert }, /^SIGNER_CA is set without SIGNER_URL=https/],
      [
        { ...tls, SIGNER_URL: 'https://a.example', SIGNER_CA: '' },
        /^SIGNER_CA is needed with SIGNER_URL=https/,
      ],
    ])('does not start with a mistake: %j', (env, mistake) => {
      expect(mistakesIn({ ...whole, ...env })).toContainEqual(expect.stringMatching(mistake))
    })
  })

  test('of ethereum takes the price of ether from exchanges as well as from a file', () => {
    const given = { ETHEREUM_RPC: POLYGON_RPC, EVM_WALLET_KEY }
    expect(mistakesIn({ ...given, PRICES_FROM: 'exchanges' })).toEqual([])
    expect(mistakesIn({ ...given, PRICES_FILE: '/prices.json' })).toEqual([])
  })

  test('of exchanges may have other addresses, without TLS on this machine only', () => {
    const urlsOf = (EXCHANGE_URLS: string) =>
      readConfig({ PRICES_FROM: 'exchanges', EXCHANGE_URLS }).exchange_urls
    expect(urlsOf('')).toEqual({})
    expect(urlsOf('binance=https://mirror.example/, bitso = http://127.0.0.1:81/bitso/')).toEqual({
      binance: 'https://mirror.example',
      bitso: 'http://127.0.0.1:81/bitso',
    })
    expect(urlsOf('kraken=http://localhost:1,coinbase=http://[::1]:2')).toEqual({
      kraken: 'http://localhost:1',
      coinbase: 'http://[::1]:2',
    })
    for (const [wrong, mistake] of [
      ['https://mirror.example', /name=URL/],
      ['mtgox=https://mirror.example', /names of binance, bitso, mercado_bitcoin, kraken, coinbase$/],
      ['binance=https://a.example, binance=https://b.example', /has binance twice/],
      ['binance=http://mirror.example', /https for binance; http only for this machine/],
      ['binance=http://127.0.0.1.example', /https for binance/],
      ['binance=http://10.0.0.1', /https for binance/],
      ['binance=ftp://mirror.example', /https for binance/],
      ['binance=', /https for binance/],
      ['binance=https://user:password@mirror.example', /without a user, a password/],
      ['binance=https://mirror.example?key=1', /without a user, a password, \? and #/],
    ] as const)
      expect(mistakesIn({ PRICES_FROM: 'exchanges', EXCHANGE_URLS: wrong })[0]).toMatch(mistake)
  })

  test('of bitcoin that is configured whole is accepted', () => {
    expect(mistakesIn({ BITCOIN_RPC, BITCOIN_WALLET_KEY })).toEqual([])
    expect(mistakesIn({ BITCOIN_RPC, ROLE: 'api', BITCOIN_WALLET })).toEqual([])
    const { chains } = readConfig({
      ...{ BITCOIN_RPC, BITCOIN_WALLET_KEY, BITCOIN_WALLET: BITCOIN_WALLET.toUpperCase() },
      ...{ BITCOIN_RATE_MAX: '300.5', BITCOIN_START_HEIGHT: '0', SIGNER_BTC_PER_HOUR: '0.25' },
    })
    expect(chains.bitcoin).toEqual({
      ...{ rpc: [BITCOIN_RPC], key: BITCOIN_WALLET_KEY, wallet: BITCOIN_WALLET, start_height: 0n },
      ...{ cookie_file: undefined, genesis: undefined, deposit_xpub: undefined, deposit_key: undefined },
      ...{ fee_most: 100_000n, rate_most: 300_500n, rate_fallback: 10_000n },
    })
    expect(chains.signer.btc).toBe(25_000_000n)
  })

  const TRON_RPC = 'https://key@api.example.com'
  const TRON_WALLET_KEY = '33'.repeat(32)
  const TRON_WALLET = 'TEvQ7WSPCbJCKVC7qLo29L6zGJb2VQBRVy'

  test('of tron that is configured whole is accepted', () => {
    expect(mistakesIn({ TRON_RPC, ROLE: 'api', TRON_WALLET })).toEqual([])
    const { chains } = readConfig({ TRON_RPC, TRON_WALLET_KEY, TRON_WALLET, TRON_FEE_MAX: '20.5' })
    expect(chains.tron).toEqual({
      ...{ rpc: [TRON_RPC], key: TRON_WALLET_KEY, wallet: TRON_WALLET, usdt: undefined, genesis: undefined },
      ...{ fee_most: 20_500_000n, expiry: 600, deposit_xpub: undefined, start_height: undefined },
    })
    const deposits = { TRON_DEPOSIT_XPUB: XPUB, TRON_START_HEIGHT: '77000000' }
    expect(mistakesIn({ TRON_RPC, TRON_WALLET_KEY, ...deposits })).toEqual([])
  })

  const usdt = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  test.each([
    [{ TRON_RPC }, /^TRON_WALLET_KEY is needed with TRON_RPC/],
    [{ TRON_RPC, ROLE: 'api' }, /^TRON_WALLET is needed with TRON_RPC/],
    [{ TRON_WALLET_KEY }, /^TRON_WALLET_KEY is set without TRON_RPC\. Set TRON_RPC, or leave the key out$/],
    [{ TRON_USDT: TRON_WALLET }, /^TRON_RPC is needed with TRON_USDT/],
    [{ TRON_DEPOSIT_XPUB: XPUB }, /^TRON_DEPOSIT_XPUB is set without a node: .* Set TRON_RPC$/],
    [{ TRON_RPC, TRON_WALLET_KEY, TRON_DEPOSIT_XPUB: XPRV }, /^TRON_DEPOSIT_XPUB is an extended private key/],
    [{ TRON_START_HEIGHT: '5' }, /^TRON_RPC is needed with TRON_START_HEIGHT$/],
    [
      { TRON_RPC, TRON_WALLET_KEY, TRON_START_HEIGHT: '5' },
      /^TRON_DEPOSIT_XPUB is needed with TRON_START_HEIGHT$/,
    ],
    [{ TRON_RPC, TRON_WALLET_KEY, TRON_WALLET: usdt }, /^TRON_WALLET must be an address of Tron/],
    [{ TRON_RPC, TRON_WALLET_KEY, TRON_EXPIRY_S: '601' }, /^TRON_EXPIRY_S /],
    [{ POLYGON_RPC }, /^EVM_WALLET_KEY is needed with POLYGON_RPC/],
    [{ EVM_WALLET_KEY }, /^EVM_WALLET_KEY is set, and no network is: set ETHEREUM_RPC, POLYGON_RPC, /],
    [{ EVM_WALLET_KEY, POLYGON_RPC, ARBITRUM_USDT: usdt }, /^ARBITRUM_RPC is needed with ARBITRUM_USDT/],
    [{ EVM_WALLET: usdt }, /^EVM_WALLET is set without EVM_WALLET_KEY/],
    [
      { EVM_WALLET_KEY, ETHEREUM_RPC: POLYGON_RPC },
      /^PRICES_FROM or PRICES_FILE is needed with ETHEREUM_RPC/,
    ],
    [
      { PRICES_FROM: 'exchanges', PRICES_FILE: '/prices.json' },
      /^PRICES_FROM and PRICES_FILE are both set; keep one/,
    ],
    [{ PRICES_FROM: 'the market' }, /^PRICES_FROM must be one of exchanges/],
    [
      { EXCHANGE_URLS: 'binance=https://mirror.example' },
      /^EXCHANGE_URLS is set without PRICES_FROM=exchanges$/,
    ],
    [
      { PRICES_FROM: 'exchanges', PRICE_MAX_AGE_MS: '3999' },
      /^PRICE_MAX_AGE_MS must be at least 4000 with PRICES_FROM=exchanges/,
    ],
    [{ EVM_WALLET_KEY: '12', POLYGON_RPC }, /^EVM_WALLET_KEY must be a private key of 64 hex digits$/],
    [
      { EVM_WALLET_KEY, POLYGON_RPC: 'ftp://secret' },
      /^POLYGON_RPC must be URLs with https or http, .*number 1 is none$/,
    ],
    [{ EVM_WALLET_KEY, POLYGON_RPC: `${POLYGON_RPC},${POLYGON_RPC}` }, /^POLYGON_RPC has the same URL twice/],
    [
      { EVM_WALLET_KEY, POLYGON_RPC, POLYGON_COST_MAX: '0' },
      /^POLYGON_COST_MAX must be a positive decimal number/,
    ],
    [{ EVM_WALLET_KEY, POLYGON_RPC, POLYGON_USDT: '0x12' }, /^POLYGON_USDT must be an EVM address/],
    [{ BITCOIN_RPC }, /^BITCOIN_WALLET_KEY is needed with BITCOIN_RPC/],
    [{ BITCOIN_RPC, ROLE: 'api' }, /^BITCOIN_WALLET is needed with BITCOIN_RPC on a node without/],
    [
      { BITCOIN_WALLET_KEY },
      /^BITCOIN_WALLET_KEY is set without BITCOIN_RPC\. Set BITCOIN_RPC, or leave the key out$/,
    ],
    [{ BITCOIN_WALLET }, /^BITCOIN_WALLET is set without BITCOIN_WALLET_KEY/],
    [{ BITCOIN_GENESIS: '00'.repeat(32) }, /^BITCOIN_RPC is needed with BITCOIN_GENESIS$/],
    [
      { BITCOIN_RPC, BITCOIN_WALLET_KEY, BITCOIN_WALLET: '1BoatSLRHtKNngkdXEeobR76b53LETtpyT' },
      /^BITCOIN_WALLET must be a Bitcoin address of one key/,
    ],
    [
      { BITCOIN_RPC, BITCOIN_WALLET_KEY, BITCOIN_RATE_MAX: '5' },
      /^BITCOIN_RATE_FALLBACK must be at most BITCOIN_RATE_MAX/,
    ],
    [
      { BITCOIN_RPC, BITCOIN_WALLET_KEY, SIGNER_BTC_PER_HOUR: '0.000000001' },
      /^SIGNER_BTC_PER_HOUR must be a positive decimal number such as 1.5, with at most 8 decimals/,
    ],
    [{ BITCOIN_RPC, BITCOIN_WALLET_KEY, BITCOIN_FEE_MAX: '0' }, /^BITCOIN_FEE_MAX must be a whole number/],
    [{ EVM_DEPOSIT_XPUB: XPUB }, /^EVM_DEPOSIT_XPUB is set without a node: .* Set the …_RPC of a network$/],
    [{ BITCOIN_DEPOSIT_XPUB: XPUB }, /^BITCOIN_DEPOSIT_XPUB is set without a node: .* Set BITCOIN_RPC$/],
    [
      { BITCOIN_RPC, BITCOIN_WALLET_KEY, BITCOIN_DEPOSIT_KEY: XPRV },
      /^BITCOIN_DEPOSIT_XPUB is needed with BITCOIN_DEPOSIT_KEY/,
    ],
    [
      { POLYGON_RPC, EVM_WALLET_KEY, EVM_DEPOSIT_XPUB: OTHER_XPUB, EVM_DEPOSIT_KEY: XPRV },
      /^EVM_DEPOSIT_KEY is the private key of another key than EVM_DEPOSIT_XPUB$/,
    ],
    [
      { POLYGON_RPC, ROLE: 'api', EVM_DEPOSIT_XPUB: XPUB, EVM_DEPOSIT_KEY: XPRV },
      /^EVM_DEPOSIT_KEY is set on a node with ROLE=api/,
    ],
    [{ POLYGON_RPC, EVM_WALLET_KEY, EVM_DEPOSIT_XPUB: XPRV }, /^EVM_DEPOSIT_XPUB is an extended private key/],
  ])('that is configured in half is refused: %o', (env, mistake) => {
    const mistakes = mistakesIn(env)
    expect(mistakes).toHaveLength(1)
    expect(mistakes[0]).toMatch(mistake)
    expect(mistakes[0]).not.toContain('secret')
  })

  const { cert, key } = selfSigned('client')
  const efi = {
    ...{ EFI_CLIENT_ID: 'Client_Id_1', EFI_CLIENT_SECRET: 'secret', EFI_CERTIFICATE: `${cert}${key}` },
    ...{ EFI_PIX_KEY: 'PAYER@example.com', EFI_NOTICE_TOKEN: 'x'.repeat(32) },
  }

  test('of Pix that is configured whole is accepted', () => {
    expect(mistakesIn(efi)).toEqual([])
    expect(readConfig(efi).efi).toMatchObject({
      ...{ pix_key: 'payer@example.com', at_once: 1, url: 'https://pix.api.efipay.com.br', ca: undefined },
    })
    expect(readConfig({}).efi.client_id).toBeUndefined()
  })

  test.each(Object.keys(efi))('of Pix without %s does not start, and the other half is named', (missing) => {
    const { [missing as keyof typeof efi]: _, ...rest } = efi
    const mistakes = mistakesIn(rest)
    expect(mistakes).toHaveLength(1)
    for (const name of Object.keys(rest)) expect(mistakes[0]).toContain(name)
    expect(mistakes[0]).toMatch(new RegExp(`^${missing} is needed with `))
  })

  test.each([
    [{ EFI_CA: cert }, 5, /^EFI_CLIENT_ID is needed with EFI_CA/],
    [{ ...efi, EFI_URL: 'http://pix.example.com' }, 1, /^EFI_URL must begin with https/],
    [{ ...efi, EFI_AT_ONCE: '0' }, 1, /^EFI_AT_ONCE must be a whole number from 1 to 16/],
    [{ ...efi, EFI_PIX_KEY: '123' }, 1, /^EFI_PIX_KEY must be a Pix key/],
    [{ ...efi, EFI_NOTICE_TOKEN: 'secret' }, 1, /^EFI_NOTICE_TOKEN must be 32 to 200 letters/],
    [{ ...efi, EFI_CERTIFICATE: '0\u0082' }, 1, /^EFI_CERTIFICATE must be PEM text.*openssl pkcs12 -legacy/],
    [{ ...efi, EFI_CERTIFICATE: cert }, 1, /^EFI_CERTIFICATE has no private key/],
  ])('of Pix with a mistake is refused, case %#', (env, count, mistake) => {
    const mistakes = mistakesIn(env)
    expect(mistakes).toHaveLength(count)
    expect(mistakes[0]).toMatch(mistake)
    expect(mistakes.join()).not.toContain('secret')
  })

  test('shows no secret of Pix', () => {
    const shown = JSON.stringify(describeConfig(efi))
    for (const secret of ['"secret"', 'PRIVATE KEY', 'x'.repeat(32)]) expect(shown).not.toContain(secret)
  })

  test('shows neither its key nor its endpoints', () => {
    const shown = JSON.stringify(
      describeConfig({ POLYGON_RPC, EVM_WALLET_KEY, BITCOIN_RPC, BITCOIN_WALLET_KEY }),
    )
    expect(shown).not.toContain('127.0.0.1:8332')
    expect(shown).not.toContain(BITCOIN_WALLET_KEY)
    expect(shown).not.toContain('node.example.com')
    expect(shown).not.toContain(EVM_WALLET_KEY)
  })
})
