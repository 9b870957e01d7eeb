import type { CliCommand } from '../../command.ts'
import { only_environment, operatorOption } from '../options.ts'

const load = () => import('../../operator/exceptions.ts')

export const exceptionCommands: CliCommand[] = [
  {
    name: 'exceptions list',
    about: 'List exceptions, possible problems with money that a person must review, newest first',
    options: {
      environment: only_environment,
      all: { type: 'boolean', about: 'Include closed exceptions' },
    },
    examples: ['trilho exceptions list --environment production'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).exceptionsList(input, reach),
  },
  {
    name: 'exceptions show',
    takes: 'EXCEPTION',
    about: 'Show one exception with its evidence',
    examples: ['trilho exceptions show $EXCEPTION'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).exceptionsShow(input, reach),
  },
  {
    name: 'exceptions close',
    takes: 'EXCEPTION',
    about: 'Close an exception; your name and your reason are kept with it',
    options: {
      reason: { type: 'string', value: 'TEXT', about: 'What you found and did', required: true },
      operator: operatorOption,
    },
    examples: ["trilho exceptions close $EXCEPTION --reason 'Paid once; the rail was asked'"],
    who: 'operator',
    runWith: async (input, reach) => (await load()).exceptionsClose(input, reach),
  },
]
