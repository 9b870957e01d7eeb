import { refuse } from '../../core/errors.ts'
import { UNITS_MAX } from '../../core/money.ts'
import { isNetwork, networks } from '../../core/networks.ts'
import { customerAccount, externalAccount } from '../../ledger/accounts.ts'
import { type Command, type Decision, type Held, keep, type Write, writeTo } from '../../ledger/command.ts'
import { canonicalAddress, canonicalHash, digitsOfHash } from '../../rails/chain/deposit-addresses.ts'
import { contradictionWrite } from '../../records/desk/contradictions.ts'
import { eventWrite } from '../../records/events/events.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { addressRow, type DepositAddress } from './addresses-store.ts'
import { renderDeposit } from './contract.ts'
import {
  CREDITED_AT_ONCE,
  chainDepositRows,
  creditTurns,
  type Deposit,
  depositsOfOutput,
  insertChainDeposits,
  isDoubleOutput,
  type Output,
  transactionCredits,
  updateChainDeposits,
} from './store.ts'

/**
 * What a chain shows of a payment to an address of a customer. The code that follows a chain reports an output as often as it sees it:
 * `noteSighting` if the output is in the chain or the mempool, `noteVanished` if it no longer is. An output is credited once, when its
 * block is deep enough; the service never takes a credit back by itself (decision 0059).
 *
 * `output_index` is the place within the transaction: of the output, or of the log entry among those of the transaction. The
 * number of a log entry within its block changes when another block takes the transaction, so it would name a second deposit.
 */
export type Sighting = Output & {
  readonly address: string
  readonly amount: bigint
  /** Absent while the transaction is in the mempool only. */
  readonly block?: { readonly height: bigint; readonly hash: string }
  /** Blocks on top of the transaction, its own included. */
  readonly depth: number
}

type Noting = {
  /** Wraps the command, for a caller that acts on behalf of a key. */
  readonly commit?: World['commit']
  /** When the worker that plays the sandbox's chains takes the deposit next. Absent: never. */
  readonly nextAttempt?: (after: Deposit, now: Date) => Date | null
}

/** Undefined if the address is of no customer, or nothing was paid: anybody may send transfers of zero to any address. */
export async function noteSighting(
  world: World,
  seen: Sighting,
  noting: Noting = {},
): Promise<Deposit | undefined> {
  if (seen.amount <= 0n) return undefined
  if (seen.amount > UNITS_MAX) refuse('amount_too_large')
  const sighting = { ...canonical(seen), address: canonicalAddress(seen.address) }
  const { commit = world.commit } = noting
  const known = chosenFor(sighting, await depositsOfOutput(world.db, sighting))
  if (known?.status === 'pending' && isOther(known, sighting)) {
    // Nothing is credited yet: the payment that was seen before is gone, and this one is another deposit.
    await noteGone(world, known)
    return noteSighting(world, seen, noting)
  }
  try {
    if (known) {
      const is_same = !isOther(known, sighting)
      const is_told =
        !(is_same && known.status === 'completed') &&
        (await isTold(world, known, is_same ? BY_HAND : sighting))
      return await commit(sightingOf(world, { known, sighting, noting, is_told }))
    }
    const owner = await addressRow(world.db, sighting)
    return owner && (await commit(firstSighting(world, { owner, sighting, noting })))
  } catch (error) {
    // Another node has stored the output meanwhile: start again from the stored row.
    if (isDoubleOutput(error)) return noteSighting(world, seen, noting)
    throw error
  }
}

/** The stored deposit that a sighting is about: the one that is not dropped, otherwise a dropped one of the same address and amount. */
const chosenFor = (sighting: Sighting, [first, ...others]: readonly Deposit[]): Deposit | undefined =>
  first?.status !== 'dropped' ? first : [first, ...others].find((one) => !isOther(one, sighting))

/** The output is in no block of the chain any more, nor in the mempool. Undefined if the output is not known. */
export async function noteVanished(
  world: World,
  output: Output,
  noting: Noting = {},
): Promise<Deposit | undefined> {
  const [known] = await depositsOfOutput(world.db, canonical(output))
  return known && noteGone(world, known, noting)
}

/** The payment of this deposit is not in the chain. */
export async function noteGone(world: World, known: Deposit, noting: Noting = {}): Promise<Deposit> {
  const is_told = known.status === 'completed' && (await isTold(world, known, VANISHED))
  return (noting.commit ?? world.commit)(vanishing(world, { known, noting, is_told }))
}

/** The same output in another spelling would be a second deposit. */
const canonical = <Named extends Output>(output: Named): Named => ({
  ...output,
  tx_hash: canonicalHash(output.network, output.tx_hash),
})

const isOther = (known: Deposit, { amount, address }: Sighting): boolean =>
  known.amount !== amount || known.address !== address

const VANISHED = { kind: 'vanished' } as const
const BY_HAND = { kind: 'credited_by_hand' } as const
const DAY_MS = 86_400_000

/** Whether this contradiction has an open exception, or one that was closed within the last day: then no other one is opened. */
async function isTold(
  { db, clock }: World,
  { id }: Deposit,
  said: Sighting | typeof VANISHED | typeof BY_HAND,
): Promise<boolean> {
  const since = clock.now() - DAY_MS
  return (await exceptionsAbout(db, id)).some(
    ({ kind, closed_at, details }) =>
      kind === 'contradiction' &&
      (closed_at === null || closed_at.getTime() > since) &&
      problemOf(details.rail_says) === problemOf(said),
  )
}

function problemOf(said: unknown): string {
  const { kind, amount, address } = Object(said)
  return [kind, amount, address].join(' ')
}

type First = { readonly owner: DepositAddress; readonly sighting: Sighting; readonly noting: Noting }

function firstSighting(world: World, { owner, sighting, noting }: First): Command<Deposit> {
  const { partner_id, customer_id, network } = owner
  const { asset, deposit_least } = networks[network]
  const id = world.newId('deposit')
  return {
    partner_id,
    locks: { accounts: [{ customer_id, asset }], ...turnOf(sighting.tx_hash) },
    decide(held) {
      const { address, tx_hash, output_index, amount } = sighting
      const made: Deposit = {
        ...CREDITED_AT_ONCE,
        id,
        partner_id,
        customer_id,
        asset,
        amount,
        rail: network,
        reason: null,
        reference: null,
        created_at: held.now,
        status: 'pending',
        address,
        tx_hash,
        output_index,
        below_minimum: amount < deposit_least,
        ...placeOf(sighting),
      }
      const steps = creditedIfDeep([made], held)
      const after = withNext(steps.at(-1)!, noting, held.now)
      const writes = [writeTo(insertChainDeposits, after), ...leftToHand(world, after, held)]
      return decisionOf(world, steps, held, { result: after, writes })
    },
  }
}

type Known = { readonly known: Deposit; readonly noting: Noting; readonly is_told: boolean }
type Again = Known & { readonly sighting: Sighting }

function sightingOf(world: World, { known, sighting, noting, is_told }: Again): Command<Deposit> {
  const { id, partner_id, customer_id, asset } = known
  const turn = turnOf(sighting.tx_hash)
  return {
    partner_id,
    locks: {
      rows: [{ source: chainDepositRows, id }, ...turn.rows],
      accounts: [{ customer_id, asset }],
      reads: turn.reads,
    },
    decide(held) {
      const before = held.row(chainDepositRows, id) ?? refuse('service_unavailable')
      if (isOther(before, sighting))
        return {
          writes: is_told ? [] : [contradictionOf(world, before, sighting, held.now)],
          result: before,
        }
      if (before.status === 'completed') return unchanged(before, noting, held.now)
      const seen: Deposit = { ...before, status: 'pending', ...placeOf(sighting) }
      const is_back = before.status === 'dropped'
      const steps = creditedIfDeep([is_back ? { ...seen, sequence: before.sequence + 1 } : seen], held)
      const after = withNext(steps.at(-1)!, noting, held.now)
      const told = is_back ? steps : steps.slice(1)
      const left = is_told ? [] : leftToHand(world, after, held)
      if (told.length === 0 && isSamePlace(before, after) && left.length === 0)
        return unchanged(before, noting, held.now)
      const writes = [writeTo(updateChainDeposits, after), ...left]
      return decisionOf(world, told, held, { result: after, writes })
    },
  }
}

function vanishing(world: World, { known, noting, is_told }: Known): Command<Deposit> {
  const { id, partner_id } = known
  return {
    partner_id,
    locks: { rows: [{ source: chainDepositRows, id }] },
    decide(held) {
      const before = held.row(chainDepositRows, id) ?? refuse('service_unavailable')
      if (before.status === 'dropped') return unchanged(before, noting, held.now)
      if (before.status === 'completed') {
        const { writes = [], result } = unchanged(before, noting, held.now)
        const told = is_told ? [] : [contradictionOf(world, before, VANISHED, held.now)]
        return { writes: [...writes, ...told], result }
      }
      const dropped: Deposit = {
        ...before,
        status: 'dropped',
        sequence: before.sequence + 1,
        block_height: null,
        block_hash: null,
        depth: 0,
      }
      const after = withNext(dropped, noting, held.now)
      return decisionOf(world, [after], held, {
        result: after,
        writes: [writeTo(updateChainDeposits, after)],
      })
    },
  }
}

/** Nothing changes but the time at which the deposit is taken next. */
function unchanged(before: Deposit, noting: Noting, now: Date): Decision<Deposit> {
  const after = withNext(before, noting, now)
  const is_same = after.next_attempt_at?.getTime() === before.next_attempt_at?.getTime()
  return { writes: is_same ? [] : [writeTo(updateChainDeposits, after)], result: after }
}

const withNext = (deposit: Deposit, { nextAttempt }: Noting, now: Date): Deposit => ({
  ...deposit,
  next_attempt_at: nextAttempt?.(deposit, now) ?? null,
})

const isSamePlace = (one: Deposit, other: Deposit): boolean =>
  one.block_hash === other.block_hash && one.block_height === other.block_height && one.depth === other.depth

const placeOf = ({ block, depth }: Sighting) =>
  block
    ? { block_height: block.height, block_hash: block.hash, depth: Math.max(1, depth) }
    : { block_height: null, block_hash: null, depth: 0 }

/** The turn of the transaction's credits, which an operator's credit under its hash takes too. */
function turnOf(tx_hash: string) {
  const id = digitsOfHash(tx_hash)!
  return { rows: [{ source: creditTurns, id }], reads: [{ source: transactionCredits, id }] }
}

const creditsOf = ({ tx_hash }: Deposit, held: Held) => held.row(transactionCredits, digitsOfHash(tx_hash!)!)!

/** An operator has credited the transaction: the deposit stays pending, and a person is told. */
function leftToHand(world: World, deposit: Deposit, held: Held): Write[] {
  const { hand_deposit_id } = creditsOf(deposit, held)
  if (hand_deposit_id === null || deposit.status !== 'pending' || !isCreditable(deposit)) return []
  const check = `Reverse ${hand_deposit_id} if it was wrong or paid only a part: the service then credits ${deposit.id} by itself. Never credit this deposit under another reference: after the reversal it would be credited twice.`
  return [contradictionOf(world, deposit, { ...BY_HAND, deposit_id: hand_deposit_id, check }, held.now)]
}

/** Shows the uncommitted deposit to a later command of the same batch, which may be an operator's credit of its transaction. */
function keptFor(deposit: Deposit, held: Held) {
  const { id, asset, amount, below_minimum } = deposit
  const known = creditsOf(deposit, held)
  const small_amount = known.small_amount + (below_minimum ? amount : 0n)
  const own_deposit_id = below_minimum ? known.own_deposit_id : id
  return keep(transactionCredits, { ...known, asset, small_amount, own_deposit_id })
}

/** Whether it is deep enough and not too small. */
const isCreditable = (deposit: Deposit): boolean =>
  deposit.block_hash !== null &&
  deposit.depth >= networks[networkOf(deposit)].confirmations &&
  !deposit.below_minimum

/**
 * Adds the step that credits the deposit, if it is deep enough, not too small, not credited by an operator, and fits into the balance. A
 * blocked customer is credited too: the money has arrived.
 */
function creditedIfDeep(steps: readonly [Deposit], held: Held): readonly Deposit[] {
  const [seen] = steps
  if (!isCreditable(seen) || creditsOf(seen, held).hand_deposit_id !== null || !fits(seen, held)) return steps
  return [seen, { ...seen, status: 'completed', sequence: seen.sequence + 1, completed_at: held.now }]
}

/** Whether the balance stays within the largest amount after the credit. Otherwise the deposit waits for a later sighting. */
function fits({ customer_id, asset, amount }: Deposit, held: Held): boolean {
  const { balance, in_transit } = held.account({ customer_id, asset }) ?? { balance: 0n, in_transit: 0n }
  return balance + in_transit + amount <= UNITS_MAX
}

function networkOf({ id, rail }: Deposit) {
  if (!isNetwork(rail)) throw new Error(`${id} came in by no network`)
  return rail
}

/** An event for each step, also where two steps are made at once (contract §12), and the movement of the credit. */
function decisionOf(
  world: World,
  steps: readonly Deposit[],
  held: Held,
  { result, writes }: { readonly result: Deposit; readonly writes: readonly Write[] },
): Decision<Deposit> {
  const { partner_id } = result
  const events = steps.map((step) =>
    eventWrite(
      world,
      { partner_id, type: `deposit.${step.status}`, object: renderDeposit(step), sequence: step.sequence },
      held.now,
    ),
  )
  const credits = steps.filter(({ status }) => status === 'completed')
  return {
    movements: credits.map(creditOf),
    writes: [...writes, ...events],
    keeps: newlySeen(steps, held),
    result,
  }
}

/** A deposit that was not known before, or was dropped: its first step says that it is pending. */
function newlySeen([first]: readonly Deposit[], held: Held) {
  return first?.status === 'pending' ? [keptFor(first, held)] : []
}

/** The movement of a deposit, however it came in. */
export const creditOf = ({ id, partner_id, customer_id, asset, amount, rail }: Deposit) =>
  ({
    cause_id: id,
    name: 'credited',
    partner_id,
    lines: [
      { account: externalAccount(rail), asset, amount: -amount },
      { account: customerAccount(customer_id), asset, amount },
    ],
  }) as const

const contradictionOf = (
  world: World,
  object: Deposit,
  said: Readonly<Record<string, unknown>>,
  now: Date,
): Write => contradictionWrite(world, { rail: object.rail, object, paid: false, said }, now)
