import type { OperatorActor, ShellActor } from '../../core/actor.ts'
import type { Environment } from '../../core/environment.ts'
import { refuse } from '../../core/errors.ts'
import { type Db, type Pool, poolOf, transaction } from '../../db/pool.ts'
import type { StoragePlace } from '../../db/sealing.ts'
import type { Shared } from '../../parties/partners/partners.ts'
import { newActivation } from '../../parties/team/factor.ts'
import { holdStanding, lockStanding, selectOperators } from '../../parties/team/store.ts'
import { logPlaces, type Noted } from '../../records/acts/line.ts'
import { note } from '../../records/acts/log.ts'
import { lockActs } from '../../records/acts/store.ts'
import { openActWorld } from '../../records/acts/with-line.ts'
import type { World } from '../../world.ts'
import { type Done, type MoneyAction, type MoneyActionName, perform } from './actions.ts'
import type { Change } from './changes.ts'
import type { Office } from './office.ts'
import {
  assertMayStill,
  countOperators,
  countsOf,
  isLowering,
  type PeopleAction,
  type PeopleChangeName,
  type Person,
  passwordFor,
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
  withdraw,
} from './proposals.ts'
import { type Act, type ActKind, type ActResult, acts, type DecidedOn, type NameOf } from './registry.ts'
import { type ActName, approversOf, judge, proposersOf, type Rule, rules, signedIn } from './rules.ts'
import { lockProposal, type Proposal, proposalById } from './store.ts'

type DecisionName = NameOf<'decision'>

/**
 * The one entry point for every act of an operator: the act is performed, proposed to another operator, or refused. A
 * performed act writes its line to the act log in the same transaction.
 */
export async function act<Name extends ActName>(
  office: Office,
  actor: Actor,
  action: Act<Name>,
): Promise<Acted<ActResult<Name>>> {
  const handle = handlers[acts[action.name].kind]
  return (await handle(office, actor, action as never)) as Acted<ActResult<Name>>
}

const handlers: Readonly<
  Record<ActKind, (office: Office, actor: Actor, action: never) => Promise<Acted<unknown>>>
> = { money: move, world: change, shared: change, person: treat, decision: decide, rotation: rotate }

type Actor = OperatorActor | ShellActor

export type Acted<Result> =
  | {
      readonly done: Result
      /** The object that the act created or changed, if there is one. */
      readonly object_id: string | null
      readonly line: Noted | undefined
    }
  | {
      readonly proposed: Proposal
      readonly line: Noted
      /**
       * An operator's next sign-in takes this code and the new password. The proposer sees the code, the approver the
       * password.
       */
      readonly activation_code?: string
    }

/** Judges the rule for the actor's present role and session. */
async function judged(
  office: Office,
  actor: Actor,
  rule: Rule,
  place: StoragePlace,
  { db = office.shared.db, rehearsed = false }: { readonly db?: Pool; readonly rehearsed?: boolean } = {},
): Promise<'perform' | 'propose'> {
  const operators = await selectOperators(db)
  const now = await standingOf(db, actor, operators)
  return judge(rule, {
    actor: now,
    operators: countsOf(operators),
    sandbox: place === 'sandbox',
    rehearsed,
    about_operator: false,
  })
}

const whereOf = ({ shared, worlds }: Office, place: StoragePlace) =>
  place === 'shared' ? shared : worlds[place]

/**
 * Money acts are proposed in production. In the sandbox they are performed, with their line in the transaction that
 * moves the money.
 */
async function move(office: Office, actor: Actor, action: Act<MoneyActionName>): Promise<Acted<Done>> {
  const world: World = office.worlds[action.environment]
  const verdict = await judged(office, actor, rules[action.name], action.environment, {
    rehearsed: action.rehearsed ?? false,
  })
  const pen = await office.log.pen(action.environment, actor)
  const order = { name: action.name, details: action.details } as MoneyAction
  if (verdict === 'propose') {
    const { proposal, line } = await propose(world, order, pen as OperatorPen)
    return { proposed: proposal, line: line! }
  }
  const { name, details } = order
  const entry = { action: name, object_id: subjectOf(details), before: null, after: details }
  const opened = openActWorld(world, {
    pen,
    // A command that carries out nothing, such as the replay of an order, gets no line.
    lineOf: ({ movements = [], carries_out }) =>
      movements.length > 0 || carries_out ? { entry } : undefined,
  })
  const operator = actor.kind === 'operator' ? actor.email : 'shell'
  const done = await perform(opened.here, order, { operator, proposal_id: null })
  return { done, object_id: done.id, line: opened.line }
}

type AnyChange = Change<unknown, unknown, unknown>

/** Acts that move no money: the state before, the act, the state after and the log line share one transaction. */
async function change(
  office: Office,
  actor: Actor,
  action: Act<NameOf<'world' | 'shared'>>,
): Promise<Acted<unknown>> {
  const { name, details } = action
  const place: StoragePlace = acts[name].kind === 'world' ? action.environment! : 'shared'
  const pen = await office.log.pen(place, actor)
  const where = whereOf(office, place)
  const how = acts[name] as unknown as AnyChange
  return transaction(where.db, async (tx) => {
    await lockActs(tx)
    // Judge only under the lock: while this act waited, the operator may have lost the role or the session.
    await judged(office, actor, rules[name], place, place === 'shared' ? { db: poolOf(tx) } : {})
    const { result, ...entry } = await performBetweenReads({ ...where, db: poolOf(tx) }, how, details, actor)
    const line = await note(tx, pen, { action: name, ...entry })
    return { done: result, object_id: entry.object_id, line }
  })
}

async function performBetweenReads(where: unknown, how: AnyChange, details: unknown, actor: Actor) {
  const before = await how.readState(where, details)
  const result = await how.perform(where, details, actor.kind === 'operator' ? actor.email : 'command line')
  const after = how.made ? await how.made(result, where) : await how.readState(where, details)
  return { result, object_id: how.object(details, result), before, after }
}

/**
 * Acts on people. Whether an act takes two is judged under the lock, so that two concurrent acts cannot both count as
 * the first.
 */
async function treat(office: Office, actor: Actor, asked: Act<PeopleChangeName>): Promise<Acted<Person>> {
  const { shared } = office
  const pen = await office.log.pen('shared', actor)
  const id = shared.newId('user')
  const fresh = await passwordFor(asked.name)
  return transaction(shared.db, async (tx) => {
    await lockStanding(tx)
    await lockActs(tx)
    const here = { ...shared, db: poolOf(tx), fresh }
    const details = asked.name === 'create_user' ? { ...(asked.details as object), id } : asked.details
    const action = { name: asked.name, details } as PeopleAction
    const about_operator = await takesTwo(here, action)
    const operators = await selectOperators(tx)
    const now = await standingOf(tx, actor, operators)
    const lowers = await isLowering(here, action)
    const verdict = judge(rules[action.name], {
      actor: now,
      operators: countsOf(operators),
      sandbox: false,
      about_operator,
      lowers,
    })
    if (verdict === 'propose') {
      const { action: proposed, code } = withActivation(action)
      const { proposal, line } = await proposeIn(tx, shared, proposed, pen as OperatorPen)
      return { proposed: proposal, line: line!, ...(code === undefined ? {} : { activation_code: code }) }
    }
    const how = acts[action.name] as unknown as AnyChange
    const { result, ...entry } = await performBetweenReads(here, how, details, actor)
    const line = await note(tx, pen, { action: action.name, ...entry })
    return { done: result as Person, object_id: entry.object_id, line }
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
  actor: Actor,
  { name, details }: Act<DecisionName>,
): Promise<Acted<DecidedOn>> {
  const { proposal_id: id, reason = null } = details
  const found = await locateProposal(office, id)
  const { place } = found
  await assertMayDecide(office, actor, name, found)
  const pen = (await office.log.pen(place, actor)) as OperatorPen
  if (name === 'approve') {
    if (place === 'shared') return approvePerson(office, id, pen)
    const { proposal, line } = await approve(whileBothMay(office, actor, place, found.proposal), id, pen)
    return { done: { proposal }, object_id: proposal.resource_id, line }
  }
  const where = whereOf(office, place)
  const { proposal, line } =
    name === 'reject' ? await reject(where, id, pen, reason ?? '') : await withdraw(where, id, pen, reason)
  return { done: { proposal }, object_id: id, line }
}

/**
 * A world whose `commit` moves money only while the proposer and the approver still have their roles. Both are judged
 * after the rails were asked, and their rows stay locked until the money has moved. The database role of a world
 * cannot read users, so a transaction in `shared` holds those locks around the commit.
 */
function whileBothMay(
  office: Office,
  actor: Actor,
  place: Environment,
  { action, proposed_by }: Proposal,
): World {
  const world: World = office.worlds[place]
  const rule: Rule = rules[action]
  const approver = signedIn(actor, rules.approve)
  return {
    ...world,
    async commit(command) {
      const leave = await office.approvals.take(approver.email).catch(() => refuse('service_unavailable'))
      return new Promise((resolve, reject) => {
        // Resolve as soon as the money has moved: the outer transaction only holds locks, so its end does not matter.
        const moveUnderLocks = async (tx: Db) => {
          await holdStanding(tx, [proposed_by, approver.email])
          await judged(office, actor, rules.approve, place, { db: poolOf(tx), rehearsed: true })
          await assertMayStill(tx, proposed_by, rule, rule.roles)
          resolve(await world.commit(command))
        }
        transaction(office.shared.db, moveUnderLocks).catch(reject).finally(leave)
      })
    },
  }
}

type Located = { readonly place: StoragePlace; readonly proposal: Proposal }

async function locateProposal(office: Office, id: string): Promise<Located> {
  for (const place of logPlaces) {
    const proposal = await proposalById(office.log.pools[place], id)
    if (proposal) return { place, proposal }
  }
  return noProposal(id)
}

export const placeOfProposal = async (office: Office, id: string): Promise<StoragePlace> =>
  (await locateProposal(office, id)).place

async function assertMayDecide(
  office: Office,
  actor: Actor,
  name: DecisionName,
  { place, proposal }: Located,
): Promise<void> {
  signedIn(actor, rules[name])
  const is_on_person = place === 'shared' && name !== 'withdraw'
  const rule = is_on_person ? (await rulesOnPerson(office.shared, proposal, name)).decide : rules[name]
  // A decision of a rehearsal is judged as in production: a proposal of the sandbox is one.
  await judged(office, actor, rule, place, { rehearsed: true })
}

/** Refuses before the operator is asked to confirm an approval. */
export async function assertMayApprove(office: Office, actor: Actor, proposal: Proposal): Promise<void> {
  await assertMayDecide(office, actor, 'approve', await locateProposal(office, proposal.id))
  if (proposal.ended !== 'done') assertApprovable(proposal, signedIn(actor, rules.approve).email)
}

export async function rolesThatApprove(
  office: Office,
  proposal: Proposal,
  place: StoragePlace,
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
    await lockStanding(tx)
    await lockActs(tx)
    const proposal = (await lockProposal(tx, id))!
    if (proposal.ended === 'done')
      return { done: { proposal }, object_id: proposal.resource_id, line: undefined }
    assertApprovable(proposal, pen.actor.email)
    await assertVouchedFor(tx, pen, proposal)
    const { action, details } = proposal
    const here = { ...shared, db: poolOf(tx), fresh }
    const { proposers, decide } = await rulesOnPerson(here, proposal)
    await assertMayStill(tx, proposal.proposed_by, rules[action], proposers)
    const how = acts[action as PeopleChangeName] as unknown as AnyChange
    const actor: OperatorActor = { ...pen.actor, role: 'admin' }
    await judged(office, actor, decide, 'shared', { db: here.db })
    const { result, object_id, before, after } = await performBetweenReads(here, how, details, actor)
    const ending = { end: 'done', by: pen.actor.email, reason: null, resource_id: object_id } as const
    const ended = await endIn(tx, id, ending, { step: 'approve', pen }, { before, after: { person: after } })
    return { done: { proposal: ended!.proposal, person: result as Person }, object_id, line: ended!.line }
  })
}

/** The rotation runs in several transactions of its own; the log line goes into the one that stores the new key id. */
async function rotate(
  office: Office,
  actor: Actor,
  { details }: Act<'rotate_secrets'>,
): Promise<Acted<unknown>> {
  await judged(office, actor, rules.rotate_secrets, 'shared')
  const pen = await office.log.pen('shared', actor)
  let line: Noted | undefined
  const done = await details.rotate(async (tx, { before, after }) => {
    const entry = { before: { key_id: before }, after: { key_id: after } }
    line = await note(tx, pen, { action: 'rotate_secrets', object_id: after, ...entry })
  })
  return { done, object_id: null, line }
}
