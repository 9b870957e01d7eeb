import type { MoneyAction } from '../../src/control/operator/actions.ts'
import type { Office } from '../../src/control/operator/office.ts'
import * as proposals from '../../src/control/operator/proposals.ts'
import type { World } from '../../src/world.ts'

/** Somebody of the operator, signed in. */
export const operator = (email: string, role: 'admin' | 'resolver' | 'reader' = 'admin') =>
  ({ kind: 'operator', user_id: `usr_${email.split('@')[0]}`, email, role }) as const

const SOMEBODY = 'somebody@operator.example'

/**
 * Proposals as operators go about them, who are known by their e-mail here. Without an office the lines are chained with a key
 * that nobody verifies them by.
 */
export function openDesk(office?: () => Office) {
  async function pen({ environment }: World, email: string): Promise<proposals.OperatorPen> {
    const actor = operator(email)
    if (!office) return { place: environment, key: Buffer.alloc(32), actor }
    return { ...(await office().log.pen(environment, actor)), actor }
  }
  return {
    propose: async (world: World, action: MoneyAction, by: string) =>
      (await proposals.propose(world, action, await pen(world, by))).proposal,
    approve: async (world: World, id: string, by: string) =>
      (await proposals.approve(world, id, await pen(world, by))).proposal,
    reject: async (world: World, id: string, by: string, reason: string) =>
      (await proposals.reject(world, id, await pen(world, by), reason)).proposal,
    withdraw: async (world: World, id: string, by: string, reason: string | null) =>
      (await proposals.withdraw(world, id, await pen(world, by), reason)).proposal,
    expireProposals: async (world: World) => proposals.expireProposals(world, await pen(world, SOMEBODY)),
    findProposal: async (world: World, id: string) =>
      proposals.findProposal(world, id, await pen(world, SOMEBODY)),
    listProposals: async (world: World) => proposals.listProposals(world, await pen(world, SOMEBODY)),
  }
}

export const desk = openDesk()

/** What one operator proposes and another one approves: the only way in production. */
export async function byTwoOperators(world: World, action: MoneyAction): Promise<{ id: string }> {
  const { id } = await desk.propose(world, action, 'maria@operator.example')
  const { resource_id } = await desk.approve(world, id, 'joao@operator.example')
  return { id: resource_id! }
}
