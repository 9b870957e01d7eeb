import type { Db } from '../db/pool.ts'
import type { Owned } from './posts.ts'
import { ownersOf } from './store.ts'

const KEPT = 10_000

/** Whose endpoints these are. That never changes, so it is remembered. */
export function openOwners(db: Db): (endpoints: readonly string[]) => Promise<Owned[]> {
  const owners = new Map<string, string>()
  return async (endpoints) => {
    const unknown = endpoints.filter((id) => !owners.has(id))
    if (owners.size > KEPT) owners.clear()
    const asked = unknown.length === 0 ? [] : await ownersOf(db, unknown)
    for (const { endpoint_id, partner_id } of asked) owners.set(endpoint_id, partner_id)
    return endpoints.flatMap((endpoint_id) => {
      const partner_id = owners.get(endpoint_id)
      return partner_id === undefined ? [] : [{ endpoint_id, partner_id }]
    })
  }
}
