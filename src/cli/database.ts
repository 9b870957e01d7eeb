import { readFile } from 'node:fs/promises'
import { type CliCommand, type Input, option, UsageError } from './command.ts'
import { watched } from './progress.ts'

export const databaseCommands: CliCommand[] = [
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
    async run(input) {
      const to = await targetOf(input)
      const { copyDatabase } = await import('../database-copy/copy.ts')
      const { renderAudit } = await import('../node/audit-database.ts')
      const { secretKeyFile } = await import('../db/open.ts')
      const { config } = input
      const { audit, tables, rows } = await watched((onProgress) => copyDatabase(config, to, onProgress))
      const ok = audit.every((report) => report.ok)
      const settings = {
        DATABASE_URL: withoutPassword(to),
        ...(config.secret_key ? {} : { SECRET_KEY_FILE: secretKeyFile(config.data_dir) }),
      }
      const lines = Object.entries(settings).map(([name, value]) => `  ${name}=${value}\n`)
      return {
        json: {
          ok,
          tables,
          rows,
          settings,
          environments: Object.fromEntries(audit.map(({ environment, ...report }) => [environment, report])),
        },
        text: `Copied ${rows} rows of ${tables} tables; counts and hashes of both sides agree.
${renderAudit(audit)}
From now on start the service with these, and with the same SECRET_KEY: passwords and secrets follow from it.

${lines.join('')}
Never start it on ${config.data_dir} again: it would send and deliver what the other one does. Keep the folder as a backup.
`,
        exit_code: ok ? 0 : 1,
      }
    },
  },
]

async function targetOf(input: Input): Promise<string> {
  const to = option(input, 'to')
  const file = option(input, 'to-file')
  if ((to === undefined) === (file === undefined)) throw new UsageError('Give either --to or --to-file.')
  const url = to ?? (await readFile(file!, 'utf8')).trim()
  try {
    const { parseAddress } = await import('../db/address.ts')
    parseAddress(url)
  } catch (error) {
    throw new UsageError(`--to ${(error as Error).message}.`)
  }
  return url
}

const withoutPassword = (url: string) => url.replace(/^(postgres(?:ql)?:\/\/[^:/@]*):[^@]*@/, '$1:********@')
