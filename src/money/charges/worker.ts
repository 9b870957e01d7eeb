import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../../core/activity.ts'
import { openFairSemaphore, QueueFull } from '../../core/fair-semaphore.ts'
import { openWorker } from '../../db/worker.ts'
import type { World } from '../../world.ts'
import { registerCharge } from './register.ts'
import { type Charge, registerLater, takeDueCharges } from './store.ts'

/**
 * Registers charges with the provider. The node that accepts a charge registers it at once, or leaves it to a worker if no place becomes
 * free. When the lease ends and the charge is still pending, any worker node does it again, under the same txid.
 */
export type ChargeWorker = {
  /** The first try, by the node that accepted the charge. Partners take turns for the places. */
  register(charge: Charge): Promise<void>
  stop(): Promise<void>
}

const RAIL = 'pix'
const POLL_INTERVAL = { least_ms: 500, most_ms: 8000 }
const SLOTS = { per_rail: 10, per_partner: 8 }
/** First tries under way on one node: a flood of charges must not take the provider's attention from payouts. */
const FIRST_TRIES = { at_once: 4, per_name: 2 }

/** Without `follows` (role `api`) a node registers the charges that it accepts, and leaves the rest to `worker` nodes. */
export function openChargeWorker(
  world: World,
  log: Logger,
  {
    follows = true,
    activity = alwaysActive,
  }: { readonly follows?: boolean; readonly activity?: Activity } = {},
): ChargeWorker {
  const register = (charge: Charge) => registerCharge(world, log, charge)
  // After this time the response says that the charge is pending.
  const first_tries = openFairSemaphore({ ...FIRST_TRIES, wait_ms: world.pix_wait_ms })

  async function registerFirst(charge: Charge): Promise<void> {
    if (world.pix.charges?.is_played) return register(charge)
    const leave = await first_tries.take(charge.partner_id).catch(undefinedIfFull)
    if (!leave) return registerLater(world.db, charge, 0)
    try {
      await register(charge)
    } finally {
      leave()
    }
  }
  const worker =
    follows && world.pix.charges
      ? openWorker<Charge>({
          name: 'charges',
          log,
          activity,
          poll_interval: POLL_INTERVAL,
          rails: [RAIL],
          slots: SLOTS,
          slotOf: ({ partner_id }) => ({ rail: RAIL, partner_id }),
          take: ({ rails, running, per_partner }) =>
            takeDueCharges(world.db, {
              ...{ lease_ms: world.lease_ms, most: rails[0]!.free },
              ...{ running, per_partner },
            }),
          work: register,
          stop_ms: world.rail_timeout_ms,
        })
      : undefined
  return {
    register: registerFirst,
    stop: async () => worker?.stop(),
  }
}

function undefinedIfFull(error: unknown): undefined {
  if (!(error instanceof QueueFull)) throw error
}
