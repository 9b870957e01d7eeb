import type { Office } from '../../../control/operator/office.ts'
import { proposalById } from '../../../control/operator/store.ts'
import { type IdKind, isId } from '../../../core/ids.ts'
import type { Db } from '../../../db/pool.ts'
import { chargeById, receivedById } from '../../../money/charges/store.ts'
import { chargeIdOf } from '../../../money/charges/txid.ts'
import { depositById } from '../../../money/deposits/store.ts'
import { transferById, transfersByHash } from '../../../money/onchain/store.ts'
import { payoutByEndToEndId, payoutById } from '../../../money/pix/store.ts'
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
  charge: async (db, id) => (await chargeById(db, id))?.partner_id,
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

/** The page of each kind of object, below the address of its partner. Keys are listed on the partner's own page. */
const pages: Readonly<Record<OwnedKind, string | undefined>> = {
  partner: undefined,
  key: undefined,
  customer: 'customers',
  deposit: 'deposits',
  charge: 'charges',
  payout: 'payouts',
  transfer: 'transfers',
  quote: 'quotes',
  trade: 'trades',
  event: 'developers/events',
  webhook_endpoint: 'developers/webhooks',
  request: 'developers/requests',
}

/**
 * Operators search by whole ids, from a partner's message or from a rail: ids of this service, end-to-end ids and transaction
 * hashes. The result names the partner and leads to the object; it shows no personal data, so a search needs no line in the
 * act log.
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
  if (!kind) return findByRail(world, id)
  const found = await findObject(world, kind, id)
  return found ? [found] : []
}

async function findObject(world: World, kind: OwnedKind, id: string): Promise<SearchResult | undefined> {
  const partner_id = await owners[kind](world.reads, id)
  const partner = partner_id === undefined ? undefined : await partnerById(world.reads, partner_id)
  if (!partner) return undefined
  const detail = kind === 'partner' ? partner.tier : partner.id
  const below = pages[kind] === undefined ? '' : `/${pages[kind]}/${id}`
  const path = `/operator/${world.environment}/partners/${partner.id}${below}`
  return { kind, id, title: partner.name, detail, path }
}

/** By the names that rails give: the end-to-end id of a payout or a received payment, the txid of a charge, the hash of a transfer. */
async function findByRail(world: World, name: string): Promise<SearchResult[]> {
  const [payout, transfers, received] = await Promise.all([
    payoutByEndToEndId(world.reads, name),
    transfersByHash(world.reads, name.toLowerCase()),
    receivedById(world.reads, name),
  ])
  const charge = chargeIdOf(name)
  const deposit = received?.deposit_id
  const found = await Promise.all([
    payout === undefined ? undefined : findObject(world, 'payout', payout),
    charge === undefined ? undefined : findObject(world, 'charge', charge),
    deposit ? findObject(world, 'deposit', deposit) : undefined,
    ...transfers.map((id) => findObject(world, 'transfer', id)),
  ])
  return found.filter((one) => one !== undefined)
}

/** Proposals about money are in their world, those about people in `shared`. */
async function findProposal({ shared }: Office, world: World, id: string): Promise<SearchResult[]> {
  const found = (await proposalById(world.reads, id)) ?? (await proposalById(shared.db, id))
  if (!found) return []
  const path = `/operator/${world.environment}/proposals`
  return [{ kind: 'proposal', id, title: found.action, detail: found.ended ?? 'open', path }]
}
