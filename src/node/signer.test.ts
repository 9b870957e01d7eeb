import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { connect as connectTcp, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HDKey } from '@scure/bip32'
import { addr } from 'micro-eth-signer'
import { Agent, request } from 'undici'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openTestWallet } from '../../test/chains/bitcoin-wallet.ts'
import { spellingsOf, spellingsOfText } from '../../test/chains/secrets.ts'
import { selfSigned } from '../../test/support/certificate.ts'
import { silent } from '../../test/support/rail-bench.ts'
import { networks } from '../core/networks.ts'
import { encodePsbt, isSignedDraft, scriptOf } from '../rails/chain/bitcoin/transaction.ts'
import { derivedAddresses, encodeAddress } from '../rails/chain/deposit-addresses.ts'
import { transferData } from '../rails/chain/evm/token.ts'
import { type EvmTransaction, encodeUnsigned, factsOfSigned } from '../rails/chain/evm/transaction.ts'
import { gasPointOf } from '../rails/signer/deposit-keys.ts'
import { openSignerLog } from '../rails/signer/log.ts'
import { type RemoteSignerOptions, remoteSigner, type SignerCall } from '../rails/signer/remote.ts'
import { sealOf } from '../rails/signer/seal.ts'
import { type Intent, SignatureRefused, SignerUnavailable, type SignRequest } from '../rails/signer/signer.ts'
import { SweepSignatureRefused } from '../rails/signer/sweeps.ts'
import { type ConfigError, readSignerConfig } from './config.ts'
import { startSigner } from './signer.ts'

/** The signer of `trilho signer` and its client, over a real socket, in one process. */
const evm_secret = randomBytes(32)
const bitcoin_secret = randomBytes(32)
const wallet = addr.fromPrivateKey(new Uint8Array(evm_secret))
const bitcoin = openTestWallet(bitcoin_secret)
const deposits = HDKey.fromMasterSeed(randomBytes(32))
const seal_key = randomBytes(32)
const GWEI = 10n ** 9n
const destination_address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

let folder: string
let env: Record<string, string>
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-signer-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  env = {
    SIGNER_LISTEN: `unix:${join(folder, 'signer.sock')}`,
    SIGNER_LOG_DIR: join(folder, 'log'),
    SIGNER_SEAL_KEY: seal_key.toString('hex'),
    EVM_WALLET_KEY: evm_secret.toString('hex'),
    BITCOIN_WALLET_KEY: bitcoin_secret.toString('hex'),
    EVM_DEPOSIT_KEY: deposits.privateExtendedKey,
    BITCOIN_DEPOSIT_KEY: deposits.privateExtendedKey,
  }
})

async function start(more: Record<string, string> = {}) {
  const signer = await startSigner({
    config: readSignerConfig({ ...env, ...more }),
    log: silent as never,
    onFatal(error) {
      throw error
    },
  })
  onTestFinished(() => signer.stop().catch(() => {}))
  return signer
}

const xpub = deposits.publicExtendedKey
const expected = {
  wallets: { polygon: wallet, bitcoin: bitcoin.address },
  gas_account: encodeAddress.evm(gasPointOf(xpub)),
  bitcoin_deposits: derivedAddresses('production', { bitcoin: xpub }).addressOf('bitcoin', 0),
  amounts_per_hour: { usdt: 0n, btc: 0n },
}

function connect(changes: Partial<RemoteSignerOptions> = {}) {
  const client = remoteSigner({
    place: { kind: 'unix', path: join(folder, 'signer.sock') },
    ...{ expected, sealKey: async () => seal_key, timeout_ms: 60_000, log: silent, ...changes },
  })
  onTestFinished(() => client.stop())
  return client
}

function intentOf(changes: Partial<Intent> = {}): Intent {
  const sealable = {
    ...({ transfer_id: 'tr_1', network: 'polygon', destination_address, amount: 1_500_000n } as const),
    ...changes,
  }
  return { seal: sealOf(seal_key, sealable), ...sealable }
}

type Changes = {
  intent?: Partial<Intent>
  transaction?: Partial<EvmTransaction>
  purpose?: SignRequest['purpose']
}

function payment({ intent: given = {}, transaction = {}, purpose = 'pay' }: Changes = {}): SignRequest {
  const intent = intentOf(given)
  const nonce = transaction.nonce ?? 7n
  const target =
    purpose === 'pay'
      ? {
          to: networks.polygon.usdt_contracts[0],
          data: transferData(intent.destination_address, intent.amount),
        }
      : { to: wallet, data: '0x' }
  const unsigned = encodeUnsigned({
    ...{ chain_id: 137n, nonce, ...target, gas_limit: 65_000n },
    ...{ max_fee: 100n * GWEI, priority: 30n * GWEI, ...transaction },
  })
  return { intent, purpose, unsigned, reservation: { wallet, nonce } }
}

const ruleOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'signed',
    (error: unknown) => {
      if (error instanceof SignatureRefused || error instanceof SweepSignatureRefused) return error.rule
      throw error
    },
  )

const logLines = () =>
  readFileSync(join(folder, 'log', 'signatures.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

describe('a signer in a process of its own', () => {
  test('signs payments on EVM networks, and logs each before it answers', async () => {
    await start()
    const asked = payment()
    const { signed } = await connect().transfers.sign(asked)
    const facts = factsOfSigned(signed)!
    expect(facts).toMatchObject({ unsigned: asked.unsigned, sender: wallet.toLowerCase() })
    expect(logLines()).toMatchObject([
      { n: 1, kind: 'opened', wallets: { polygon: wallet, bitcoin: bitcoin.address } },
      {
        ...{ n: 2, kind: 'transfer', transfer_id: 'tr_1', network: 'polygon', purpose: 'pay', wallet },
        ...{ destination: destination_address, amount: '1500000', nonce: '7', tx_hash: facts.tx_hash },
        ...{
          cost: `${65_000n * 100n * GWEI}`,
          unsigned: createHash('sha256').update(asked.unsigned).digest('hex'),
        },
      },
    ])
  })

  test('signs payments of bitcoin, also from deposit addresses', async () => {
    await start()
    const intent = intentOf({
      ...{ network: 'bitcoin', amount: 150_000n },
      destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    })
    const paid_in = derivedAddresses('production', { bitcoin: xpub }).addressOf('bitcoin', 5)
    const coins = [
      { txid: 'aa'.repeat(32), vout: 0, amount: 100_000n, script: bitcoin.script },
      { txid: 'bb'.repeat(32), vout: 1, amount: 60_000n, script: scriptOf(paid_in)!, address_index: 5 },
    ]
    const draft = {
      coins,
      outputs: [
        { script: scriptOf(intent.destination_address)!, amount: 150_000n },
        { script: bitcoin.script, amount: 8000n },
      ],
    }
    const reservation = { wallet: bitcoin.address, coins }
    const asked = { intent, purpose: 'pay', unsigned: encodePsbt(draft), reservation } as const
    const client = connect()
    const { signed } = await client.transfers.sign(asked)
    expect(isSignedDraft(signed, draft)).toBe(true)
    expect(logLines().at(-1)).toMatchObject({
      ...{ kind: 'transfer', network: 'bitcoin', cost: '2000' },
      coins: [
        { id: `${'aa'.repeat(32)}:0`, amount: '100000' },
        { id: `${'bb'.repeat(32)}:1`, amount: '60000' },
      ],
    })
    const { seal: _, ...ordered } = intent
    const other = intentOf({ ...ordered, transfer_id: 'tr_2' })
    expect(await ruleOf(client.transfers.sign({ ...asked, intent: other }))).toBe('coins')
  })

  test('signs sweeps into its own wallet, and none elsewhere', async () => {
    await start()
    const { sweeps } = connect()
    const data = (to: string) => transferData(to, 5n)
    const sweep = (to: string) => ({
      ...({ sweep_id: 'swp_1', network: 'polygon', purpose: 'sweep', address_index: 3 } as const),
      unsigned: encodeUnsigned({
        ...{ chain_id: 137n, nonce: 0n, to: networks.polygon.usdt_contracts[0], data: data(to) },
        ...{ gas_limit: 65_000n, max_fee: 100n * GWEI, priority: GWEI },
      }),
    })
    const { signed } = await sweeps.sign(sweep(wallet))
    const address = derivedAddresses('production', { evm: xpub }).addressOf('polygon', 3)
    expect(factsOfSigned(signed)?.sender).toBe(address.toLowerCase())
    expect(logLines().at(-1)).toMatchObject({ kind: 'sweep', destination: wallet.toLowerCase(), amount: '5' })
    expect(await ruleOf(sweeps.sign(sweep(destination_address)))).toBe('data')
  })

  test('refuses what is not sealed, and names the rule', async () => {
    await start()
    const asked = payment({ intent: { seal: 'ab'.repeat(32) } })
    const calls: SignerCall[] = []
    const client = connect({ onCall: (call) => calls.push(call) })
    await expect(client.transfers.sign(asked)).rejects.toThrow(
      /The signer refuses transfer tr_1: the seal does not fit/,
    )
    expect(calls.map(({ call, outcome, rule }) => [call, outcome, rule])).toEqual([
      ['hello', 'answered', undefined],
      ['sign', 'refused', 'seal'],
    ])
    expect(logLines()).toHaveLength(1)
  })

  test('gives the same answer to the same bytes, and counts them once', async () => {
    await start({ SIGNER_PER_HOUR: '2' })
    const { transfers } = connect()
    const first = await transfers.sign(payment())
    for (let turn = 0; turn < 3; turn++) expect(await transfers.sign(payment())).toEqual(first)
    expect(logLines()).toHaveLength(2)
    expect(await ruleOf(transfers.sign(payment({ transaction: { max_fee: 110n * GWEI } })))).toBe('signed')
    expect(await ruleOf(transfers.sign(payment({ transaction: { max_fee: 120n * GWEI } })))).toBe(
      'count_per_hour',
    )
    expect(await transfers.sign(payment())).toEqual(first)
  })

  test.each([false, true])(
    'never signs two payments that contradict each other (restarted: %s)',
    async (restarts) => {
      const signer = await start()
      const { transfers } = connect()
      await transfers.sign(payment())
      if (restarts) {
        await signer.stop()
        await start()
      }
      const sign = (changes: Changes) => ruleOf(transfers.sign(payment(changes)))
      // Another program that has the seal key can seal anything.
      expect(await sign({ intent: { amount: 2n } })).toBe('transfer')
      expect(await sign({ intent: { destination_address: wallet } })).toBe('transfer')
      expect(await sign({ intent: { transfer_id: 'tr_2' } })).toBe('nonce')
      expect(await sign({ transaction: { nonce: 8n } })).toBe('nonce')
      // A cancel pays nobody, and a higher fee replaces the payment.
      expect(await sign({ intent: { transfer_id: 'tr_2' }, purpose: 'cancel' })).toBe('signed')
      expect(await sign({ transaction: { max_fee: 110n * GWEI } })).toBe('signed')
      expect(await sign({ intent: { transfer_id: 'tr_2' }, transaction: { nonce: 8n } })).toBe('signed')
      const ahead = { transfer_id: 'tr_1', network: 'polygon', amount: 1_500_000n, cost: 1n } as const
      expect(await ruleOf(transfers.keepRoom(ahead))).toBe('nonce')
      expect(await transfers.keepRoom({ ...ahead, transfer_id: 'tr_3' })).toBeUndefined()
    },
  )

  test('after a restart signs no PSBT whose amounts differ from the log or from the reservation', async () => {
    const coin = (name: string, amount: bigint) => {
      const txid = createHash('sha256').update(name).digest('hex')
      return { txid, vout: 0, amount, script: bitcoin.script }
    }
    const half = 5_000_000_000n
    const outputs = [{ script: bitcoin.script, amount: half - 1000n }]
    const first_told = [coin('a', half), coin('b', 0n)]
    const then_told = [coin('a', 0n), coin('b', half)]
    const intent = intentOf({ network: 'bitcoin', destination_address: bitcoin.address, amount: 1n })
    const cancel = (coins: typeof first_told, reserved: typeof first_told): SignRequest => ({
      ...{ intent, purpose: 'cancel', unsigned: encodePsbt({ coins, outputs }) },
      reservation: { wallet: bitcoin.address, coins: reserved },
    })
    const { transfers } = connect()
    const signer = await start()
    // Nothing in the log yet: the reservation and the PSBT alone must agree.
    expect(await ruleOf(transfers.sign(cancel(then_told, first_told)))).toBe('coins')
    expect(await ruleOf(transfers.sign(cancel(first_told, first_told)))).toBe('signed')
    await signer.stop()
    await start()
    // Two signatures over different wrong amounts would together spend both coins, and leave one of them to a miner.
    for (const reserved of [first_told, then_told])
      expect(await ruleOf(transfers.sign(cancel(then_told, reserved)))).toBe('coins')
    expect(await ruleOf(transfers.sign(cancel(first_told, first_told)))).toBe('signed')
  })

  test('pays from a new wallet, with the nonces of the old one, and pays no transfer from both', async () => {
    const limits = { SIGNER_USDT_PER_HOUR: '4' }
    const signer = await start(limits)
    await connect().transfers.sign(payment())
    await signer.stop()
    const new_key = randomBytes(32)
    const new_wallet = addr.fromPrivateKey(new Uint8Array(new_key))
    await start({ ...limits, EVM_WALLET_KEY: new_key.toString('hex') })
    const { transfers } = connect({ expected: { ...expected, wallets: { polygon: new_wallet } } })
    const sign = (changes: Changes) => {
      const asked = payment(changes)
      const nonce = changes.transaction?.nonce ?? 7n
      return ruleOf(transfers.sign({ ...asked, reservation: { wallet: new_wallet, nonce } }))
    }
    expect(await sign({})).toBe('nonce')
    expect(await sign({ intent: { transfer_id: 'tr_2' } })).toBe('signed')
    expect(await sign({ intent: { transfer_id: 'tr_3' } })).toBe('nonce')
    // Nonce 7 of the old wallet and nonce 7 of the new one are two payments of 1.5 USDT.
    expect(await sign({ intent: { transfer_id: 'tr_3' }, transaction: { nonce: 8n } })).toBe(
      'amount_per_hour',
    )
  })

  test('writes a line for each key, each sweep and each transfer that signs the same bytes', async () => {
    await start({ SIGNER_PER_HOUR: '3' })
    const { sweeps, transfers } = connect()
    const unsigned = encodeUnsigned({
      ...{
        chain_id: 137n,
        nonce: 0n,
        to: networks.polygon.usdt_contracts[0],
        data: transferData(wallet, 5n),
      },
      ...{ gas_limit: 65_000n, max_fee: 100n * GWEI, priority: GWEI },
    })
    const sweep = (sweep_id: string, address_index: number) =>
      ruleOf(sweeps.sign({ sweep_id, network: 'polygon', purpose: 'sweep', address_index, unsigned }))
    expect(await sweep('swp_1', 1)).toBe('signed')
    expect(await sweep('swp_1', 1)).toBe('signed')
    expect(await sweep('swp_1', 2)).toBe('signed')
    expect(await sweep('swp_2', 2)).toBe('signed')
    expect(await sweep('swp_3', 3)).toBe('count_per_hour')
    const intent = intentOf({ destination_address: wallet, amount: 5n })
    await transfers.sign({ intent, purpose: 'pay', unsigned, reservation: { wallet, nonce: 0n } })
    expect(logLines().map(({ kind, address_index }) => [kind, address_index])).toEqual([
      ['opened', undefined],
      ['sweep', 1],
      ['sweep', 2],
      ['sweep', 2],
      ['transfer', undefined],
    ])
  })

  test('counts its hour from its own log: a restart does not lift a limit', async () => {
    const limits = { SIGNER_USDT_PER_HOUR: '2' }
    const signer = await start(limits)
    const { transfers } = connect()
    await transfers.sign(payment())
    await signer.stop()
    await start(limits)
    const second = payment({ intent: { transfer_id: 'tr_2' }, transaction: { nonce: 8n } })
    expect(await ruleOf(transfers.sign(second))).toBe('amount_per_hour')
    expect(
      await transfers.keepRoom({ transfer_id: 'tr_2', network: 'polygon', amount: 1_500_000n, cost: 1n }),
    ).toBe('amount_per_hour')
  })

  test('does not start while the clock of the machine is before the newest line of the log', async () => {
    const ahead = { now: () => Date.now() + 7_200_000 }
    const log = await openSignerLog({ folder: join(folder, 'log'), clock: ahead, onLine: () => {} })
    await log.append({ kind: 'opened', version: '1', wallets: {}, limits: {} })
    await log.close()
    await expect(start()).rejects.toThrow(/the clock of this machine is before that/)
  })

  test('does not start beside another one, and takes over the socket of a dead one', async () => {
    await start()
    await expect(start()).rejects.toThrow(/Another signer uses the log/)
    await expect(start({ SIGNER_LOG_DIR: join(folder, 'other') })).rejects.toThrow(/Another process listens/)
    const stale = join(folder, 'stale.sock')
    const dead_servers: Server[] = []
    await new Promise<void>((resolve) => {
      const dead = createServer().listen(`${stale}.first`, () => resolve(void dead_servers.push(dead)))
    })
    // Closing removes the file of the first name only: a killed process leaves its file like this.
    await rename(`${stale}.first`, stale)
    for (const dead of dead_servers) dead.close()
    const again = { SIGNER_LOG_DIR: join(folder, 'other'), SIGNER_LISTEN: `unix:${stale}` }
    await start(again)
    expect((await stat(stale)).mode & 0o777).toBe(0o660)
    await writeFile(join(folder, 'file'), 'text')
    await expect(
      start({ SIGNER_LOG_DIR: join(folder, 'third'), SIGNER_LISTEN: `unix:${join(folder, 'file')}` }),
    ).rejects.toThrow(/is no socket/)
  })

  test('refuses requests that are not of the form, without saying more than which field', async () => {
    await start()
    const agent = new Agent({ connect: { socketPath: join(folder, 'signer.sock') } })
    onTestFinished(() => agent.close())
    const post = async (path: string, body: string) => {
      const reply = await request(`http://signer${path}`, { method: 'POST', body, dispatcher: agent })
      return { status: reply.statusCode, text: await reply.body.text() }
    }
    const hello = JSON.stringify({ challenge: 'ab'.repeat(32) })
    expect(await post('/v1/hello', hello)).toMatchObject({ status: 200 })
    expect(await post('/v1/keys', hello)).toMatchObject({ status: 404 })
    const sweep = {
      sweep_id: 'swp_1',
      network: 'polygon',
      purpose: 'sweep',
      address_index: 1,
      unsigned: '0x00',
    }
    const wrong: [string, unknown][] = [
      ['/v1/hello', { challenge: 'short' }],
      ['/v1/hello', { challenge: 'ab'.repeat(32), more: 1 }],
      ['/v1/hello', []],
      ['/v1/sign', {}],
      ['/v1/keep-room', { transfer_id: 'tr_1', network: 'polygon', amount: -1, cost: '1' }],
      ['/v1/keep-room', { transfer_id: 'tr_1', network: 'polygon', amount: '01', cost: '1' }],
      ['/v1/sweeps/sign', { ...sweep, network: 'dogecoin' }],
      ['/v1/sweeps/sign', { ...sweep, address_index: 2 ** 31 }],
    ]
    for (const [path, body] of wrong) {
      const { status, text } = await post(path, JSON.stringify(body))
      expect([path, body, status]).toEqual([path, body, 400])
      expect(JSON.parse(text).error.kind).toBe('invalid')
    }
    expect(await post('/v1/hello', '{')).toMatchObject({ status: 400 })
    expect((await post('/v1/hello', `{"challenge":"${'a'.repeat(300_000)}"}`)).status).toBe(413)
    const told = (await post('/v1/hello', hello)).text
    for (const secret of [evm_secret, bitcoin_secret, seal_key])
      for (const spelling of spellingsOf(secret)) expect(told).not.toContain(spelling)
    for (const spelling of spellingsOfText(deposits.privateExtendedKey)) expect(told).not.toContain(spelling)
  })
})

describe('a service', () => {
  test('asks no signer with another seal key, another wallet or other deposit keys', async () => {
    await start()
    const problemOf = async (changes: Partial<RemoteSignerOptions>) => {
      const client = connect(changes)
      const error = await client.transfers.sign(payment()).catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(SignerUnavailable)
      expect(client.state()?.problem).toBe((error as Error).message)
      return (error as Error).message
    }
    expect(await problemOf({ sealKey: async () => randomBytes(32) })).toMatch(/another seal key/)
    const other = { ...expected, wallets: { polygon: destination_address } }
    expect(await problemOf({ expected: other })).toMatch(/wallet on polygon is .*, not 0x5aAeb/)
    expect(await problemOf({ expected: { ...expected, gas_account: wallet } })).toMatch(/EVM_DEPOSIT_XPUB/)
    expect(await problemOf({ expected: { ...expected, bitcoin_deposits: bitcoin.address } })).toMatch(
      /BITCOIN_DEPOSIT_XPUB/,
    )
    expect(logLines()).toHaveLength(1)
  })

  test('waits while the signer is away, and goes on when it is back', async () => {
    const client = connect()
    await expect(client.transfers.sign(payment())).rejects.toBeInstanceOf(SignerUnavailable)
    expect(client.state()?.problem).toMatch(/does not answer \(ENOENT\)/)
    const signer = await start()
    await client.transfers.sign(payment())
    expect(client.state()?.problem).toBeUndefined()
    await signer.stop()
    await expect(client.transfers.sign(payment())).rejects.toBeInstanceOf(SignerUnavailable)
  })

  test('asks no signer whose log was replaced by an older one', async () => {
    const signer = await start()
    const client = connect()
    await client.transfers.sign(payment())
    await client.check()
    await signer.stop()
    await rm(join(folder, 'log'), { recursive: true })
    await start()
    await expect(client.check()).rejects.toThrow(/has 1 lines, and had 2 before/)
    await expect(client.transfers.sign(payment())).rejects.toBeInstanceOf(SignerUnavailable)
  })
})

describe('over TCP', () => {
  const server = selfSigned('127.0.0.1')
  const client_pair = selfSigned('trilho')
  const pem = ({ cert, key }: { cert: string; key: string }) => `${cert}\n${key}`
  const startTls = () =>
    start({
      SIGNER_LISTEN: '127.0.0.1:0',
      SIGNER_CERTIFICATE: pem(server),
      SIGNER_CLIENTS_CA: client_pair.cert,
    })
  const place = (url: string, certificate = client_pair, ca = server.cert) =>
    ({ kind: 'https', url, certificate, ca }) as const

  test('the signer answers the holder of a client’s certificate, and nobody else', async () => {
    const { url } = await startTls()
    await connect({ place: place(url) }).transfers.sign(payment())
    const stranger = selfSigned('trilho')
    await expect(connect({ place: place(url, stranger) }).check()).rejects.toThrow(/does not answer/)
    const bare = new Agent({ connect: { ca: server.cert } })
    onTestFinished(() => bare.destroy())
    const body = JSON.stringify({ challenge: 'ab'.repeat(32) })
    const post = (at: string, dispatcher: Agent) =>
      request(`${at}/v1/hello`, { method: 'POST', body, dispatcher }).then(({ statusCode }) => statusCode)
    await expect(post(url, bare)).rejects.toThrow()
    await expect(post(url.replace('https', 'http'), bare)).rejects.toThrow()
  })

  test('the signer answers its clients beside any number of silent connections', async () => {
    const { url } = await startTls()
    const silent_ones = Array.from({ length: 400 }, () =>
      connectTcp(Number(new URL(url).port), '127.0.0.1').on('error', () => {}),
    )
    onTestFinished(() => {
      for (const socket of silent_ones) socket.destroy()
    })
    await Promise.all(silent_ones.map((socket) => once(socket, 'connect')))
    await connect({ place: place(url) }).check()
    // Each is closed, by its deadline or because newer ones came.
    await Promise.all(silent_ones.map((socket) => socket.closed || once(socket.resume(), 'close')))
  })

  test('the service asks no signer whose certificate is of another authority, or of another name', async () => {
    const { url } = await startTls()
    const other = selfSigned('127.0.0.1')
    await expect(connect({ place: place(url, client_pair, other.cert) }).check()).rejects.toThrow(
      SignerUnavailable,
    )
    const by_name = url.replace('127.0.0.1', 'localhost')
    await expect(connect({ place: place(by_name) }).check()).rejects.toThrow(/ALTNAME_INVALID/)
  })
})

describe('the settings of the signer', () => {
  const mistakesOf = (more: Record<string, string>) => {
    try {
      readSignerConfig({ ...env, ...more })
      return []
    } catch (error) {
      return (error as ConfigError).mistakes
    }
  }
  test('are needed whole, and never allow TCP without TLS', () => {
    expect(mistakesOf({})).toEqual([])
    expect(mistakesOf({ SIGNER_LISTEN: '', SIGNER_LOG_DIR: '', SIGNER_SEAL_KEY: '' })).toHaveLength(3)
    expect(mistakesOf({ SIGNER_LISTEN: '0.0.0.0:8443' })).toEqual([
      expect.stringMatching(/^SIGNER_CERTIFICATE is needed/),
      expect.stringMatching(/^SIGNER_CLIENTS_CA is needed/),
    ])
    expect(mistakesOf({ SIGNER_LISTEN: 'unix:relative' })).toEqual([expect.stringMatching(/absolute path/)])
    expect(mistakesOf({ SIGNER_LISTEN: 'http://0.0.0.0:80' })).toHaveLength(1)
    expect(
      mistakesOf({
        EVM_WALLET_KEY: '',
        BITCOIN_WALLET_KEY: '',
        EVM_DEPOSIT_KEY: '',
        BITCOIN_DEPOSIT_KEY: '',
      }),
    ).toEqual([expect.stringMatching(/nothing to sign with/)])
  })
})
