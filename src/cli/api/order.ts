import { randomKey } from '#sdk'
import { agrees } from '../ask.ts'
import { type Input, usage } from '../command.ts'
import { isTerminal } from '../io.ts'
import type { Client } from './client.ts'

/**
 * Printed before anything is sent: whatever happens then, the same command with it is safe. A script that runs again would not
 * read it, and pay twice.
 */
export function idempotencyKey({ io, options, made_up }: Input): string {
  let key = options['idempotency-key'] as string | undefined
  if (key === undefined) {
    if (!io.stdin.isTTY)
      usage('A script says --idempotency-key TEXT, its own name for this order: the same key happens once.')
    key = randomKey()
    made_up.set('idempotency-key', key)
  }
  io.stderr.write(`idempotency key: ${key}\n`)
  return key
}

/** Whoever moves real money says so: a person by answering, a script by --yes. */
export async function assertMeant(input: Input, { live }: Client, what: string): Promise<void> {
  if (!live || input.options.yes === true) return
  if (!isTerminal(input.io)) usage(`${what} moves real money: a script says --yes.`)
  if (!(await agrees(input.io, `${what}. This is real money. Do it?`)))
    throw new Error('Nothing was sent, and nothing happened.')
}
