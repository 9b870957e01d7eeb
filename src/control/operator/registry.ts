import type { Environment } from '../../core/environment.ts'
import type { Db } from '../../db/pool.ts'
import { moneyActs } from './actions.ts'
import { sharedChanges, worldChanges } from './changes.ts'
import { type Person, peopleChanges } from './people.ts'
import type { ActName } from './rules.ts'
import type { Proposal } from './store.ts'

/**
 * Every act of an operator, by name: its kind, how it is performed, and what its log line shows. Who may perform it is in
 * rules.ts. The console and the command line give `act` a name and details; the rest is found here.
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
} & (Name extends NameOf<'money' | 'world'>
  ? { readonly environment: Environment }
  : { readonly environment?: never })

type ActDetails<Name extends ActName> =
  Name extends NameOf<'decision'>
    ? { readonly proposal_id: string; readonly reason?: string | null }
    : Name extends NameOf<'rotation'>
      ? { readonly rotate: Rotation<unknown> }
      : Name extends NameOf<'person'>
        ? // `act` makes the id of a new user.
          Omit<Given<Acts[Name]>, 'id'>
        : Given<Acts[Name]>

type Given<Performed> = Performed extends {
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

/** Encrypts all secrets under the new key, and calls `noted` in the transaction that stores the id of that key. */
type Rotation<Rotated> = (
  noted: (tx: Db, named: { before: string; after: string }) => Promise<void>,
) => Promise<Rotated>
