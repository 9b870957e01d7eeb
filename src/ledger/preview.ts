import type { Client } from '../db/pool.ts'
import { type BatchAttempt, rolledBack } from './attempt.ts'
import type { AccountRef, Command, HeldAccount } from './command.ts'
import type { RunnerConnection } from './connection.ts'
import { type CommandResult, decide } from './decide.ts'
import { lock } from './lock.ts'
import { accountKey, type State } from './state.ts'
import { leave } from './write.ts'

/**
 * The result that a command would have now: the same locks, reads and decision as for the real command, and then ROLLBACK.
 * The real call in its place would have had the same result.
 */
export type Preview<Result> = {
  readonly result: Result
  /** The account as it would be afterwards. */
  account(ref: AccountRef): HeldAccount | undefined
}

/** Each command is decided on the state as it was found: a preview does not see the effects of the others. */
export async function attemptPreviews(
  connection: RunnerConnection,
  commands: readonly Command<unknown>[],
): Promise<BatchAttempt> {
  let client: Client
  try {
    client = await connection.get()
  } catch (error) {
    return { kind: 'not_committed', error }
  }
  try {
    const state = await lock(client, commands)
    await leave(client, state)
    return { kind: 'done', results: commands.map((command) => preview(copyOf(state), command)) }
  } catch (error) {
    return rolledBack(connection, client, error)
  }
}

function preview(state: State, command: Command<unknown>): CommandResult {
  const [done] = decide(state, [command]).results as [CommandResult]
  if (!('result' in done)) return done
  const previewed: Preview<unknown> = {
    result: done.result,
    account: (ref) => state.accounts.get(accountKey(ref)),
  }
  return { result: previewed }
}

/** Copies as deep as a decision changes the state. */
function copyOf(state: State): State {
  return {
    ...state,
    accounts: new Map(state.accounts),
    rows: new Map([...state.rows].map(([source, rows]) => [source, new Map(rows)])),
    claims: new Map([...state.claims].map(([key, claim]) => [key, { ...claim }])),
  }
}
