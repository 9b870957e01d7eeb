import type { CliCommand } from '../../command.ts'
import { ASSETS } from './options.ts'
import { filter, reading } from './reading.ts'

export const depositCommands: CliCommand[] = reading({
  noun: 'deposits',
  one: 'DEPOSIT',
  filters: {
    customer: filter('ID', 'Of this customer'),
    asset: filter(ASSETS, 'Of this asset'),
    status: filter('pending|completed|dropped', 'In this state'),
  },
  examples: ['trilho deposits list --customer $CUSTOMER'],
})
