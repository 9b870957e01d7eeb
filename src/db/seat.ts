import { type Login, openLogin } from './login.ts'
import { databaseRoleOf, type SchemaName, type Seat } from './pool.ts'

export const schemaNames: readonly SchemaName[] = ['shared', 'live', 'sandbox']

/** The seats of one database: for each schema, the role to log in as. */
export type Seats = (schema: SchemaName, application_name: string) => Seat

/** `keys`: SECRET_KEY, then the previous keys, if any. `laterKeys`: reads keys that a rotation has added since. */
export function openSeats(url: string, keys: readonly Buffer[], laterKeys?: () => readonly Buffer[]): Seats {
  const logins = new Map<SchemaName, Login>(
    schemaNames.map((schema) => [schema, openLogin(databaseRoleOf(url, schema), keys, laterKeys)]),
  )
  return (schema, application_name) => ({ url, schema, application_name, login: logins.get(schema)! })
}
