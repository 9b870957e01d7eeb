import type { CliCommand } from '../../command.ts'

export const databaseCommands: CliCommand[] = [
  {
    name: 'database copy',
    about: 'Copy the embedded database into an empty PostgreSQL of your own, and audit it there',
    options: {
      to: { type: 'string', value: 'URL', about: 'The target, as its owner: postgresql://…' },
      'to-file': {
        type: 'string',
        value: 'FILE',
        about: 'A file that holds this address, so that the process list does not show it',
      },
    },
    examples: [
      'trilho database copy --to postgresql://trilho@db.example.com/trilho',
      'trilho database copy --to-file /run/secrets/database-url',
    ],
    who: 'machine',
    run: async (input) => (await import('../../machine/database.ts')).databaseCopy(input),
  },
  {
    name: 'database unmark',
    about: 'Let a service start again on a data folder that was copied away or replaced by a restore',
    options: {
      yes: { type: 'boolean', about: 'The service on the other database will never run again' },
    },
    examples: ['DATA_DIR=./data trilho database unmark --yes'],
    who: 'machine',
    run: async (input) => (await import('../../machine/database.ts')).databaseUnmark(input),
  },
]
