import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { addr } from 'micro-eth-signer'
import type { Logger } from 'pino'
import { takeLock } from '../db/embedded/lock.ts'
import { derivedAddresses, encodeAddress } from '../rails/chain/deposit-addresses.ts'
import { localBitcoinSigner } from '../rails/signer/bitcoin.ts'
import { openSignatureBook, type SignatureBook } from '../rails/signer/book.ts'
import { openSignerClock } from '../rails/signer/clock.ts'
import { gasPointOf, openDepositKeys, readExtendedPrivateKey } from '../rails/signer/deposit-keys.ts'
import { localSigner } from '../rails/signer/local.ts'
import { headText, openSignerLog, type SignerLog } from '../rails/signer/log.ts'
import { recordedSigner } from '../rails/signer/recorded.ts'
import { type SignerServer, startSignerServer } from '../rails/signer/server.ts'
import type { Signer } from '../rails/signer/signer.ts'
import { localSweepSigner } from '../rails/signer/sweeps.ts'
import { localTronSigner } from '../rails/signer/tron.ts'
import { secretOf } from '../rails/signer/wallet-key.ts'
import type { SignerConfig } from './config.ts'
import { version } from './version.ts'

type SignerProcess = {
  readonly config: SignerConfig
  readonly log: Logger
  readonly onFatal: (error: Error) => void
}

/** The process of `trilho signer`: it has the keys, and neither a database nor the disk of the service (decision 0070). */
export async function startSigner({
  config,
  log,
  onFatal,
}: SignerProcess): Promise<Pick<SignerServer, 'url' | 'stop'>> {
  const { log_dir } = config
  // Two processes with one log would count each other's signatures only after a restart.
  const lock = await lockFolder(log_dir)
  let signatures: SignerLog | undefined
  try {
    let last_ms = 0
    const clock = openSignerClock()
    const book = openSignatureBook({ clock })
    signatures = await openSignerLog({
      folder: log_dir,
      clock,
      onLine(line) {
        last_ms = Date.parse(line.at)
        clock.notBefore(last_ms)
        book.apply(line)
      },
    })
    // A clock that was set forward for a while, or is now set back, makes the hour of the limits meaningless.
    if (last_ms > Date.now() + CLOCK_MOST_MS)
      throw new Error(
        `The newest line of the log of signatures is of ${new Date(last_ms).toISOString()}, and the clock of this machine is before that. Set the clock right, then start the signer again.`,
      )
    const server = await serveSigner({ config, log, onFatal, book, clock, signatures })
    log.info(`signer: the newest line of the log is ${headText(signatures.head())}`)
    const opened = signatures
    return {
      url: server.url,
      async stop() {
        await server.stop()
        await opened.close()
        await lock.release()
      },
    }
  } catch (error) {
    await signatures?.close()
    await lock.release()
    throw error
  }
}

type Parts = SignerProcess & {
  readonly book: SignatureBook
  readonly clock: { now(): number }
  readonly signatures: SignerLog
}

async function serveSigner({ config, log, onFatal, book, clock, signatures }: Parts): Promise<SignerServer> {
  const { seal_key, certificate, clients_ca } = config
  const counts = { sealKey: async () => seal_key, clock, isCounted: book.hasRecent }
  const ofTransfers = (wallet?: string) => ({
    ...counts,
    signedBefore: async () => book.signedWithinAnHour('transfer', wallet),
  })
  const of_sweeps = { ...counts, signedBefore: async () => book.signedWithinAnHour('sweep') }
  const { evm, wallet } = openEvm(config, ofTransfers)
  const bitcoin = openBitcoin(config, ofTransfers())
  const tron = openTron(config, ofTransfers())
  const sweeps = openSweeps(config, wallet, of_sweeps)
  const wallets = {
    ...(await evm?.addresses()),
    ...(await bitcoin?.addresses()),
    ...(await tron?.addresses()),
  }
  await signatures.append({ kind: 'opened', version, wallets, limits: limitsOf(config) })
  for (const [network, address] of Object.entries(wallets))
    log.info({ network }, `signer: signs for ${address} on ${network}`)
  const facts = { version, wallets, ...depositsOf(config) }
  return startSignerServer({
    ...{ address: config.listen, seal_key, onFatal, log },
    ...(certificate && clients_ca ? { tls: { ...certificate, clients_ca } } : {}),
    signer: recordedSigner({
      ...{ book, log: signatures },
      ...(evm ? { evm } : {}),
      ...(bitcoin ? { bitcoin } : {}),
      ...(tron ? { tron } : {}),
      ...(sweeps ? { sweeps } : {}),
    }),
    describe: () => ({ ...facts, log: signatures.head() }),
  })
}

const CLOCK_MOST_MS = 60_000

async function lockFolder(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = await takeLock(join(folder, 'lock'))
  if ('held_by' in lock)
    throw new Error(`Another signer uses the log in ${folder} (process ${lock.held_by}).`)
  return lock
}

type Counts = Pick<Parameters<typeof localSigner>[0], 'sealKey' | 'clock' | 'isCounted' | 'signedBefore'>

const evmNetworks = ['ethereum', 'polygon', 'arbitrum', 'optimism'] as const

function openEvm({ evm_key: key, networks, limits }: SignerConfig, countsOf: (wallet: string) => Counts) {
  if (key === undefined) return {}
  const wallet = addr.fromPrivateKey(secretOf(key))
  const ofNetwork = (network: (typeof evmNetworks)[number]) => {
    const { usdt, cost_most } = networks[network]
    const per_hour = {
      count: limits.count,
      amount: limits.amount,
      cost: cost_most * BigInt(limits.costs),
    }
    return { cost_most_wei: cost_most, per_hour, ...(usdt === undefined ? {} : { contract: usdt }) }
  }
  const rules = Object.fromEntries(evmNetworks.map((network) => [network, ofNetwork(network)]))
  return { evm: localSigner({ key, networks: rules, ...countsOf(wallet) }), wallet }
}

function openBitcoin(config: SignerConfig, counts: Counts): Signer | undefined {
  const { bitcoin_key: key, bitcoin_deposit_key: xprv, bitcoin_fee_most: fee_most, limits } = config
  if (key === undefined) return undefined
  return localBitcoinSigner({
    ...{ key, caps: { fee_most, rate_most: config.bitcoin_rate_most }, ...counts },
    per_hour: { count: limits.count, amount: limits.btc, cost: fee_most * BigInt(limits.costs) },
    ...(xprv === undefined ? {} : { deposit_keys: openDepositKeys(xprv, xpubOf(xprv)) }),
  })
}

function openTron(config: SignerConfig, counts: Counts): Signer | undefined {
  const { tron_key: key, tron_usdt: contract, tron_fee_most: fee_most, limits } = config
  if (key === undefined) return undefined
  return localTronSigner({
    ...{ key, fee_most, ...counts, ...(contract === undefined ? {} : { contract }) },
    per_hour: { count: limits.count, amount: limits.amount, cost: fee_most * BigInt(limits.costs) },
  })
}

function openSweeps(config: SignerConfig, wallet: string | undefined, counts: Counts) {
  const { evm_deposit_key: xprv, networks, limits } = config
  if (xprv === undefined || wallet === undefined) return undefined
  const rules = evmNetworks.map((network) => {
    const { usdt, cost_most } = networks[network]
    const per_hour = { count: limits.count, cost: cost_most * BigInt(limits.costs) }
    const contract = usdt === undefined ? {} : { contract: usdt }
    return [network, { wallet, cost_most_wei: cost_most, per_hour, ...contract }] as const
  })
  return localSweepSigner({
    ...{ keys: openDepositKeys(xprv, xpubOf(xprv)), networks: Object.fromEntries(rules) },
    ...counts,
  })
}

const xpubOf = (xprv: string): string => readExtendedPrivateKey(xprv).publicExtendedKey

/** What a service compares with its extended public keys. */
function depositsOf({ evm_deposit_key, bitcoin_deposit_key, limits }: SignerConfig) {
  return {
    gas_account:
      evm_deposit_key === undefined ? null : encodeAddress.evm(gasPointOf(xpubOf(evm_deposit_key))),
    bitcoin_deposits:
      bitcoin_deposit_key === undefined
        ? null
        : derivedAddresses('production', { bitcoin: xpubOf(bitcoin_deposit_key) }).addressOf('bitcoin', 0),
    amounts_per_hour: { usdt: `${limits.amount}`, btc: `${limits.btc}` },
  }
}

const limitsOf = ({ limits }: SignerConfig): Record<string, string> => ({
  per_hour: `${limits.count}`,
  usdt_per_hour: `${limits.amount}`,
  btc_per_hour: `${limits.btc}`,
  costs_per_hour: `${limits.costs}`,
})
