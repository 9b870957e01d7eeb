import type { Environment } from '../../core/environment.ts'
import type { Db } from '../../db/pool.ts'
import { moneyActs } from './actions.ts'
import { sharedChanges, worldChanges } from './changes.ts'
import { type Person, peopleChanges } from './people.ts'
import type { ActName } from './rules.ts'
import type { Proposal } from './store.ts'

/**
 * Every act of an operator, by name: its kind, how it is performed, and what its log line shows. Who may perform it is in
 * rules.ts. The console and the command line call `act` (act.ts) with a name and details; `act` finds the rest here.
 *
 * Kinds: `money` moves money; `world` and `shared` change rows of one environment, or of the schema that both share;
 * `person` changes a user; `decision` ends a proposal; `rotation` replaces SECRET_KEY.
 */
export const acts = {
  ...moneyActs,
  ...worldChanges,
  ...sharedChanges,
  ...peopleChanges,
  approve: { kind: 'decision' },
  reject: { kind: 'decision' },
  withdraw: { kind: 'decision' },
  rotate_secrets: { kind: 'rotation' },
} as const satisfies Record<ActName, { readonly kind: string }>

type Acts = typeof acts
export type ActKind = Acts[ActName]['kind']
export type NameOf<Kind extends ActKind> = {
  [Name in ActName]: Acts[Name]['kind'] extends Kind ? Name : never
}[ActName]

/** The parameters of `act`, by the name of the act. */
export type Act<Name extends ActName> = {
  readonly name: Name
  readonly details: ActDetails<Name>
} & (Name extends NameOf<'money'>
  ? {
      readonly environment: Environment
      /** In the sandbox: propose the act to another operator, as in production. */
      readonly rehearsed?: boolean
    }
  : Name extends NameOf<'world'>
    ? { readonly environment: Environment }
    : { readonly environment?: never })

type ActDetails<Name extends ActName> =
  Name extends NameOf<'decision'>
    ? { readonly proposal_id: string; readonly reason?: string | null }
    : Name extends NameOf<'rotation'>
      ? { readonly rotate: Rotation<unknown> }
      : Name extends NameOf<'person'>
        ? // `act` makes the id of a new user.
          Omit<DetailsOf<Acts[Name]>, 'id'>
        : DetailsOf<Acts[Name]>

/** The second parameter of `perform`. */
type DetailsOf<Performed> = Performed extends {
  perform(where: never, details: infer Details, by: never): unknown
}
  ? Details
  : never

/** The result of an act, by its name. */
export type ActResult<Name extends ActName> =
  Name extends NameOf<'decision'>
    ? DecidedOn
    : Acts[Name] extends { perform(where: never, details: never, by: never): Promise<infer Result> }
      ? Result
      : unknown

/** The proposal after the decision, and the person it changed, if it was about a person. */
export type DecidedOn = { readonly proposal: Proposal; readonly person?: Person }

/** Encrypts all secrets under the new key. Calls `writeLine` in the transaction that stores the id of that key. */
type Rotation<Rotated> = (
  writeLine: (tx: Db, key_ids: { before: string; after: string }) => Promise<void>,
) => Promise<Rotated>
