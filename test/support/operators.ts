import type { Action } from '../../src/operator/actions.ts'
import { approve, propose } from '../../src/operator/proposals.ts'
import type { World } from '../../src/world.ts'

/** What one operator proposes and another one approves: the only way in production. */
export async function byTwoOperators(world: World, action: Action): Promise<{ id: string }> {
  const { id } = await propose(world, action, 'maria@operator.example')
  const { resource_id } = await approve(world, id, 'joao@operator.example')
  return { id: resource_id! }
}
