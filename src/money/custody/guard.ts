import type { Logger } from 'pino'
import type { Network } from '../../core/networks.ts'
import type { ChainRail, WalletState } from '../../rails/chain/rail.ts'
import type { World } from '../../world.ts'
import { isPaused } from './controls.ts'
import { type ForeignTransactions, isAhead, nextNonceOf, recordForeign, walletIdOf } from './wallets.ts'

/**
 * Protects a wallet from a database that is behind the chain, as after the restore of a backup (decision 0053). Such a database has
 * transfers that look unpaid and were paid meanwhile. Their transactions have nonces that the database does not know, so the
 * service compares: the chain may know no nonce from `wallets.next_nonce` on. A nonce is stored before its transaction is signed,
 * and the chain is asked before the database, so a database that is not behind always passes.
 */
export type Guard = {
  /**
   * The same rail, which signs and broadcasts nothing while the database is behind. Without an admission of the last minute it
   * asks the chain first. `reserveNonce` compares again, under the lock of the wallet.
   */
  guarded(rail: ChainRail): ChainRail
}

/** Stops a rail until two operators resume it. Pausing a paused rail changes nothing. */
export type PauseRail = (
  world: World,
  pause: { readonly rail: Network; readonly by: 'service'; readonly reason: string },
) => Promise<unknown>

const FRESH_MS = 60_000
const RETRY_MS = 5000

export function openGuard(world: World, log: Logger, pauseRail: PauseRail): Guard {
  /** When each rail last passed, as `performance.now()`. */
  const passed = new Map<Network, number>()

  async function admits(network: Network, state: WalletState): Promise<boolean> {
    const asked_at = performance.now()
    const next_nonce = await nextNonceOf(world.db, walletIdOf(network, state.wallet))
    if (!isAhead(state, next_nonce)) {
      passed.set(network, asked_at)
      return true
    }
    passed.delete(network)
    // A nonce that only one of several endpoints reports does not pause the rail, but nothing is sent until the endpoints agree.
    if (state.pool > next_nonce) await stopRail(world, log, pauseRail, { network, state, next_nonce })
    return false
  }

  return {
    guarded(rail) {
      const { network } = rail
      if (!rail.has_wallet) return rail
      const isAdmitted = async () =>
        performance.now() - (passed.get(network) ?? Number.NEGATIVE_INFINITY) < FRESH_MS ||
        admits(network, await rail.wallet())
      return {
        ...rail,
        async wallet() {
          const state = await rail.wallet()
          await admits(network, state)
          return state
        },
        async attempt(...asked) {
          if (await isAdmitted()) return rail.attempt(...asked)
          const why = (await isPaused(world, network)) ? 'rail_paused' : 'endpoints_disagree'
          return { kind: 'later', at: new Date(world.clock.now() + RETRY_MS), why }
        },
        async broadcast(...asked) {
          return (await isAdmitted()) ? rail.broadcast(...asked) : { kind: 'unknown' }
        },
      }
    },
  }
}

async function stopRail(
  world: World,
  log: Logger,
  pauseRail: PauseRail,
  { network, state, next_nonce }: ForeignTransactions,
): Promise<void> {
  const { wallet } = state
  const reason = await recordForeign(world, { network, state, next_nonce })
  await pauseRail(world, { rail: network, by: 'service', reason })
  log.error({ network, wallet }, `custody: ${reason} Nothing is sent; the rail is paused.`)
}
