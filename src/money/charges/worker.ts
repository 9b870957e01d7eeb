import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../../core/activity.ts'
import { openWorker } from '../../db/worker.ts'
import type { World } from '../../world.ts'
import { registerCharge } from './register.ts'
import { type Charge, takeDueCharges } from './store.ts'

/**
 * Registers charges with the provider. The node that accepts a charge registers it at once. When the lease ends and the charge is still
 * pending, any worker node does it again, under the same txid.
 */
export type ChargeWorker = {
  /** The first try, by the node that accepted the charge. */
  register(charge: Charge): Promise<void>
  stop(): Promise<void>
}

const RAIL = 'pix'
const POLL_INTERVAL = { least_ms: 500, most_ms: 8000 }
const SLOTS = { per_rail: 10, per_partner: 8 }

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
          take: ({ rails }) => takeDueCharges(world.db, { lease_ms: world.lease_ms, most: rails[0]!.free }),
          work: register,
          stop_ms: world.rail_timeout_ms,
        })
      : undefined
  return {
    register,
    stop: async () => worker?.stop(),
  }
}
