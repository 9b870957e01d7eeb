import type { CliCommand } from '../../command.ts'

const load = () => import('../../machine/backup.ts')

/** Backups of the embedded database only. An external PostgreSQL is backed up with its own tools. */
export const backupCommands: CliCommand[] = [
  {
    name: 'backup create',
    takes: 'DIR',
    about: 'Back up the embedded database into a new folder, while the service runs or not',
    examples: ['trilho backup create /backups/2026-11-16'],
    who: 'machine',
    run: async (input) => (await load()).backupCreate(input),
  },
  {
    name: 'backup verify',
    takes: 'DIR',
    about: 'Prove a backup: compare every file, start a copy, audit it; exits 1 on the smallest difference',
    examples: ['trilho backup verify /backups/2026-11-16'],
    who: 'machine',
    run: async (input) => (await load()).backupVerify(input),
  },
  {
    name: 'backup note',
    about:
      'Note in the audit log that a backup of your own PostgreSQL is complete, for trilho golive. backup create and backup verify note theirs by themselves',
    options: {
      until: {
        type: 'string',
        value: 'TIME',
        about: 'Everything until then is in the backup; ISO 8601',
        required: true,
      },
      source: {
        type: 'string',
        value: 'TEXT',
        about: 'Its folder, or the tool that made it',
        required: true,
      },
      verified: { type: 'boolean', about: 'It was restored on trial, and trilho audit found nothing' },
    },
    examples: ['trilho backup note --until 2026-11-16T04:00:00Z --source pgbackrest'],
    who: 'machine',
    runWith: async (input, reach) => (await load()).backupNote(input, reach),
  },
  {
    name: 'backup restore',
    takes: 'DIR',
    about: 'Make a data folder out of a backup',
    options: {
      to: { type: 'string', value: 'DATA_DIR', about: 'The new data folder', required: true },
      yes: { type: 'boolean', about: 'Also while a service runs on DATA_DIR: to look at it only' },
    },
    examples: ['SECRET_KEY_FILE=/safe/secret.key trilho backup restore /backups/2026-11-16 --to ./restored'],
    who: 'machine',
    run: async (input) => (await load()).backupRestore(input),
  },
]
