import { networkNames } from '../../../core/networks.ts'
import type { CliCommand, CliOption } from '../../command.ts'
import { operatorOption, production_or, reason } from '../options.ts'

const load = () => import('../../operator/rails.ts')

const RAIL = ['pix', ...networkNames].join('|')

const units = (about: string): CliOption => ({ type: 'string', value: 'UNITS|none', about })

export const railCommands: CliCommand[] = [
  {
    name: 'rails list',
    about: 'Show each rail: whether it accepts orders, its pause, its limits and what is open on it',
    options: { environment: production_or },
    examples: ['trilho rails list --environment sandbox'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).railsList(input, reach),
  },
  {
    name: 'rails pause',
    takes: RAIL,
    about:
      'Pause a rail: it accepts no orders and sends nothing new. What is out already is followed to its end. Anyone at this shell may',
    options: { environment: production_or, reason },
    examples: ["trilho rails pause polygon --reason 'the wallet pays somebody unknown'"],
    who: 'operator',
    runWith: async (input, reach) => (await load()).railsPause(input, reach),
  },
  {
    name: 'rails resume',
    takes: RAIL,
    about: 'Resume a paused rail: what waits is sent. In production this makes a proposal',
    options: { environment: production_or, reason, operator: operatorOption },
    examples: ["trilho rails resume polygon --reason 'the key was replaced'"],
    who: 'operator',
    runWith: async (input, reach) => (await load()).railsResume(input, reach),
  },
  {
    name: 'rails set-limits',
    takes: RAIL,
    about: 'Set how much may leave on a rail, for all partners together',
    options: {
      environment: production_or,
      'order-most': units('The most of one order, in the smallest unit, without its fee; none lifts a limit'),
      'day-most': units('The most of all orders of a UTC day together'),
      floor: units('What must stay on the account or wallet'),
      'gas-floor': {
        type: 'string',
        value: 'WEI|none',
        about: 'What must stay of the coin that pays the network; not for pix and bitcoin',
      },
      'sweep-from': units(
        'Deposits at one address are swept into the wallet from this amount on; none: never. For EVM networks',
      ),
      'sweep-fee-max': {
        type: 'string',
        value: 'WEI|none',
        about: 'The most that one sweep may cost; needed with --sweep-from',
      },
      reason,
    },
    examples: [
      "trilho rails set-limits polygon --order-most 5000000000 --day-most 50000000000 --reason 'a new wallet'",
      "trilho rails set-limits polygon --sweep-from 50000000 --sweep-fee-max 50000000000000000 --reason 'sweep deposits'",
    ],
    who: 'operator',
    runWith: async (input, reach) => (await load()).railsSetLimits(input, reach),
  },
]
