import { type Static, Type as T } from 'typebox'
import type { AuditProof } from '../../../control/audit/proofs.ts'
import type { Acted } from '../../../control/operator/act.ts'
import { holdingsOf } from '../../../control/operator/holdings.ts'
import type { Db } from '../../../db/pool.ts'
import { AssetName, Timestamp } from '../../../http/schema.ts'
import type { Noted } from '../../../records/acts/line.ts'
import { logPlaces } from '../../../records/acts/line.ts'

/** The environment in the path of an operator endpoint. */
export const inWorld = { environment: T.Enum(['production', 'sandbox']) }

export const Maybe = <S extends Parameters<typeof T.Union>[0][number]>(schema: S) =>
  T.Union([schema, T.Null()])

/** A sum of the ledger: any sign, any size. */
export const Sum = T.String({ pattern: '^-?[0-9]+$', description: 'Whole number of the smallest unit' })

export const AmountOf = T.Object({ asset: AssetName, amount: Sum })

export const PlaceName = T.Enum([...logPlaces])

/** A line of the act log, and the place of its log: production, sandbox or shared. */
export const LineRef = T.Object({
  place: PlaceName,
  seq: T.String(),
  hash: T.String({ description: 'Keep a copy elsewhere: it proves later that the line is still in the log' }),
})

/** The result of an operator's act: performed, or proposed to another operator. */
export const ActedObject = T.Object({
  outcome: T.Enum(['done', 'proposed'], {
    description: 'proposed: another operator has to approve it, nothing has happened yet',
  }),
  id: Maybe(T.String({ description: 'Id of the object that was created or changed' })),
  proposal_id: Maybe(T.String()),
  expires_at: Maybe(Timestamp),
  line: Maybe(LineRef),
  link: T.Optional(T.String({ description: 'Link to choose a password, shown only in this response' })),
  password: T.Optional(T.String({ description: 'Shown only in this response' })),
  activation_code: T.Optional(
    T.String({
      description:
        'Shown only in this response. The first sign-in needs this code and the password, which only the operator who approves sees',
    }),
  ),
})

type ActedReply = Static<typeof ActedObject>

export const renderLineRef = (line: Noted | undefined) =>
  line ? { place: line.place, seq: line.seq.toString(), hash: line.hash } : null

export function renderActed(acted: Acted<unknown>): ActedReply {
  if ('proposed' in acted) {
    const { proposed, line, activation_code } = acted
    return {
      outcome: 'proposed',
      id: null,
      proposal_id: proposed.id,
      expires_at: proposed.expires_at.toISOString(),
      line: renderLineRef(line),
      ...(activation_code === undefined ? {} : { activation_code }),
    }
  }
  return {
    outcome: 'done',
    id: acted.object_id,
    proposal_id: null,
    expires_at: null,
    line: renderLineRef(acted.line),
  }
}

/** Owed against held in one asset, and what the newest statement says. */
export const HoldingObject = T.Object({
  asset: AssetName,
  owed: Sum,
  held: Sum,
  own: T.String({ ...Sum, description: 'Held minus owed: what is the operator’s own, or missing' }),
  statement: Maybe(
    T.Object({
      amount: Sum,
      difference: T.String({ ...Sum, description: 'The statement minus what our books hold' }),
      as_of: Timestamp,
      source: T.String(),
      noted_by: T.String(),
    }),
  ),
})

export async function renderHoldings(db: Db, { sums }: Pick<AuditProof, 'sums'>) {
  return (await holdingsOf(db, sums)).map(({ asset, owed, held, statement }) => ({
    asset,
    owed: owed.toString(),
    held: held.toString(),
    own: (held - owed).toString(),
    statement: statement && {
      ...statement,
      amount: statement.amount.toString(),
      difference: (statement.amount - held).toString(),
    },
  }))
}

/** The fields of a row as text, for a page that shows them unchanged. Empty fields are left out. */
export const factsOf = (row: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, textOf(value)]),
  )

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object')
    return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item))
  return String(value)
}
