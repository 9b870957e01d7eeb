import type { AnyoneOfPartner, PartnerActor } from '../../core/actor.ts'
import { crashPoint } from '../../core/crash-point.ts'
import { refuse } from '../../core/errors.ts'
import { type Money, UNITS_MAX } from '../../core/money.ts'
import { findOwned } from '../../core/owned.ts'
import { customerAccount, inTransitAccount } from '../../ledger/accounts.ts'
import { assertCovered } from '../../ledger/balances.ts'
import { type Command, type Held, writeTo } from '../../ledger/command.ts'
import {
  confirmRecord,
  type Once,
  once,
  type Requested,
  type Responded,
  type Tried,
  tryOnce,
} from '../../ledger/once.ts'
import { readClaimAndCustomer } from '../../parties/customers/claim-and-customer.ts'
import { activeCustomer } from '../../parties/customers/customers.ts'
import { customerById, customerRows, type OrderingCustomer } from '../../parties/customers/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import { keyInForce } from '../../parties/keys/store.ts'
import type { AccountHolder } from '../../rails/pix/rail.ts'
import { eventWrite } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { assertOrderFits, assertRailAccepts, countOrder } from '../custody/controls.ts'
import { spendHeld } from '../money-limits/money-limits.ts'
import { usageRows } from '../money-limits/store.ts'
import { renderPayout } from './contract.ts'
import { assertCompared } from './first-comparison.ts'
import { awaitResponse, responseUnder } from './responses.ts'
import { RAIL } from './settle.ts'
import {
  type Counterparty,
  insertPayouts,
  type Payout,
  payoutById,
  payoutRow,
  selectPayout,
} from './store.ts'
import type { PayoutWorker } from './worker.ts'

/**
 * Pix payouts (interface §4.1). Accepting moves the gross amount from the balance into transit, in the transaction that claims
 * the idempotency key. The payout is sent under an id that is stored before. Its end (settle.ts) moves the money out, or back
 * to the customer, exactly once.
 */
export type PayoutOrder = {
  readonly customer_id: string
  readonly amount: Money<'BRL'>
  readonly to: /** `document`: the key's holder, as the caller declares it. */
    | { readonly pix_key: string; readonly document?: string }
    | { readonly bank_account: Counterparty & { type: 'bank_account' } }
  readonly description: string | null
  readonly idempotency_key: string
  readonly metadata: Readonly<Record<string, string>>
}

export const findPayout = (world: World, { partner_id }: AnyoneOfPartner, id: string): Promise<Payout> =>
  findOwned('payout', { id, partner_id }, () => selectPayout(world.db, { id, partner_id }))

/** Asks the DICT before anything is debited. Undefined: the key is well formed but not registered. */
async function findCounterparty(
  world: World,
  order: PayoutOrder,
  customer: AccountHolder,
): Promise<Counterparty | undefined> {
  const { to } = order
  if ('bank_account' in to) {
    await world.pix.ready()
    assertPayableAccount(world, to.bank_account.account_type)
    return to.bank_account
  }
  const { pix_key } = to
  const { name, document } = customer
  const directory = await world.pix.holder(pix_key, { name, document })
  if (directory.kind === 'nobody') return undefined
  const holder =
    directory.kind === 'held'
      ? directory.holder
      : expectedHolder(customer, directory.document ?? to.document ?? document)
  return { type: 'pix_key', pix_key, ...holder }
}

/**
 * The recipient on a rail without a look-up of keys: the provider pays only if the key belongs to this document. The name is known only if
 * the document is the customer's own.
 */
const expectedHolder = (customer: AccountHolder, document: string): AccountHolder => ({
  name: document === customer.document ? customer.name : '',
  document,
})

function assertPayableAccount({ pix }: World, account_type: string): void {
  const { account_types } = pix
  if (account_types === undefined || account_types.some((type) => type === account_type)) return
  refuse('invalid_request', {
    param: 'counterparty.account_type',
    message: `This service pays accounts of type ${account_types.join(' or ')}. Pay to a Pix key of the recipient instead.`,
  })
}

/** Interface §4.1, rule 2: only to the customer's own document, unless the operator arranged otherwise. */
export function isAllowed(
  counterparty: { document: string },
  customer: { document: string; third_party_payouts: boolean },
  partner: { third_party_payouts: boolean },
): boolean {
  const arranged = customer.third_party_payouts || partner.third_party_payouts
  return arranged || counterparty.document === customer.document
}

/** False if the caller declared a document and the DICT has another one for the key. */
const isDeclared = ({ to }: PayoutOrder, { document }: Counterparty): boolean =>
  'bank_account' in to || to.document === undefined || to.document === document

type PayoutRequest = Requested<PayoutOrder>

/** Creates a payout and waits for its end, for `pix_wait_ms` at most; then responds with its state at that moment. */
export async function createPayout(
  world: World,
  actor: PartnerActor,
  request: PayoutRequest,
  { worker, countLookup }: { worker: PayoutWorker; countLookup: () => Promise<void> },
): Promise<Responded> {
  const { partner_id } = actor
  const { claim, order } = request
  const seen = await readClaimAndCustomer(world.db, { claim, customer_id: order.customer_id })
  const record = await confirmRecord(world, partner_id, claim, seen?.record)
  if (record) return { response: await responseUnder(world, worker, record), replayed: true }
  const leave = await worker.admit(partner_id)
  let sending: Promise<unknown> | undefined
  try {
    const ordered = { ...request, is_left: !leave }
    const { command, payable } = await preparePayout(world, actor, ordered, async () => seen?.customer)
    // A refusal reveals something about the key's holder, so it counts as a look-up: otherwise keys could be scanned with payouts.
    if (!payable) await countLookup()
    const since = performance.now()
    const done = await world.commit(command)
    if (done.kind === 'refused') return { response: done.response, replayed: false }
    if (done.kind === 'existing')
      return { response: await responseUnder(world, worker, done.record), replayed: true }
    countOrder(world, RAIL, order.amount.units)
    const watch = worker.watch(done.made.id)
    // After an error a worker takes the payout up when the lease ends.
    if (leave)
      sending = worker
        .send(done.made, since)
        .catch(() => {})
        .finally(leave)
    const response = await awaitResponse(world, done.made, watch)
    crashPoint('before_answer')
    return { response, replayed: false }
  } finally {
    if (!sending) leave?.()
  }
}

/** Dry run of a payout. */
export const tryPayout = (
  world: World,
  actor: PartnerActor,
  request: PayoutRequest,
): Promise<Tried<Payout>> =>
  tryOnce<Payout>(world, {
    partner_id: actor.partner_id,
    claim: request.claim,
    prepare: async () => (await preparePayout(world, actor, request)).command,
    accountOf,
    find: (id) => payoutById(world.db, id),
  })

const accountOf = ({ customer_id }: { customer_id: string }) => ({ customer_id, asset: 'BRL' }) as const

/** The checks before the ledger command, in the order of the contract; the same for a payout and its dry run. */
async function preparePayout(
  world: World,
  actor: PartnerActor,
  request: PayoutRequest & IsLeft,
  select: (id: string) => Promise<OrderingCustomer | undefined> = (id) => customerById(world.db, id),
): Promise<{ command: Command<Once<Payout>>; payable: boolean }> {
  const { order } = request
  const { partner_id } = actor
  const customer = await findOwned('customer', { id: order.customer_id, partner_id }, select)
  await assertCompared(world)
  const { order_most } = await assertRailAccepts(world, { rail: RAIL, units: order.amount.units })
  const counterparty = await findCounterparty(world, order, customer)
  return {
    command: acceptPayout(world, actor, { ...request, counterparty, order_most }),
    payable:
      counterparty !== undefined &&
      isDeclared(order, counterparty) &&
      isAllowed(counterparty, customer, actor.terms),
  }
}

/** `is_left`: the node that accepts the payout does not send it; a worker takes it up at once. */
type IsLeft = { readonly is_left?: boolean }

type AcceptedRequest = PayoutRequest &
  IsLeft & {
    readonly counterparty: Counterparty | undefined
    /** The rail's limit of one order; absent or null: none. */
    readonly order_most?: bigint | null
  }

export function acceptPayout(
  world: World,
  actor: PartnerActor,
  request: AcceptedRequest,
): Command<Once<Payout>> {
  const { claim, bodyOf, order } = request
  const id = world.newId('payout')
  const reads = [customerRows, usageRows].map((source) => ({ source, id: order.customer_id }))
  return onBehalfOf(actor, {
    partner_id: actor.partner_id,
    locks: { claim, accounts: [accountOf(order)], reads },
    decide: (held) => once(held, claim, bodyOf, () => acceptance(world, actor, held, id, request)),
  })
}

function acceptance(
  world: World,
  actor: PartnerActor,
  held: Held,
  id: string,
  { order, counterparty, order_most = null, request_id = null, is_left = false }: AcceptedRequest,
) {
  const { partner_id } = actor
  const { customer_id } = order
  const customer = activeCustomer(held, { partner_id, id: customer_id })
  if (!counterparty) refuse('pix_key_not_found', { param: 'counterparty.pix_key' })
  if (!isDeclared(order, counterparty)) refuseDeclared()
  // Read again under the lock: the partner's terms may have changed while the request waited.
  const partner = held.row(keyInForce, actor.key_hash)!
  if (!isAllowed(counterparty, customer, partner))
    refuse('counterparty_not_allowed', { param: 'counterparty' })
  const gross = order.amount.units + actor.terms.pix_fee
  if (gross > UNITS_MAX) refuse('amount_too_large', { param: 'amount' })
  assertOrderFits(RAIL, { units: order.amount.units, order_most })
  const keeps = spendHeld(held, limited(order))
  assertCovered(held.account(accountOf(order))!, gross) // interface §4.1, rule 1
  const payout = newPayout(world, actor, held.now, { id, order, counterparty, request_id, is_left })
  // The payout is sent at once, so the row is `processing` before anything is sent.
  const processing: Payout = { ...payout, status: 'processing', sequence: 2 }
  const rendered = renderPayout(payout)
  const event = (type: 'pix.payout.created' | 'pix.payout.processing', { status, sequence }: Payout) =>
    eventWrite(world, { partner_id, type, object: { ...rendered, status }, sequence }, held.now)
  return {
    resource_id: id,
    response: null,
    keeps,
    movements: [
      {
        cause_id: id,
        name: 'accepted' as const,
        partner_id,
        lines: [
          { account: customerAccount(customer_id), asset: 'BRL', amount: -gross } as const,
          { account: inTransitAccount(RAIL, customer_id), asset: 'BRL', amount: gross } as const,
        ],
      },
    ],
    writes: [
      writeTo(insertPayouts, payoutRow(processing)),
      event('pix.payout.created', payout),
      event('pix.payout.processing', processing),
    ],
    result: processing,
  }
}

type Accepted = Pick<Payout, 'id' | 'counterparty' | 'request_id'> &
  Required<IsLeft> & { readonly order: PayoutOrder }

const newPayout = (
  world: World,
  actor: PartnerActor,
  now: Date,
  { id, order, counterparty, request_id, is_left }: Accepted,
): Payout => ({
  id,
  partner_id: actor.partner_id,
  customer_id: order.customer_id,
  api_key_id: actor.key_id,
  idempotency_key: order.idempotency_key,
  amount: order.amount.units,
  fee: actor.terms.pix_fee,
  status: 'pending',
  counterparty,
  description: order.description,
  send_id: sendIdOf(id),
  end_to_end_id: null,
  failure_code: null,
  rail_code: null,
  // The first attempt is the lease of the node that accepts the payout, or that of the first worker.
  attempts: is_left ? 0 : 1,
  next_attempt_at: is_left ? now : new Date(now.getTime() + world.lease_ms),
  sequence: 1,
  created_at: now,
  completed_at: null,
  request_id,
  accepted_at: null,
  metadata: order.metadata,
  provider: world.pix.provider,
  absent_at: null,
  amount_returned: 0n,
  refusal: null,
})

function refuseDeclared(): never {
  return refuse('counterparty_not_allowed', {
    param: 'counterparty.document',
    message:
      'This Pix key belongs to another document than counterparty.document. Check both, or leave the document out.',
  })
}

/** Money limits count the amount without the fee. */
const limited = ({ customer_id, amount }: PayoutOrder) =>
  ({ kind: 'payout', customer_id, asset: 'BRL', units: amount.units }) as const

/** The rail's id for the payout: 32 letters and digits derived from the payout's own id, so it is unique. */
const sendIdOf = (id: string): string => `TRILHO${id.slice(id.indexOf('_') + 1)}`
