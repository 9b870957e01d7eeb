import { pino } from 'pino'
import { systemClock } from '../../core/clock.ts'
import { formatPrice } from '../../core/price.ts'
import { configuredNetworks, isPixConfigured, openProductionRails, pixProviderOf } from '../../node/rails.ts'
import type { ChainRail } from '../../rails/chain/rail.ts'
import type { PixRail } from '../../rails/pix/rail.ts'
import type { PriceFeed } from '../../rails/prices/feed.ts'
import { headText } from '../../rails/signer/log.ts'
import type { RemoteSigner } from '../../rails/signer/remote.ts'
import { type Input, type Output, table } from '../command.ts'
import { exit } from '../exit.ts'

/** Asks the nodes of each configured network, the Pix provider, and the exchanges; needs no database and sends nothing. */
export async function railsCheck({ config, io }: Input): Promise<Output> {
  const networks = configuredNetworks(config)
  if (networks.length === 0 && config.prices_from === undefined && !isPixConfigured(config))
    return {
      json: { ok: true, networks: [] },
      text: 'No rail is configured in production. See docs/operate/going-live.md.\n',
    }
  io.progress('Asking the nodes and exchanges …')
  const log = pino({ level: 'silent' })
  const rails = openProductionRails({
    ...{ config, clock: systemClock(), log },
    // A check signs nothing.
    logKey: nothingIsSigned,
    signedBefore: nothingIsSigned,
    db: noDatabase,
  })
  try {
    const wallets = await rails.wallets()
    const [checked, markets, pix, signer] = await Promise.all([
      Promise.all(networks.map((network) => checkOne(rails.chains[network], wallets[network]))),
      checkPrices(rails.prices),
      isPixConfigured(config) ? checkPix(rails.pix) : undefined,
      rails.remote_signer ? checkSigner(rails.remote_signer) : undefined,
    ])
    io.progress('')
    const ok =
      checked.every(({ problem }) => problem === null) &&
      markets.every(({ state }) => state === 'good') &&
      !pix?.problem &&
      !pix?.charges_problem &&
      !signer?.problem
    const rows = checked.map(({ problem, wallet, ...row }) => ({
      ...row,
      wallet: wallet ?? '',
      state: problem ?? 'ready',
    }))
    const pix_line =
      pix &&
      `pix over ${pixProviderOf(config)}: ${pix.problem ?? `ready, ${pix.available} centavos available`}; charges: ${pix.charges_problem ?? (rails.pix.charges ? 'ready' : 'none')}\n`
    return {
      json: {
        ok,
        networks: checked,
        ...(markets.length > 0 && { prices: markets }),
        ...(pix ? { pix } : {}),
        ...(signer ? { signer } : {}),
      },
      text: [
        ...[rows, sourceRows(markets)].filter((part) => part.length > 0).map((part) => table(part)),
        ...(pix_line ? [pix_line] : []),
        ...(signer ? [`signer: ${signer.problem ?? `ready, its log ends with ${signer.log_head}`}\n`] : []),
      ].join('\n'),
      exit_code: ok ? exit.done : exit.refused,
    }
  } finally {
    await rails.stop()
  }
}

/** A node without a key may not know its wallet. */
async function checkOne(chain: ChainRail<'production'>, wallet: string | null = null) {
  const problem = await problemOf(() => chain.check())
  const facts = chain.endpoints()
  const healthy = facts.filter(({ state }) => state === 'healthy').length
  return { network: chain.network, wallet, endpoints: `${healthy} of ${facts.length}`, problem }
}

/** None unless prices come from exchanges. */
async function checkPrices(prices: PriceFeed<'production'>) {
  await prices.latest()
  return (prices.markets?.() ?? []).map(({ sources, ...market }) => ({
    ...market,
    sources: sources.map(({ price, ...source }) => ({
      ...source,
      price: price === undefined ? null : formatPrice(price),
    })),
  }))
}

const sourceRows = (markets: Awaited<ReturnType<typeof checkPrices>>) =>
  markets.flatMap(({ pair, state: market, sources }) =>
    sources.map(({ source, price, state, problem }) => ({
      ...{ pair, source, price: price ?? '' },
      state: problem ? `${state}: ${problem}` : state,
      quoted: market === 'good' ? 'yes' : `no: ${market}`,
    })),
  )

/** Signs in, reads the balance, and asks for the payments of the last minute. Nothing is registered. */
async function checkPix({ account, charges }: PixRail<'production'>) {
  const now = Date.now()
  const window = { from: new Date(now - 60_000), to: new Date(now) }
  const charges_problem = await problemOf(async () => {
    for await (const _ of charges?.received(window) ?? []) return
  })
  try {
    const balance = await account?.balance()
    return { available: balance?.available.toString() ?? null, problem: null, charges_problem }
  } catch (error) {
    return { available: null, problem: (error as Error).message, charges_problem }
  }
}

/** The keys of seals are not compared, because that needs the database: trilho signer check does it. */
async function checkSigner(signer: RemoteSigner) {
  try {
    return { log_head: headText(await signer.check({ without_seal: true })), problem: null }
  } catch (error) {
    return { log_head: null, problem: (error as Error).message }
  }
}

const problemOf = (check: () => Promise<void>): Promise<string | null> =>
  check().then(
    () => null,
    (error: Error) => error.message,
  )

async function nothingIsSigned(): Promise<never> {
  throw new Error('A check of the rails signs nothing.')
}

function noDatabase(): never {
  throw new Error('A check of the rails needs no database.')
}
