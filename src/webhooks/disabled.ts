import type { Db } from '../db/pool.ts'
import { recordEvent } from '../records/events/events.ts'
import type { World } from '../world.ts'
import { renderEndpoint } from './contract.ts'
import { countEndpointEvent } from './store.ts'

/** Records `webhook_endpoint.disabled`, which goes to the partner's other endpoints: the disabled one gets nothing. */
export async function recordDisabled(
  tx: Db,
  world: World,
  where: { id: string; partner_id: string },
): Promise<void> {
  const endpoint = await countEndpointEvent(tx, where)
  if (!endpoint) return
  await recordEvent(tx, world, {
    partner_id: endpoint.partner_id,
    type: 'webhook_endpoint.disabled',
    object: renderEndpoint(endpoint),
    sequence: endpoint.tests,
  })
}
