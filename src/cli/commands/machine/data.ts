import type { CliCommand } from '../../command.ts'

const load = () => import('../../machine/backup.ts')

/** Of the embedded database. */
export const dataCommands: CliCommand[] = [
  {
    name: 'backup create',
    takes: 'DIR',
    about: 'Back up the embedded database into a new folder, while the service runs or not',
    examples: ['trilho backup create "/backups/$(date -u +%F)"'],
    who: 'machine',
    run: async (input) => (await load()).backupCreate(input),
  },
  {
    name: 'backup verify',
    takes: 'DIR',
    about: 'Prove a backup: compare every file, start a copy, audit it; exits 1 on the smallest difference',
    examples: ['SECRET_KEY_FILE=/safe/secret.key trilho backup verify /backups/2026-11-16'],
    variables: {
      SECRET_KEY_FILE: 'A file with the key that the backup needs; the data folder’s when absent',
    },
    who: 'machine',
    run: async (input) => (await load()).backupVerify(input),
  },
  {
    name: 'backup restore',
    takes: 'DIR',
    about: 'Make a data folder out of a backup',
    options: {
      to: { type: 'string', value: 'DATA_DIR', about: 'The new data folder', required: true },
    },
    examples: [
      'SECRET_KEY_FILE=/safe/secret.key trilho backup restore /backups/2026-11-16 --to ./data-restored',
    ],
    variables: { SECRET_KEY_FILE: 'A file with the key that the backup needs' },
    who: 'machine',
    run: async (input) => (await load()).backupRestore(input),
  },
  {
    name: 'database copy',
    about: 'Copy the embedded database into an empty PostgreSQL of your own, and audit it there',
    options: {
      to: { type: 'string', value: 'URL', about: 'The target, as its owner: postgresql://…' },
      'to-file': {
        type: 'string',
        value: 'FILE',
        about: 'A file with that; then no list of processes shows it',
      },
    },
    examples: ['trilho database copy --to-file /safe/database-url'],
    who: 'machine',
    run: async (input) => (await import('../../machine/database.ts')).databaseCopy(input),
  },
]
