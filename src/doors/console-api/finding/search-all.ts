import type { Office } from '../../../control/operator/office.ts'
import { proposalById } from '../../../control/operator/store.ts'
import { type IdKind, isId } from '../../../core/ids.ts'
import type { Db } from '../../../db/pool.ts'
import { depositById } from '../../../money/deposits/store.ts'
import { transferById } from '../../../money/onchain/store.ts'
import { payoutById } from '../../../money/pix/store.ts'
import { quoteById, tradeById } from '../../../money/quotes/store.ts'
import { customerById } from '../../../parties/customers/store.ts'
import { listKeys } from '../../../parties/keys/store.ts'
import { partnerById } from '../../../parties/partners/store.ts'
import { partnerOfEvent } from '../../../records/events/store.ts'
import { exceptionById } from '../../../records/exceptions/store.ts'
import { partnerOfRequest } from '../../../records/requests/store.ts'
import { ownersOf } from '../../../webhooks/store.ts'
import type { World } from '../../../world.ts'
import type { SearchResult } from './search.ts'

/** Finds the partner of an object by the object's id. */
const owners = {
  partner: async (_db, id) => id,
  customer: async (db, id) => (await customerById(db, id))?.partner_id,
  deposit: async (db, id) => (await depositById(db, id))?.partner_id,
  payout: async (db, id) => (await payoutById(db, id))?.partner_id,
  transfer: async (db, id) => (await transferById(db, id))?.partner_id,
  quote: async (db, id) => (await quoteById(db, id))?.partner_id,
  trade: async (db, id) => (await tradeById(db, id))?.partner_id,
  event: partnerOfEvent,
  webhook_endpoint: async (db, id) => (await ownersOf(db, [id]))[0]?.partner_id,
  key: async (db, id) => (await listKeys(db, { id }))[0]?.partner_id,
  request: partnerOfRequest,
} satisfies Partial<Record<IdKind, (db: Db, id: string) => Promise<string | undefined>>>

type OwnedKind = keyof typeof owners

/**
 * Operators search by whole ids, from a partner's message or from a rail. The result leads to the partner of the
 * object.
 */
export async function searchAll(office: Office, world: World, q: string): Promise<SearchResult[]> {
  const id = q.trim()
  const place = `/operator/${world.environment}`
  if (isId('proposal', id)) return findProposal(office, world, id)
  if (isId('exception', id)) {
    const found = await exceptionById(world.reads, id)
    if (!found) return []
    return [{ kind: 'exception', id, title: found.kind, detail: found.object_id, path: `${place}/desk` }]
  }
  const kind = (Object.keys(owners) as OwnedKind[]).find((each) => isId(each, id))
  const partner_id = kind && (await owners[kind](world.reads, id))
  const partner = partner_id === undefined ? undefined : await partnerById(world.reads, partner_id)
  if (!kind || !partner) return []
  const detail = kind === 'partner' ? partner.tier : partner.id
  return [{ kind, id, title: partner.name, detail, path: `${place}/partners/${partner.id}` }]
}

/** Proposals about money are in their world, those about people in `shared`. */
async function findProposal({ shared }: Office, world: World, id: string): Promise<SearchResult[]> {
  const found = (await proposalById(world.reads, id)) ?? (await proposalById(shared.db, id))
  if (!found) return []
  const path = `/operator/${world.environment}/proposals`
  return [{ kind: 'proposal', id, title: found.action, detail: found.ended ?? 'open', path }]
}
