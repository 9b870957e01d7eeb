import { check, DAY_MS, eachCheck, type GoliveCheck, known, says, span, unknown } from './check.ts'
import type { NotedBackup } from './facts.ts'

const BACKUP_MOST_MS = DAY_MS
const VERIFIED_MOST_MS = 7 * DAY_MS
const LAG_MOST_MS = 10_000
const GIGABYTE = 1_000_000_000n
const FREE_LEAST = 2n * GIGABYTE
/** One part in this many must be free. */
const FREE_PART = 10n

const backup_commands = ['trilho backup create /backups/DATE', 'trilho backup verify /backups/DATE']
const note_command = 'trilho backup note --until TIME --source TOOL'

const ageOf = (noted: NotedBackup, now: Date) => now.getTime() - noted.until.getTime()

export const databaseChecks: readonly GoliveCheck[] = [
  check({
    name: 'backup',
    area: 'database',
    about: 'There is a backup of the last day',
    says: {
      ok: { state: 'ok', found: '{source} holds everything until {until}, {age} ago.' },
      none: {
        state: 'red',
        found: 'No backup is noted.',
        to_do:
          'Take a backup every day, from cron. A backup of your own PostgreSQL is made by other tools: note it when it is complete.',
        commands: [...backup_commands, note_command],
      },
      old: {
        state: 'red',
        found: 'The newest backup, {source}, holds everything until {until}, {age} ago.',
        to_do: 'Find out why no backup was taken since, and take one.',
        commands: [...backup_commands, note_command],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ backup, now }) =>
      known(backup, ({ created }) => {
        if (!created) return says('none')
        const age = ageOf(created, now)
        const values = { source: created.source, until: created.until.toISOString(), age: span(age) }
        return says(age > BACKUP_MOST_MS ? 'old' : 'ok', values)
      }),
  }),
  check({
    name: 'backup_verified',
    area: 'database',
    about: 'A backup of the last week was restored and audited',
    says: {
      ok: { state: 'ok', found: '{source} was restored on trial; it holds everything until {until}.' },
      none: {
        state: 'red',
        found: 'No backup is noted as restored on trial.',
        to_do:
          'Verify a backup: it is restored into a temporary folder and audited. Note the trial of a backup that other tools made.',
        commands: [backup_commands[1]!, `${note_command} --verified`],
      },
      old: {
        state: 'red',
        found: 'The newest backup that was restored on trial, {source}, is {age} old.',
        to_do: 'Verify a younger backup.',
        commands: [backup_commands[1]!, `${note_command} --verified`],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ backup, now }) =>
      known(backup, ({ verified }) => {
        if (!verified) return says('none')
        const age = ageOf(verified, now)
        const values = { source: verified.source, until: verified.until.toISOString(), age: span(age) }
        return says(age > VERIFIED_MOST_MS ? 'old' : 'ok', values)
      }),
  }),
  check({
    name: 'standby',
    area: 'database',
    about: 'A standby has every commit',
    says: {
      ok: { state: 'ok', found: '{name} is a synchronous standby, {lag} behind.' },
      provider: {
        state: 'ok',
        found:
          'DATABASE_STANDBY says that the provider keeps a synchronous standby. The service cannot see it.',
      },
      embedded: {
        state: 'red',
        found: 'The embedded database has no standby: with its disk, payments since the backup are lost.',
        to_do:
          'Run a PostgreSQL of your own with a synchronous standby, and move the data (docs/operate/scaling.md, docs/operate/install.md).',
        commands: ['trilho database copy --to URL'],
      },
      none: {
        state: 'red',
        found: 'No standby is connected to the primary.',
        to_do:
          'Connect a synchronous standby (docs/operate/scaling.md). Set DATABASE_STANDBY to provider if your provider keeps one that is not visible.',
      },
      asynchronous: {
        state: 'red',
        found: '{name} is not synchronous: a fail-over loses the commits that it has not received.',
        to_do:
          'Name the standby in synchronous_standby_names, or let Patroni do it (docs/operate/scaling.md).',
      },
      behind: {
        state: 'red',
        found: '{name} is {lag} behind.',
        to_do: 'Check the network and the disk of the standby.',
      },
      hidden: {
        state: 'unknown',
        found: 'A standby is connected, and the database does not tell its state to this user.',
        to_do: 'Let the owner read the statistics of replication.',
        commands: ['GRANT pg_read_all_stats TO OWNER;'],
      },
      unknown: unknown('Run this command where DATABASE_URL names the owner, and make sure that it answers.'),
    },
    judge({ standby, settings }) {
      if (settings.database === 'embedded') return says('embedded')
      if (settings.has_provider_standby) return says('provider')
      return known(standby, ({ standbys }) => {
        const streaming = standbys.filter(({ state }) => state === 'streaming')
        const best = streaming.find((one) => one.is_synchronous) ?? streaming[0]
        if (!best) return says(standbys.some(({ state }) => state === null) ? 'hidden' : 'none')
        const values = { name: best.name, lag: span(best.lag_ms) }
        if (!best.is_synchronous) return says('asynchronous', values)
        return says(best.lag_ms > LAG_MOST_MS ? 'behind' : 'ok', values)
      })
    },
  }),
  check({
    name: 'database_tls',
    area: 'database',
    about: 'The way to the database is encrypted',
    says: {
      ok: { state: 'ok', found: 'The service verifies the certificate of the database.' },
      near: { state: 'ok', found: 'The database is on this machine.' },
      off: {
        state: 'red',
        found: 'The database is on another machine, and TLS is off.',
        to_do: 'Give the database a certificate, and remove DATABASE_TLS=off and sslmode=disable.',
      },
    },
    judge({ settings: { database, has_database_tls } }) {
      if (database !== 'other_machine') return says('near')
      return says(has_database_tls ? 'ok' : 'off')
    },
  }),
  eachCheck({
    name: 'disk',
    area: 'database',
    about: 'The disk has room',
    says: {
      ok: { state: 'ok', found: '{subject}: {free} GB of {size} GB are free.' },
      full: {
        state: 'red',
        found: '{subject}: {free} GB of {size} GB are free. At least 2 GB and a tenth are needed.',
        to_do: 'Remove old backups, or give the disk more room.',
      },
      unknown: unknown('Check the folder and its rights.', ['df -h {subject}']),
    },
    judgeEach: ({ disks }) =>
      disks.map(({ path: subject, space }) => ({
        subject,
        ...known(space, ({ free, size }) => {
          const values = { free: (free / GIGABYTE).toString(), size: (size / GIGABYTE).toString() }
          return says(free < FREE_LEAST || free * FREE_PART < size ? 'full' : 'ok', values)
        }),
      })),
  }),
]
