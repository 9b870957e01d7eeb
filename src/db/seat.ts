import { type Login, openLogin } from './login.ts'
import { roleOf, type SchemaName, type Seat } from './pool.ts'

export const schemaNames: readonly SchemaName[] = ['shared', 'live', 'sandbox']

/** The places of one database. Whoever sits in one has come in as the role of its schema, and knows no other. */
export type Seats = (schema: SchemaName, application_name: string) => Seat

/** `keys`: SECRET_KEY, and behind it those that it takes over from, if any. `laterKeys`: asked for keys that came later. */
export function openSeats(url: string, keys: readonly Buffer[], laterKeys?: () => readonly Buffer[]): Seats {
  const logins = new Map<SchemaName, Login>(
    schemaNames.map((schema) => [schema, openLogin(roleOf(url, schema), keys, laterKeys)]),
  )
  return (schema, application_name) => ({ url, schema, application_name, login: logins.get(schema)! })
}
