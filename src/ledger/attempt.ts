import pg from 'pg'
import { isAnswer, isServerTrouble, isUnreachable } from '../db/failure.ts'
import type { Client } from '../db/pool.ts'
import { NotDurable, type RunnerConnection } from './connection.ts'
import type { CommandResult } from './decide.ts'

/** The outcome of one attempt to run a batch. */
export type BatchAttempt =
  | { readonly kind: 'done'; readonly results: readonly CommandResult[] }
  /** The database answered with an error and rolled everything back. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The server is unreachable or in trouble, and this attempt can never commit. */
  | { readonly kind: 'not_committed'; readonly error: unknown }
  | { readonly kind: 'unknown'; readonly error: unknown }

/** COMMIT was never sent, or was certainly refused. Drops a connection that cannot be trusted any more. */
export async function rolledBack(
  connection: RunnerConnection,
  client: Client,
  error: unknown,
): Promise<BatchAttempt> {
  if (!isAnswer(error) || isServerTrouble(error)) {
    connection.drop(client)
    const bug =
      !isUnreachable(error) && !(error instanceof pg.DatabaseError) && !(error instanceof NotDurable)
    return { kind: bug ? 'failed' : 'not_committed', error }
  }
  await client.query('ROLLBACK').catch(() => connection.drop(client))
  return { kind: 'failed', error }
}
