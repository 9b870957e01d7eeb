import { networkNames } from '../../../core/networks.ts'
import type { CliCommand } from '../../command.ts'
import { operatorOption, production_or, reason } from '../options.ts'

const load = () => import('../../operator/custody.ts')

export const custodyCommands: CliCommand[] = [
  {
    name: 'custody move',
    takes: ['pix', ...networkNames].join('|'),
    about:
      'Book money that you moved between your own account and the wallet of a rail. In production this makes a proposal',
    options: {
      environment: production_or,
      in: { type: 'boolean', about: 'From your own account to the rail' },
      out: { type: 'boolean', about: 'From the rail to your own account' },
      amount: { type: 'string', value: 'UNITS', about: 'In the smallest unit of the asset', required: true },
      reason,
      reference: {
        type: 'string',
        value: 'TEXT',
        about: 'Unique: the same reference books once. The transaction hash, for example',
        required: true,
      },
      operator: operatorOption,
    },
    examples: [
      'trilho custody move polygon --in --amount 250000000000 --reason funding --reference 0x5c504ed4',
    ],
    who: 'operator',
    runWith: async (input, reach) => (await load()).custodyMove(input, reach),
  },
  {
    name: 'custody moves',
    about: 'List the newest custody moves',
    options: { environment: production_or },
    examples: ['trilho custody moves'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).custodyMoves(input, reach),
  },
]
