import { refuse } from '../../core/errors.ts'
import type { Asset } from '../../core/money.ts'
import { sendHint } from '../../db/hints.ts'
import type { Db } from '../../db/pool.ts'
import type { CustomLimits } from '../../limits/tiers.ts'
import { pauseRail, setRailLimits } from '../../money/custody/controls.ts'
import {
  controlFacts,
  freeRail,
  type RailControl,
  type RailLimits,
  type RailName,
  selectControls,
} from '../../money/custody/controls-store.ts'
import { setMoneyLimits } from '../../money/money-limits/money-limits.ts'
import { type MoneyLimits, moneyLimitsOf } from '../../money/money-limits/store.ts'
import { saveTreasuryLimit, type TreasuryLimit, treasuryLimits } from '../../money/treasury/store.ts'
import { allowThirdParties, blockCustomer } from '../../parties/customers/customers.ts'
import { type Customer, customerById } from '../../parties/customers/store.ts'
import {
  createKey,
  describeKey,
  type NewKey,
  revokeKey,
  rotateKey,
  type ShownKey,
  setKeyLimits,
} from '../../parties/keys/keys.ts'
import { type ApiKey, type ListedKey, listKeys } from '../../parties/keys/store.ts'
import { createPartner, editPartner, findPartner, type Shared } from '../../parties/partners/partners.ts'
import type { Partner, PartnerChange } from '../../parties/partners/store.ts'
import { invite, type ShownLink } from '../../parties/team/links.ts'
import { selectUser } from '../../parties/team/store.ts'
import { closeByHand } from '../../records/exceptions/exceptions.ts'
import { type Exception, exceptionById } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { type BackupNote, backupNoteOf, backupObject } from './backups.ts'
import { type Statement, statementOf } from './holdings.ts'

/**
 * An act of an operator that moves no money: how it is performed (by a rule of its slice), and what the log says
 * about it. Everything runs in one transaction, to which `world` and `shared` belong.
 */
export type Change<ProposalStore, Details, Result> = {
  /** The id of the changed object; taken from the result if the act creates the object. */
  object(details: Details, result: Result): string
  /**
   * The state that the log line shows before and after the act: no secrets, no documents. Null if the object does not
   * exist yet.
   */
  readState(where: ProposalStore, details: Details): Promise<unknown>
  /** The state after the act, taken from its result. Absent: readState is called again. */
  made?(result: Result, where: ProposalStore): unknown
  perform(where: ProposalStore, details: Details, by: string): Promise<Result>
}

const inWorld = <Details, Result>(change: Change<World, Details, Result>) =>
  ({ kind: 'world', ...change }) as const
const inShared = <Details, Result>(change: Change<Shared, Details, Result>) =>
  ({ kind: 'shared', ...change }) as const

type OfRail = { readonly rail: RailName; readonly reason: string }
type OfKey = { readonly key_id: string }
type OfCustomer = { readonly customer_id: string }

export async function readKeyState(world: World, { key_id }: OfKey): Promise<object | null> {
  const [key] = await listKeys(world.db, { id: key_id })
  return key ? describeKey(key, world.environment) : null
}

async function readCustomerState(world: World, { customer_id }: OfCustomer): Promise<unknown> {
  const customer = await customerById(world.db, customer_id)
  return customer ? { status: customer.status, third_party_payouts: customer.third_party_payouts } : null
}

const readRailState = async ({ db }: World, { rail }: OfRail) =>
  controlFacts((await selectControls(db)).find((one) => one.rail === rail) ?? freeRail(rail))

const SHELL = 'command line'
/** The history of a rail names a person at a shell as proposals and resolutions do. */
const changedBy = (by: string) => (by === SHELL ? 'shell' : by)

const blocking = (status: Customer['status']) =>
  inWorld<OfCustomer, Customer>({
    object: ({ customer_id }) => customer_id,
    readState: readCustomerState,
    perform: (world, { customer_id }) => blockCustomer(world, customer_id, status),
  })

export const worldChanges = {
  create_key: inWorld<NewKey, ShownKey>({
    object: (_, { key }) => key.id,
    readState: async () => null,
    made: ({ key }, { environment }) => describeKey(key, environment),
    perform: createKey,
  }),
  rotate_key: inWorld<OfKey & { readonly grace_seconds: number }, ShownKey>({
    object: ({ key_id }) => key_id,
    readState: readKeyState,
    made: ({ key }, { environment }) => describeKey(key, environment),
    perform: (world, { key_id, grace_seconds }) => rotateKey(world, key_id, grace_seconds),
  }),
  revoke_key: inWorld<OfKey, ListedKey>({
    object: ({ key_id }) => key_id,
    readState: readKeyState,
    made: (key, { environment }) => describeKey(key, environment),
    perform: (world, { key_id }) => revokeKey(world, key_id),
  }),
  set_key_limits: inWorld<OfKey & { readonly limits: Partial<CustomLimits> }, ApiKey>({
    object: ({ key_id }) => key_id,
    readState: readKeyState,
    perform: (world, { key_id, limits }) => setKeyLimits(world, key_id, limits),
  }),
  block_customer: blocking('blocked'),
  unblock_customer: blocking('active'),
  allow_third_party: inWorld<OfCustomer & { readonly allowed: boolean }, void>({
    object: ({ customer_id }) => customer_id,
    readState: readCustomerState,
    perform: (world, { customer_id, allowed }) => allowThirdParties(world, customer_id, allowed),
  }),
  /** `subject_id` is a partner or one customer. */
  set_money_limits: inWorld<
    { readonly subject_id: string; readonly change: Partial<MoneyLimits> },
    MoneyLimits
  >({
    object: ({ subject_id }) => subject_id,
    readState: async (world, { subject_id }) => (await moneyLimitsOf(world.db, subject_id)) ?? null,
    perform: (world, { subject_id, change }) => setMoneyLimits(world, subject_id, change),
  }),
  set_treasury_limits: inWorld<{ readonly asset: Asset } & Partial<Bounds>, TreasuryLimit>({
    object: ({ asset }) => asset,
    readState: async (world, { asset }) => (await boundsOf(world, asset)) ?? null,
    async perform(world, { asset, ...wanted }) {
      const before = await boundsOf(world, asset)
      const limit = { asset, lowest: null, highest: null, ...before, ...wanted }
      if (limit.lowest !== null && limit.highest !== null && limit.lowest > limit.highest)
        refuse('invalid_request', {
          param: 'lowest',
          message: 'The lowest position must not be above the highest.',
        })
      await saveTreasuryLimit(world.db, limit)
      return limit
    },
  }),
  pause_rail: inWorld<OfRail, { readonly control: RailControl; readonly changed: boolean }>({
    object: ({ rail }) => rail,
    readState: readRailState,
    perform: (world, order, by) => pauseRail(world, { ...order, by: changedBy(by) }),
  }),
  set_rail_limits: inWorld<OfRail & { readonly change: Partial<RailLimits> }, RailControl>({
    object: ({ rail }) => rail,
    readState: readRailState,
    perform: (world, order, by) => setRailLimits(world, { ...order, by: changedBy(by) }),
  }),
  close_exception: inWorld<{ readonly exception_id: string; readonly reason: string }, Exception>({
    object: ({ exception_id }) => exception_id,
    async readState(world, { exception_id }) {
      const { closed_at, closed_by, closed_reason } = (await exceptionById(world.db, exception_id)) ?? {}
      return { closed_at, closed_by, closed_reason }
    },
    perform: (world, { exception_id, reason }, by) =>
      closeByHand(world, { id: exception_id, closed_by: by, closed_reason: reason }),
  }),
  /** The line in the act log is the record: nothing else is stored. */
  note_statement: inWorld<Statement, Statement>({
    object: ({ asset }) => asset,
    readState: async (world, { asset }) => (await statementOf(world.db, asset)) ?? null,
    made: (statement) => statement,
    async perform(world, statement) {
      if (new Date(statement.as_of).getTime() > world.clock.now())
        refuse('invalid_request', { param: 'as_of', message: 'as_of must not lie in the future.' })
      return statement
    },
  }),
}

type Bounds = { readonly lowest: bigint | null; readonly highest: bigint | null }

async function boundsOf({ db }: World, asset: Asset): Promise<TreasuryLimit | undefined> {
  return (await treasuryLimits(db)).find((limit) => limit.asset === asset)
}

/** Makes a repeated request take effect once, within the transaction that is passed in. */
export type OnceGuard = {
  assertNew(tx: Db): Promise<void>
  keep(tx: Db, object_id: string): Promise<void>
}

type NewPartner = {
  readonly name: string
  /**
   * Invited together with the partner, which would otherwise have no users. Only the result holds the token of the
   * link.
   */
  readonly owner?: { readonly name: string; readonly email: string }
  readonly once?: OnceGuard
}

async function createPartnerWithOwner(shared: Shared, { name, owner, once }: NewPartner, by: string) {
  await once?.assertNew(shared.db)
  const partner = await createPartner(shared, name)
  await once?.keep(shared.db, partner.id)
  if (!owner) return { partner }
  if (await selectUser(shared.db, owner.email.toLowerCase()))
    refuse('user_exists', { message: `A user with the e-mail ${owner.email} exists already.` })
  const from = { partner_id: partner.id, email: by }
  return { partner, invited: await invite(shared, from, { ...owner, role: 'owner' }) }
}

export const sharedChanges = {
  /** The line in the act log is the record: nothing else is stored. */
  note_backup: inShared<BackupNote, BackupNote>({
    object: ({ verified }) => backupObject(verified),
    readState: async ({ db }, { verified }) => (await backupNoteOf(db, verified)) ?? null,
    made: (noted) => noted,
    async perform({ db }, noted) {
      const { rows } = await db.query('SELECT $1::timestamptz <= clock_timestamp() AS is_past', [noted.until])
      if (!rows[0].is_past)
        refuse('invalid_request', { param: 'until', message: 'until must not lie in the future.' })
      return noted
    },
  }),
  create_partner: inShared<NewPartner, { readonly partner: Partner; readonly invited?: ShownLink }>({
    object: (_, { partner }) => partner.id,
    readState: async () => null,
    made: ({ partner, invited }) => (invited ? { ...partner, invited: invited.link } : partner),
    perform: createPartnerWithOwner,
  }),
  change_partner: inShared<{ readonly partner_id: string; readonly change: PartnerChange }, Partner>({
    object: ({ partner_id }) => partner_id,
    readState: (shared, { partner_id }) => findPartner(shared, partner_id),
    async perform(shared, { partner_id, change }) {
      const partner = await editPartner(shared, partner_id, change)
      // A hint about the partner makes the nodes reload its limits along with its keys.
      await sendHint(shared.db, 'api_key_changed', partner.id)
      return partner
    },
  }),
}
