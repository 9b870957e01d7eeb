import type { OfficeShares } from '../control/operator/office.ts'
import { openPool, type Pool, type Seat } from '../db/pool.ts'
import { openPeopleShares, openSharedShares, type SharedPools } from '../http/shares.ts'
import { openShared } from '../parties/partners/partners.ts'

/**
 * A node's connections to the schema `shared`, in separate pools, so that partners' people delay no operator, no sign-in and
 * no load balancer (decision 0020).
 */
export type NodePools = SharedPools & { readonly readiness: Pool }

const CONNECTIONS: Readonly<Record<keyof NodePools, number>> = {
  operators: 4,
  people: 4,
  visitors: 2,
  readiness: 1,
}

export function openNodePools(seat: Seat, wait_ms: number): NodePools {
  const open = (name: keyof NodePools) => openPool({ ...seat, max: CONNECTIONS[name], wait_ms })
  return {
    operators: open('operators'),
    people: open('people'),
    visitors: open('visitors'),
    readiness: open('readiness'),
  }
}

export async function endPools(pools: NodePools): Promise<void> {
  await Promise.all(Object.values(pools).map((pool: Pool) => pool.end()))
}

/** The names of the pools in the metrics. */
export const namedPools = ({ operators, people, visitors, readiness }: NodePools): Record<string, Pool> => ({
  shared: operators,
  'shared people': people,
  'shared visitors': visitors,
  readiness,
})

export function sharesOf(pools: NodePools): OfficeShares {
  const poolFor = openSharedShares(pools)
  return { shared: (caller) => openShared(poolFor(caller)), world: openPeopleShares() }
}
