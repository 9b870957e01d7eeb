import { refuse } from '../../core/errors.ts'
import { type IdKind, newId } from '../../core/ids.ts'
import type { Pool } from '../../db/pool.ts'
import { changePartner, insertPartner, type Partner, type PartnerChange, selectPartners } from './store.ts'

/** The schema `shared`, which both worlds have in common: partners and their people. It holds no money. */
export type Shared = { readonly db: Pool; newId(kind: IdKind): string }

export const openShared = (db: Pool): Shared => ({ db, newId: (kind) => newId(kind, Date.now()) })

export function createPartner(shared: Shared, name: string): Promise<Partner> {
  return insertPartner(shared.db, { id: shared.newId('partner'), name })
}

export function listPartners(shared: Shared): Promise<Partner[]> {
  return selectPartners(shared.db)
}

export async function editPartner(shared: Shared, id: string, change: PartnerChange): Promise<Partner> {
  const partner = await changePartner(shared.db, id, change)
  if (!partner) return noPartner(id)
  return partner
}

const noPartner = (id: string): never =>
  refuse('object_not_found', { message: `No partner ${id}.`, shell: 'See: trilho partners list' })

/** Finds a partner by id; without an id, the only partner. */
export async function findPartner(shared: Shared, id: string | undefined): Promise<Partner> {
  const partners = await selectPartners(shared.db)
  if (id !== undefined) {
    const partner = partners.find((candidate) => candidate.id === id)
    if (!partner) return noPartner(id)
    return partner
  }
  if (partners.length === 0)
    throw new Error('There is no partner yet. Create one: trilho partners create --name NAME')
  if (partners.length > 1)
    throw new Error('There are several partners: say which one with --partner ID (trilho partners list)')
  return partners[0]!
}
