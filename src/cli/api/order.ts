import { randomKey } from '#sdk'
import { agrees } from '../ask.ts'
import { type Input, usage } from '../command.ts'
import { isTerminal } from '../io.ts'
import type { ApiClient } from './client.ts'

/**
 * Prints the generated idempotency key before the request is sent, so that a person can repeat the command safely whatever
 * happens. A script must pass its own key: it would not read a printed one, and a second run would pay twice.
 */
export function idempotencyKey({ io, options, made_up }: Input): string {
  let key = options['idempotency-key'] as string | undefined
  if (key === undefined) {
    if (!io.stdin.isTTY)
      usage(
        'A script must give --idempotency-key TEXT, its own key for this order: under the same key it happens once.',
      )
    key = randomKey()
    made_up.set('idempotency-key', key)
  }
  io.stderr.write(`idempotency key: ${key}\n`)
  return key
}

/** Asks for confirmation before real money moves: a person answers a question, a script passes --yes. */
export async function assertMeant(input: Input, { live }: ApiClient, what: string): Promise<void> {
  if (!live || input.options.yes === true) return
  if (!isTerminal(input.io)) usage(`${what} moves real money: a script must give --yes.`)
  if (!(await agrees(input.io, `${what}. This is real money. Do it?`)))
    throw new Error('Nothing was sent, and nothing happened.')
}
