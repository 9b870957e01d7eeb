import { logPlaces } from '../../../records/acts/line.ts'
import type { CliCommand } from '../../command.ts'

const load = () => import('../../operator/log.ts')

const environment = {
  type: 'string',
  value: logPlaces.join('|'),
  about: 'Only this log; all three when absent',
} as const

export const logCommands: CliCommand[] = [
  {
    name: 'log list',
    about: 'List the audit log, what operators and users of partners did, newest first',
    options: { environment, limit: { type: 'string', value: 'N', about: 'Lines of each; 50 when absent' } },
    examples: ['trilho log list --environment production --limit 20'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).logList(input, reach),
  },
  {
    name: 'log verify',
    about: 'Verify that the audit log and the proposals are unchanged; exits 1 and names each change',
    options: {
      environment,
      anchor: {
        type: 'string',
        value: '[ENVIRONMENT:]SEQ:HASH',
        about:
          'A line that was noted before and must be there still, of production if not said; may be repeated',
        multiple: true,
      },
    },
    examples: ['trilho log verify', 'trilho log verify --anchor production:42:$HASH'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).logVerify(input, reach),
  },
]
