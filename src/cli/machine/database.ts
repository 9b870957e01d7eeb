import { readFile } from 'node:fs/promises'
import { copyDatabase } from '../../database-copy/copy.ts'
import { parseAddress, withoutPasswords } from '../../db/address.ts'
import { secretKeyFile } from '../../db/open.ts'
import { renderAudit } from '../../node/audit-database.ts'
import { type Input, type Output, option, UsageError } from '../command.ts'
import { exit } from '../exit.ts'
import { watched } from '../progress.ts'

export async function copy(input: Input): Promise<Output> {
  const to = await targetOf(input)
  const { config } = input
  const { audit, tables, rows } = await watched(input.io, (onProgress) =>
    copyDatabase(config, to, onProgress),
  )
  const ok = audit.every((report) => report.ok)
  const settings = {
    DATABASE_URL: withoutPasswords(to),
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
    exit_code: ok ? exit.done : exit.refused,
  }
}

async function targetOf(input: Input): Promise<string> {
  const to = option(input, 'to')
  const file = option(input, 'to-file')
  if ((to === undefined) === (file === undefined)) throw new UsageError('Give either --to or --to-file.')
  const url = to ?? (await readFile(file!, 'utf8')).trim()
  try {
    parseAddress(url)
  } catch (error) {
    throw new UsageError(`--to ${(error as Error).message}.`)
  }
  return url
}
