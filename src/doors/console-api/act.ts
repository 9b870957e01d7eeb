import type { OnceGuard } from '../../control/operator/changes.ts'
import type { Office } from '../../control/operator/office.ts'
import type { OperatorActor, PersonActor } from '../../core/actor.ts'
import type { Environment } from '../../core/environment.ts'
import { Refusal } from '../../core/errors.ts'
import { isUniqueViolation } from '../../db/failure.ts'
import { poolOf, transaction } from '../../db/pool.ts'
import { writeTo } from '../../ledger/command.ts'
import type { Shared } from '../../parties/partners/partners.ts'
import { assertStanding } from '../../parties/team/people.ts'
import type { ActEntry } from '../../records/acts/line.ts'
import { note } from '../../records/acts/log.ts'
import { lockActsOn } from '../../records/acts/store.ts'
import { openActWorld } from '../../records/acts/with-line.ts'
import type { World } from '../../world.ts'
import { formById, insertForm, insertForms } from './store.ts'

/** The result of an act, and its entry for the act log. */
type Done<Result> = { readonly result: Result; readonly entry: ActEntry }

type Form = {
  /** The id that the page gave its form: a form that arrives twice takes effect once. */
  readonly form_id?: string | undefined
}

type About = Form & {
  /** The changed object. Acts on one object run one after the other, so each reads what the previous one wrote. */
  readonly object_id?: string
}

/** Runs an act of a partner's user in a world: the rule, its log line and its form id share one transaction. */
export const actIn = <Result>(
  office: Office,
  actor: PersonActor,
  world: World,
  work: (here: World) => Promise<Done<Result>>,
  about: About = {},
): Promise<Result> => noted(office, actor, world.environment, world, (db) => work({ ...world, db }), about)

/** The same in `shared`, for acts on people. */
export const actInShared = <Result>(
  office: Office,
  actor: PersonActor,
  work: (here: Shared) => Promise<Done<Result>>,
  about: About = {},
): Promise<Result> =>
  noted(office, actor, 'shared', sharedOf(office, actor), (db) => work({ ...office.shared, db }), about)

/** For an act that learns only from the object it changes that a fresh proof is needed. */
export const assertProof = (office: Office, actor: PersonActor): Promise<void> =>
  assertStanding(sharedOf(office, actor).db, { ...actor, proof: true })

const sharedOf = ({ shares }: Office, actor: PersonActor): Shared => shares.shared(actor)

async function noted<Result>(
  office: Office,
  actor: PersonActor,
  place: World['environment'] | 'shared',
  { db }: Pick<World, 'db'>,
  work: (db: World['db']) => Promise<Done<Result>>,
  { form_id, object_id }: About,
): Promise<Result> {
  const pen = await office.log.pen(place, actor)
  return transaction(db, async (tx) => {
    if (object_id !== undefined) await lockActsOn(tx, object_id)
    await assertStanding(place === 'shared' ? tx : sharedOf(office, actor).db, actor)
    const once = form_id === undefined ? undefined : onceFor(actor, form_id)
    await once?.assertNew(tx)
    const { result, entry } = await work(poolOf(tx))
    if (entry.object_id !== null) await once?.keep(tx, entry.object_id)
    await note(tx, pen, entry)
    return result
  })
}

/** Makes a form take effect once, within the transaction that is passed in. */
export const onceFor = ({ user_id }: PersonActor | OperatorActor, id: string): OnceGuard => ({
  async assertNew(tx) {
    const before = await formById(tx, user_id, id)
    if (before) throw new Refusal('already_done', { details: { id: before.object_id } })
  },
  keep: (tx, object_id) => insertForm(tx, { user_id, id, object_id }),
})

/**
 * The same for acts that may move money, which only the sandbox has. The first command that changes anything writes
 * the log line and the form id. `object_id` null: the cause of that command's first movement.
 */
export async function actWithMoney<E extends Environment, Result>(
  office: Office,
  actor: PersonActor,
  world: World<E>,
  work: (here: World<E>) => Promise<Result>,
  { form_id, ...entry }: ActEntry & Form,
): Promise<Result> {
  const pen = await office.log.pen(world.environment, actor)
  const assertNew = async () => {
    if (form_id !== undefined) await transaction(world.db, onceFor(actor, form_id).assertNew)
  }
  // The session may have ended while the body was arriving.
  await assertStanding(sharedOf(office, actor).db, actor)
  await assertNew()
  const { here } = openActWorld(world, {
    pen,
    lineOf({ movements = [], writes = [] }) {
      if (movements.length + writes.length === 0) return undefined
      const object_id = entry.object_id ?? movements[0]?.cause_id ?? null
      const is_form = form_id !== undefined && object_id !== null
      const form = is_form ? [writeTo(insertForms, { user_id: actor.user_id, id: form_id, object_id })] : []
      return { entry: { ...entry, object_id }, writes: form }
    },
  })
  return work(here).catch(async (error: unknown) => {
    // Of two concurrent copies of a form the second is rolled back as a whole.
    if (isUniqueViolation(error, 'forms_pkey')) await assertNew()
    throw error
  })
}
