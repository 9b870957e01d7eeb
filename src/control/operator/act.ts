import type { OperatorActor, ShellActor } from '../../core/actor.ts'
import type { Environment } from '../../core/environment.ts'
import { refuse } from '../../core/errors.ts'
import { type Db, type Pool, poolOf, transaction } from '../../db/pool.ts'
import type { Place } from '../../db/sealing.ts'
import type { Command } from '../../ledger/command.ts'
import type { Shared } from '../../parties/partners/partners.ts'
import { newActivation } from '../../parties/team/factor.ts'
import { holdStanding, takeTurnOverPeople } from '../../parties/team/store.ts'
import { type Noted, type Pen, places } from '../../records/acts/line.ts'
import { headRef, note, noteHeld } from '../../records/acts/log.ts'
import { takeTurn } from '../../records/acts/store.ts'
import type { World } from '../../world.ts'
import { type DetailsOf, type Done, type MoneyAction, type MoneyActionName, perform } from './actions.ts'
import {
  type Change,
  type ChangeDetails,
  type ChangeResult,
  type SharedChangeName,
  sharedChanges,
  type WorldChangeName,
  worldChanges,
} from './changes.ts'
import type { Office } from './office.ts'
import {
  assertMayStill,
  countOperators,
  isLowering,
  type PeopleAction,
  type PeopleChangeName,
  type PeopleDetails,
  type PeopleResult,
  type Person,
  passwordFor,
  peopleChanges,
  standingOf,
  takesTwo,
} from './people.ts'
import {
  approve,
  assertApprovable,
  assertVouchedFor,
  endIn,
  findProposal,
  noProposal,
  type OperatorPen,
  propose,
  proposeIn,
  reject,
  subjectOf,
  type WithLine,
  withdraw,
} from './proposals.ts'
import { type ActName, approversOf, judge, proposersOf, type Rule, rules, signedIn } from './rules.ts'
import { lockProposal, type Proposal, proposalById } from './store.ts'

/**
 * The one entry point for every act of an operator: the act is performed, proposed to another operator, or refused. A
 * performed act writes its line to the act log in the same transaction.
 */
export async function act<Name extends ActName>(
  office: Office,
  actor: OperatorActor | ShellActor,
  action: Act<Name>,
): Promise<Acted<Result<Name>>> {
  return (await handle(office, actor, action as AnyAct)) as Acted<Result<Name>>
}

export type Acted<Result> =
  | { readonly done: Result; readonly line: Noted | undefined }
  | {
      readonly proposed: Proposal
      readonly line: Noted
      /**
       * An operator's next sign-in takes this code and the new password. The proposer sees the code, the approver the
       * password.
       */
      readonly activation_code?: string
    }

type InWorld<Name, Details> = {
  readonly name: Name
  readonly environment: Environment
  readonly details: Details
}
type InShared<Name, Details> = { readonly name: Name; readonly details: Details }

type DecisionName = 'approve' | 'reject' | 'withdraw'
type OfProposal = { readonly proposal_id: string; readonly reason?: string | null }
/** The proposal after the decision, and the person it changed, if it was about a person. */
export type DecidedOn = { readonly proposal: Proposal; readonly person?: Person }

/** Encrypts all secrets under the new key, and calls `noted` in the transaction that stores the id of that key. */
type Rotation<Rotated> = (
  noted: (tx: Db, named: { before: string; after: string }) => Promise<void>,
) => Promise<Rotated>

/** The parameters of `act`, by the name of the act. */
export type Act<Name extends ActName> = Name extends MoneyActionName
  ? InWorld<Name, DetailsOf<Name>>
  : Name extends WorldChangeName
    ? InWorld<Name, ChangeDetails<Name>>
    : Name extends SharedChangeName
      ? InShared<Name, ChangeDetails<Name>>
      : Name extends PeopleChangeName
        ? InShared<Name, PeopleAsked<Name>>
        : Name extends DecisionName
          ? InShared<Name, OfProposal>
          : Name extends 'rotate_secrets'
            ? InShared<Name, { readonly rotate: Rotation<unknown> }>
            : never

/** `act` makes the id of a new user. */
type PeopleAsked<Name extends PeopleChangeName> = Omit<PeopleDetails<Name>, 'id'>

/** The result of an act, by its name. */
type Result<Name extends ActName> = Name extends MoneyActionName
  ? Done
  : Name extends WorldChangeName | SharedChangeName
    ? ChangeResult<Name>
    : Name extends PeopleChangeName
      ? PeopleResult<Name>
      : Name extends DecisionName
        ? DecidedOn
        : unknown

type AnyAct = { [Name in ActName]: Act<Name> }[ActName]

function handle(office: Office, actor: OperatorActor | ShellActor, action: AnyAct): Promise<Acted<unknown>> {
  if (isIn(worldChanges, action)) return change(office, actor, action)
  if (isIn(sharedChanges, action)) return change(office, actor, { ...action, environment: 'shared' })
  if (isIn(peopleChanges, action)) return treat(office, actor, action)
  if (isDecision(action)) return decide(office, actor, action)
  if (action.name === 'rotate_secrets') return rotate(office, actor, action.details.rotate)
  return move(office, actor, action as MoneyAction & { environment: Environment })
}

const isIn = <Names extends string>(
  changes: Readonly<Record<Names, unknown>>,
  action: { readonly name: string },
): action is { readonly name: Names; readonly details: never; readonly environment: Environment } =>
  action.name in changes

const isDecision = (action: AnyAct): action is Act<DecisionName> =>
  ['approve', 'reject', 'withdraw'].includes(action.name)

/** Judges the rule for the actor's present role and session. */
async function judged(
  office: Office,
  actor: OperatorActor | ShellActor,
  rule: Rule,
  place: Place,
  db: Pool = office.shared.db,
): Promise<'perform' | 'propose'> {
  const now = await standingOf(db, actor)
  const operators = await countOperators({ db })
  return judge(rule, { actor: now, operators, sandbox: place === 'sandbox', about_operator: false })
}

const whereOf = ({ shared, worlds }: Office, place: Place) => (place === 'shared' ? shared : worlds[place])

/**
 * Money acts are proposed in production. In the sandbox they are performed, with their line in the transaction that
 * moves the money.
 */
async function move(
  office: Office,
  actor: OperatorActor | ShellActor,
  action: MoneyAction & { readonly environment: Environment },
): Promise<Acted<Done>> {
  const world: World = office.worlds[action.environment]
  const verdict = await judged(office, actor, rules[action.name], action.environment)
  const pen = await office.log.pen(action.environment, actor)
  const order = { name: action.name, details: action.details } as MoneyAction
  if (verdict === 'propose') {
    const { proposal, line } = await propose(world, order, pen as OperatorPen)
    return { proposed: proposal, line: line! }
  }
  let line: Noted | undefined
  const noting: World = {
    ...world,
    async commit(command) {
      const { result, noted } = await world.commit(underNote(command, order, pen))
      line ??= noted
      return result
    },
  }
  const operator = actor.kind === 'operator' ? actor.email : 'shell'
  return { done: await perform(noting, order, { operator, proposal_id: null }), line }
}

/** A command without movements, such as the replay of an order, gets no line in the act log. */
function underNote<R>(command: Command<R>, { name, details }: MoneyAction, pen: Pen): Command<WithLine<R>> {
  const { locks } = command
  return {
    ...command,
    locks: { ...locks, rows: [...(locks.rows ?? []), headRef] },
    decide(held) {
      const { result, ...decision } = command.decide(held)
      if (!decision.movements?.length) return { ...decision, result: { result, noted: undefined } }
      const entry = { action: name, object_id: subjectOf(details), before: null, after: details }
      const { noted, writes } = noteHeld(held, pen, entry)
      return { ...decision, writes: [...(decision.writes ?? []), ...writes], result: { result, noted } }
    },
  }
}

type AnyChange = Change<unknown, unknown, unknown>

/** Acts that move no money: the state before, the act, the state after and the log line share one transaction. */
async function change(
  office: Office,
  actor: OperatorActor | ShellActor,
  action: { readonly name: WorldChangeName | SharedChangeName; details: unknown; environment: Place },
): Promise<Acted<unknown>> {
  const { name, details, environment } = action
  const pen = await office.log.pen(environment, actor)
  const where = whereOf(office, environment)
  const how = { ...worldChanges, ...sharedChanges }[name] as unknown as AnyChange
  return transaction(where.db, async (tx) => {
    await takeTurn(tx)
    // Judge only under the lock: while this act waited, the operator may have lost the role or the session.
    await judged(office, actor, rules[name], environment, environment === 'shared' ? poolOf(tx) : undefined)
    const { result, ...entry } = await performAndLook({ ...where, db: poolOf(tx) }, how, details, actor)
    return { done: result, line: await note(tx, pen, { action: name, ...entry }) }
  })
}

async function performAndLook(
  where: unknown,
  how: AnyChange,
  details: unknown,
  actor: OperatorActor | ShellActor,
) {
  const before = await how.look(where, details)
  const result = await how.perform(where, details, actor.kind === 'operator' ? actor.email : 'command line')
  const after = how.made ? await how.made(result, where) : await how.look(where, details)
  return { result, object_id: how.object(details, result), before, after }
}

/**
 * Acts on people. Whether an act takes two is judged under the lock, so that two concurrent acts cannot both count as
 * the first.
 */
async function treat(
  office: Office,
  actor: OperatorActor | ShellActor,
  asked: { readonly name: PeopleChangeName; readonly details: unknown },
): Promise<Acted<Person>> {
  const { shared } = office
  const pen = await office.log.pen('shared', actor)
  const id = shared.newId('user')
  const fresh = await passwordFor(asked.name)
  return transaction(shared.db, async (tx) => {
    await takeTurnOverPeople(tx)
    await takeTurn(tx)
    const here = { ...shared, db: poolOf(tx), fresh }
    const details = asked.name === 'create_user' ? { ...(asked.details as object), id } : asked.details
    const action = { name: asked.name, details } as PeopleAction
    const about_operator = await takesTwo(here, action)
    const operators = await countOperators(here)
    const now = await standingOf(tx, actor)
    const lowers = await isLowering(here, action)
    const verdict = judge(rules[action.name], {
      actor: now,
      operators,
      sandbox: false,
      about_operator,
      lowers,
    })
    if (verdict === 'propose') {
      const { action: proposed, code } = withActivation(action)
      const { proposal, line } = await proposeIn(tx, shared, proposed, pen as OperatorPen)
      return { proposed: proposal, line: line!, ...(code === undefined ? {} : { activation_code: code }) }
    }
    const how = peopleChanges[action.name] as unknown as AnyChange
    const { result, ...entry } = await performAndLook(here, how, details, actor)
    return { done: result as Person, line: await note(tx, pen, { action: action.name, ...entry }) }
  })
}

/**
 * A proposal that sets a password gets an activation code, known to the proposer alone. The approver sees the
 * password, and must not be able to sign in as the new person with it.
 */
function withActivation(action: PeopleAction): { action: PeopleAction; code?: string } {
  if (action.name !== 'create_user' && action.name !== 'reset_password') return { action }
  const { code, activation_hash } = newActivation()
  return { action: { ...action, details: { ...action.details, activation_hash } } as PeopleAction, code }
}

/** Approves, rejects or withdraws a proposal, in whichever place it is stored. */
async function decide(
  office: Office,
  actor: OperatorActor | ShellActor,
  { name, details }: InShared<DecisionName, OfProposal>,
): Promise<Acted<DecidedOn>> {
  const { proposal_id: id, reason = null } = details
  const place = await placeOfProposal(office, id)
  const where = whereOf(office, place)
  await assertMayDecide(office, actor, name, place, id)
  const pen = (await office.log.pen(place, actor)) as OperatorPen
  if (name === 'reject') return doneOf(await reject(where, id, pen, reason ?? ''))
  if (name === 'withdraw') return doneOf(await withdraw(where, id, pen, reason))
  if (place === 'shared') return approvePerson(office, id, pen)
  return doneOf(await approve(await whileBothMay(office, actor, place, id), id, pen))
}

const doneOf = ({ proposal, line }: { proposal: Proposal; line: Noted | undefined }) => ({
  done: { proposal },
  line,
})

/**
 * A world whose `commit` moves money only while the proposer and the approver still have their roles. Both are judged
 * after the rails were asked, and their rows stay locked until the money has moved. The database role of a world
 * cannot read users, so a transaction in `shared` holds those locks around the commit.
 */
async function whileBothMay(
  office: Office,
  actor: OperatorActor | ShellActor,
  place: Environment,
  id: string,
): Promise<World> {
  const world: World = office.worlds[place]
  const { action, proposed_by } = (await proposalById(world.db, id))!
  const rule: Rule = rules[action]
  const approver = signedIn(actor, rules.approve)
  const hold = async (tx: Db) => {
    await holdStanding(tx, [proposed_by, approver.email])
    await judged(office, actor, rules.approve, place, poolOf(tx))
    await assertMayStill(tx, proposed_by, rule, rule.roles)
  }
  return {
    ...world,
    async commit(command) {
      const leave = await office.approvals.take(approver.email).catch(() => refuse('service_unavailable'))
      return new Promise((resolve, reject) => {
        // Resolve as soon as the money has moved: the outer transaction only holds locks, so its end does not matter.
        const move = async (tx: Db) => {
          await hold(tx)
          resolve(await world.commit(command))
        }
        transaction(office.shared.db, move).catch(reject).finally(leave)
      })
    },
  }
}

export async function placeOfProposal(office: Office, id: string): Promise<Place> {
  for (const place of places) if (await proposalById(office.log.pools[place], id)) return place
  return noProposal(id)
}

async function assertMayDecide(
  office: Office,
  actor: OperatorActor | ShellActor,
  name: DecisionName,
  place: Place,
  id: string,
): Promise<void> {
  signedIn(actor, rules[name])
  const person =
    place === 'shared' && name !== 'withdraw' ? await proposalById(office.shared.db, id) : undefined
  const rule = person ? (await rulesOnPerson(office.shared, person, name)).decide : rules[name]
  await judged(office, actor, rule, place)
}

/** Refuses before the operator is asked to confirm an approval. */
export async function assertMayApprove(
  office: Office,
  actor: OperatorActor | ShellActor,
  proposal: Proposal,
): Promise<void> {
  await assertMayDecide(office, actor, 'approve', await placeOfProposal(office, proposal.id), proposal.id)
  if (proposal.ended !== 'done') assertApprovable(proposal, signedIn(actor, rules.approve).email)
}

export async function rolesThatApprove(
  office: Office,
  proposal: Proposal,
  place: Place,
): Promise<readonly string[]> {
  if (place !== 'shared') return rules.approve.roles
  return (await rulesOnPerson(office.shared, proposal)).decide.roles
}

/** The roles that may propose and decide an act on a person, given the present number of operators. */
async function rulesOnPerson(
  shared: Pick<Shared, 'db'>,
  { action, details }: Proposal,
  decision: DecisionName = 'approve',
) {
  const rule: Rule = rules[action]
  const operators = await countOperators(shared)
  // The person may have been removed since; the act itself refuses then.
  const lowers = await isLowering(shared, { name: action, details } as PeopleAction).catch(() => false)
  return {
    proposers: proposersOf(rule, operators, lowers),
    decide: { ...rules[decision], roles: approversOf(rule, operators, lowers) },
  }
}

/** Performs the act and ends the proposal in one transaction. The approver gets the password, if the act makes one. */
async function approvePerson(office: Office, id: string, pen: OperatorPen): Promise<Acted<DecidedOn>> {
  const { shared } = office
  const found = await findProposal(shared, id, pen)
  const fresh = await passwordFor(found.action as PeopleChangeName)
  return transaction(shared.db, async (tx) => {
    await takeTurnOverPeople(tx)
    await takeTurn(tx)
    const proposal = (await lockProposal(tx, id))!
    if (proposal.ended === 'done') return { done: { proposal }, line: undefined }
    assertApprovable(proposal, pen.actor.email)
    await assertVouchedFor(tx, pen, proposal)
    const { action, details } = proposal
    const here = { ...shared, db: poolOf(tx), fresh }
    const { proposers, decide } = await rulesOnPerson(here, proposal)
    await assertMayStill(tx, proposal.proposed_by, rules[action], proposers)
    const how = peopleChanges[action as PeopleChangeName] as unknown as AnyChange
    const actor: OperatorActor = { ...pen.actor, role: 'admin' }
    await judged(office, actor, decide, 'shared', here.db)
    const { result, object_id, before, after } = await performAndLook(here, how, details, actor)
    const ending = { end: 'done', by: pen.actor.email, reason: null, resource_id: object_id } as const
    const ended = await endIn(tx, id, ending, { step: 'approve', pen }, { before, after: { person: after } })
    return { done: { proposal: ended!.proposal, person: result as Person }, line: ended!.line }
  })
}

/** The rotation runs in several transactions of its own; the log line goes into the one that stores the new key id. */
async function rotate(
  office: Office,
  actor: OperatorActor | ShellActor,
  work: Rotation<unknown>,
): Promise<Acted<unknown>> {
  await judged(office, actor, rules.rotate_secrets, 'shared')
  const pen = await office.log.pen('shared', actor)
  let line: Noted | undefined
  const done = await work(async (tx, { before, after }) => {
    const entry = { before: { key_id: before }, after: { key_id: after } }
    line = await note(tx, pen, { action: 'rotate_secrets', object_id: after, ...entry })
  })
  return { done, line }
}
