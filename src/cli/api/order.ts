import { randomKey } from '#sdk'
import { agrees } from '../ask.ts'
import { type Input, option, usage } from '../command.ts'
import { isTerminal } from '../io.ts'
import type { Client } from './client.ts'

/** Printed before anything is sent: whatever happens then, the same command with it is safe. */
export function idempotencyKey(input: Input): string {
  const key = option(input, 'idempotency-key') ?? randomKey()
  input.io.stderr.write(`idempotency key: ${key}\n`)
  return key
}

/** Whoever moves real money says so: a person by answering, a script by --yes. */
export async function assertMeant(input: Input, { live }: Client, what: string): Promise<void> {
  if (!live || input.options.yes === true) return
  if (!isTerminal(input.io)) usage(`${what} moves real money: a script says --yes.`)
  if (!(await agrees(input.io, `${what}. This is real money. Do it?`)))
    throw new Error('Nothing was sent, and nothing happened.')
}
