import type { CliCommand } from '../../command.ts'
import { filter, reading } from './reading.ts'

const filters = {
  status: filter('CODE', 'Answered with this status, such as 422'),
  'key-id': filter('ID', 'Made with this key'),
}

export const requestCommands: CliCommand[] = [
  ...reading({
    noun: 'requests',
    one: 'REQUEST',
    filters,
    examples: ['trilho requests list --status 422'],
  }),
  {
    name: 'requests tail',
    about: 'Print your API requests as they are answered, until stopped',
    who: 'key',
    options: filters,
    examples: ['trilho requests tail', 'trilho requests tail --status 429 --output jsonl'],
    run: async (input) => (await import('../../api/tail.ts')).requestsTail(input),
  },
  {
    name: 'usage',
    about: 'Show the limits of your key, and what is used of them',
    who: 'key',
    lists: true,
    examples: ['trilho usage'],
    run: async (input) => (await import('../../api/usage.ts')).usageShow(input),
  },
]
