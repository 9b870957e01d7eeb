import type { CliOption } from '../../command.ts'

/** Written out, because the list of the service is in a file that loads its error catalogue. */
export const ASSETS = 'BRL|USDT|BTC'

export const customer: CliOption = { type: 'string', value: 'ID', about: 'Whose money', required: true }

export const network: CliOption = {
  type: 'string',
  value: 'NAME',
  about: 'polygon, arbitrum, optimism, tron or ethereum for USDT; bitcoin for BTC',
  required: true,
}

/** Options of commands that move money. */
export const idempotency: Readonly<Record<string, CliOption>> = {
  'idempotency-key': {
    type: 'string',
    value: 'TEXT',
    about:
      'Idempotency key: an order under the same key happens once. Required in a script; at a terminal one is generated and printed',
  },
}

/** Texts of the partner's own, on orders and customers. */
export const metadata: Readonly<Record<string, CliOption>> = {
  metadata: {
    type: 'string',
    value: 'NAME=TEXT',
    about: 'A text of your own, such as invoice=1042; may be repeated',
    multiple: true,
  },
}

export const yes: Readonly<Record<string, CliOption>> = {
  yes: {
    type: 'boolean',
    about: 'Do not ask for confirmation. Required in a script with a live key',
  },
}
