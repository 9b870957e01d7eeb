import { pino } from 'pino'
import { systemClock } from '../../core/clock.ts'
import { configuredNetworks, openProductionRails } from '../../node/rails.ts'
import type { ChainRail } from '../../rails/chain/rail.ts'
import { type Input, type Output, table } from '../command.ts'
import { exit } from '../exit.ts'

/** Asks the nodes of each configured network; needs no database and sends nothing. */
export async function railsCheck({ config, io }: Input): Promise<Output> {
  const networks = configuredNetworks(config)
  if (networks.length === 0)
    return {
      json: { ok: true, networks: [] },
      text: 'No network is configured in production. See docs/operate/going-live.md.\n',
    }
  io.progress('Asking the nodes …')
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
    const checked = await Promise.all(
      networks.map((network) => checkOne(rails.chains[network], wallets[network])),
    )
    io.progress('')
    const ok = checked.every(({ problem }) => problem === null)
    const rows = checked.map(({ problem, wallet, ...row }) => ({
      ...row,
      wallet: wallet ?? '',
      state: problem ?? 'ready',
    }))
    return {
      json: { ok, networks: checked },
      text: table(rows),
      exit_code: ok ? exit.done : exit.refused,
    }
  } finally {
    await rails.stop()
  }
}

/** A node without a key may not know its wallet. */
async function checkOne(chain: ChainRail<'production'>, wallet: string | null = null) {
  const problem = await chain.check().then(
    () => null,
    (error: Error) => error.message,
  )
  const facts = chain.endpoints()
  const healthy = facts.filter(({ state }) => state === 'healthy').length
  return { network: chain.network, wallet, endpoints: `${healthy} of ${facts.length}`, problem }
}

async function nothingIsSigned(): Promise<never> {
  throw new Error('A check of the rails signs nothing.')
}

function noDatabase(): never {
  throw new Error('A check of the rails needs no database.')
}
