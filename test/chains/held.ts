import { networks } from '../../src/core/networks.ts'
import { asAdmin } from '../support/database.ts'
import { until } from '../support/wait.ts'
import type { Anvil } from './anvil.ts'

/** Blocks that make everything before them final, and a service that has read what its wallet holds: it accepts transfers now. */
export async function awaitHoldings(node: Anvil, database_url: string): Promise<void> {
  await node.mine(2 * networks.polygon.confirmations)
  await until(async () => (await asAdmin(database_url, ['SELECT FROM live.holdings'])).length > 0, 90_000)
}
