import type { CliCommand } from '../../command.ts'
import { operatorOption } from '../options.ts'

const load = () => import('../../operator/open-orders.ts')

const evidence = {
  type: 'string',
  value: 'TEXT',
  about: 'How you know: a statement, a ticket, an explorer’s page',
  required: true,
} as const
const olderThan = { 'older-than': { type: 'string', value: 'SECONDS', about: '60 when absent' } } as const

export const openOrderCommands: CliCommand[] = [
  {
    name: 'payouts unknown',
    about: 'List payouts whose outcome is still open',
    options: olderThan,
    examples: ['trilho payouts unknown --older-than 300'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).payoutsUnknown(input, reach),
  },
  {
    name: 'payouts resolve',
    takes: 'PAYOUT',
    about: 'Settle a payout whose outcome you have established outside the service',
    options: {
      outcome: { type: 'string', value: 'completed|failed', about: 'What happened', required: true },
      'end-to-end-id': { type: 'string', value: 'ID', about: 'Its id in the Pix network, when completed' },
      evidence,
      'despite-acceptance': {
        type: 'boolean',
        about: 'With failed: the network had accepted the payout, and the money goes back all the same',
      },
      operator: operatorOption,
    },
    examples: ["trilho payouts resolve $PAYOUT --outcome failed --evidence 'Statement of 16 November'"],
    who: 'operator',
    runWith: async (input, reach) => (await load()).payoutsResolve(input, reach),
  },
  {
    name: 'transfers unknown',
    about: 'List transfers whose outcome is still open',
    options: olderThan,
    examples: ['trilho transfers unknown --json'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).transfersUnknown(input, reach),
  },
  {
    name: 'transfers resolve',
    takes: 'TRANSFER',
    about: 'Settle a transfer whose outcome you have established outside the service',
    options: {
      outcome: { type: 'string', value: 'confirmed|failed', about: 'What happened', required: true },
      evidence,
      operator: operatorOption,
    },
    examples: ["trilho transfers resolve $TRANSFER --outcome confirmed --evidence 'Block explorer'"],
    who: 'operator',
    runWith: async (input, reach) => (await load()).transfersResolve(input, reach),
  },
  {
    name: 'transfers cancel',
    takes: 'TRANSFER',
    about:
      'Cancel a transfer that is not mined: a transaction that pays nobody takes its nonce, and the chain decides',
    options: {
      reason: { type: 'string', value: 'TEXT', about: 'Why it is canceled', required: true },
      operator: operatorOption,
    },
    examples: ["trilho transfers cancel $TRANSFER --reason 'Wrong address, ticket 812'"],
    who: 'operator',
    runWith: async (input, reach) => (await load()).transfersCancel(input, reach),
  },
]
