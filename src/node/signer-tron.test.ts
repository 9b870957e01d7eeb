import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { silent } from '../../test/support/rail-bench.ts'
import { networks } from '../core/networks.ts'
import { tronAddressOfKey } from '../rails/chain/tron/address.ts'
import { trc20TransferData } from '../rails/chain/tron/token.ts'
import { encodeRaw, tronFactsOf, txIdOf } from '../rails/chain/tron/transaction.ts'
import { openSignerLog, type TransferEntry } from '../rails/signer/log.ts'
import { remoteSigner } from '../rails/signer/remote.ts'
import { sealOf } from '../rails/signer/seal.ts'
import { SignatureRefused, type SignRequest } from '../rails/signer/signer.ts'
import { readSignerConfig } from './config.ts'
import { startSigner } from './signer.ts'

/** Payments on Tron over a real socket. Earlier payments are lines of the log, with times of the past. */
const MINUTE_MS = 60_000
const key = randomBytes(32)
const wallet = tronAddressOfKey(key)
const seal_key = randomBytes(32)
const destination_address = tronAddressOfKey(randomBytes(32))
const amount = 1_500_000n

let folder: string
let env: Record<string, string>
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-signer-tron-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  env = {
    SIGNER_LISTEN: `unix:${join(folder, 'signer.sock')}`,
    SIGNER_LOG_DIR: join(folder, 'log'),
    SIGNER_SEAL_KEY: seal_key.toString('hex'),
    TRON_WALLET_KEY: key.toString('hex'),
  }
})

async function start(more: Record<string, string> = {}) {
  const signer = await startSigner({
    config: readSignerConfig({ ...env, ...more }),
    log: silent,
    onFatal(error) {
      throw error
    },
  })
  onTestFinished(() => signer.stop().catch(() => {}))
  return signer
}

function connect() {
  const client = remoteSigner({
    place: { kind: 'unix', path: join(folder, 'signer.sock') },
    expected: { wallets: { tron: wallet }, amounts_per_hour: { usdt: 0n, btc: 0n } },
    ...{ sealKey: async () => seal_key, timeout_ms: 60_000, log: silent },
  })
  onTestFinished(() => client.stop())
  return client
}

type Changes = {
  readonly transfer_id?: string
  readonly amount?: bigint
  readonly at?: number
  readonly number?: bigint
  readonly fee_limit?: bigint
  readonly earlier?: readonly string[]
}

function requestOf(changes: Changes = {}): SignRequest {
  const { transfer_id = 'tr_1', at = Date.now(), number = 7n, fee_limit = 9_000_000n, earlier } = changes
  const ordered = changes.amount ?? amount
  const sealable = { transfer_id, network: 'tron', destination_address, amount: ordered } as const
  const unsigned = encodeRaw({
    ...{ owner: wallet, contract: networks.tron.usdt_contracts[0] },
    ...{ data: trc20TransferData(destination_address, ordered), fee_limit },
    ref_block: { bytes: '4db5', hash: '9341d33e550cdeef' },
    ...{ expiration: BigInt(at + 10 * MINUTE_MS), timestamp: BigInt(at) },
  })
  return {
    intent: { ...sealable, seal: sealOf(seal_key, sealable) },
    ...{ purpose: 'pay', unsigned, reservation: { wallet, nonce: number } },
    ...(earlier === undefined ? {} : { earlier }),
  }
}

/** As if the signer had signed the request at that time. */
async function signedBefore(...signed: readonly Changes[]): Promise<void> {
  let time = 0
  const log = await openSignerLog({
    ...{ folder: join(folder, 'log'), clock: { now: () => time } },
    onLine: () => {},
  })
  for (const changes of signed) {
    time = changes.at!
    await log.append(lineOf(requestOf(changes), time))
  }
  await log.close()
}

const lineOf = ({ intent, unsigned, reservation }: SignRequest, at: number): TransferEntry => ({
  ...{ kind: 'transfer', transfer_id: intent.transfer_id, network: 'tron', purpose: 'pay' },
  ...{ destination: intent.destination_address, amount: `${intent.amount}`, wallet, cost: '9000000' },
  nonce: 'nonce' in reservation ? `${reservation.nonce}` : '',
  ...{ tx_hash: txIdOf(unsigned), expires_at: new Date(at + 10 * MINUTE_MS).toISOString() },
  unsigned: createHash('sha256').update(unsigned).digest('hex'),
})

const hashOf = (changes: Changes) => txIdOf(requestOf(changes).unsigned)

const ruleOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'signed',
    (error: unknown) => {
      if (error instanceof SignatureRefused) return error.rule
      throw error
    },
  )

const logLines = () =>
  readFileSync(join(folder, 'log', 'signatures.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

describe('a signer with a key of Tron', () => {
  test('signs a payment, logs it with its expiry, and gives the same bytes the same signature once', async () => {
    await start()
    const { transfers } = connect()
    const asked = requestOf()
    const { signed } = await transfers.sign(asked)
    expect(tronFactsOf(signed)).toEqual({
      raw: asked.unsigned,
      signer: wallet,
      tx_hash: txIdOf(asked.unsigned),
    })
    expect(await transfers.sign(asked)).toEqual({ signed })
    const [opened, ...lines] = logLines()
    expect(opened).toMatchObject({ kind: 'opened', wallets: { tron: wallet } })
    expect(lines).toMatchObject([
      {
        ...{ kind: 'transfer', network: 'tron', transfer_id: 'tr_1', purpose: 'pay', wallet, nonce: '7' },
        ...{ destination: destination_address, amount: `${amount}`, cost: '9000000' },
        tx_hash: txIdOf(asked.unsigned),
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    ])
  })

  test.each([false, true])(
    'signs no payment beside one that may still be mined (restarted: %s)',
    async (restarts) => {
      const signer = await start()
      const { transfers } = connect()
      const first = requestOf()
      await transfers.sign(first)
      if (restarts) {
        await signer.stop()
        await start()
      }
      const earlier = [txIdOf(first.unsigned)]
      const sign = (changes: Changes) => ruleOf(transfers.sign(requestOf(changes)))
      expect(await sign({ at: Date.now() + 5, earlier })).toBe('earlier_payments')
      expect(await sign({ at: Date.now() + 5 })).toBe('earlier_payments')
      expect(await sign({ amount: 2n, earlier })).toBe('transfer')
      expect(await ruleOf(transfers.sign(first))).toBe('signed')
      const same = requestOf({ transfer_id: 'tr_2' })
      expect(await ruleOf(transfers.sign({ ...same, unsigned: first.unsigned }))).toBe('earlier_payments')
      // Numbers are given anew after the restore of a database: another transfer may have the same one.
      expect(await sign({ transfer_id: 'tr_2', at: Date.now() + 5 })).toBe('signed')
      const ahead = { transfer_id: 'tr_1', network: 'tron', amount, cost: 1n } as const
      expect(await ruleOf(transfers.keepRoom(ahead))).toBe('earlier_payments')
      expect(await transfers.keepRoom({ ...ahead, transfer_id: 'tr_3' })).toBeUndefined()
    },
  )

  test('signs a further payment only for a service that names every earlier one', async () => {
    const first = { at: Date.now() - 40 * MINUTE_MS }
    const second = { at: Date.now() - 20 * MINUTE_MS }
    await signedBefore(first, second)
    await start()
    const { transfers } = connect()
    const sign = (...earlier: readonly string[]) => ruleOf(transfers.sign(requestOf({ earlier })))
    expect(await sign()).toBe('earlier_payments')
    expect(await sign(hashOf(first))).toBe('earlier_payments')
    expect(await sign(hashOf(second))).toBe('earlier_payments')
    await expect(transfers.sign(requestOf({ earlier: [hashOf(first)] }))).rejects.toThrow(
      `The signer refuses transfer tr_1: its payment ${hashOf(second)} was signed before, as the signer’s log says, and the service has lost the record of that.`,
    )
    expect(await sign('ab'.repeat(32), hashOf(second), hashOf(first))).toBe('signed')
  })

  test.each([
    [11.5, 'earlier_payments'],
    [12.5, 'signed'],
  ])('counts two minutes after the expiry: %s minutes after the signature %s', async (minutes, rule) => {
    const first = { at: Date.now() - minutes * MINUTE_MS }
    await signedBefore(first)
    await start()
    expect(await ruleOf(connect().transfers.sign(requestOf({ earlier: [hashOf(first)] })))).toBe(rule)
  })

  test('counts each payment of a transfer towards the amount of an hour: the earlier one may be mined', async () => {
    const first = { at: Date.now() - 20 * MINUTE_MS }
    await signedBefore(first)
    const asked = requestOf({ earlier: [hashOf(first)] })
    const narrow = await start({ SIGNER_USDT_PER_HOUR: '2' })
    expect(await ruleOf(connect().transfers.sign(asked))).toBe('amount_per_hour')
    await narrow.stop()
    await start({ SIGNER_USDT_PER_HOUR: '3' })
    expect(await ruleOf(connect().transfers.sign(asked))).toBe('signed')
  })

  test('has the cap of its own settings, and no key for other networks', async () => {
    await start({ TRON_FEE_MAX: '8' })
    const { transfers } = connect()
    expect(await ruleOf(transfers.sign(requestOf()))).toBe('fee_cap')
    expect(await ruleOf(transfers.sign({ ...requestOf(), purpose: 'cancel' }))).toBe('purpose')
    const payment = { transfer_id: 'tr_1', network: 'polygon', amount: 1n, cost: 1n } as const
    expect(await ruleOf(transfers.keepRoom(payment))).toBe('network')
  })
})
