import type { CliOption } from '../../command.ts'

export const customer: CliOption = { type: 'string', value: 'ID', about: 'Whose money', required: true }

/** Options of commands that move money. */
export const idempotency: Readonly<Record<string, CliOption>> = {
  'idempotency-key': {
    type: 'string',
    value: 'TEXT',
    about: 'Yours: the same key happens once. A script must give one; for a person one is made, and printed',
  },
}

export const yes: Readonly<Record<string, CliOption>> = {
  yes: {
    type: 'boolean',
    about: 'Do not ask; with a live key a person is asked, and a script must say this',
  },
}
