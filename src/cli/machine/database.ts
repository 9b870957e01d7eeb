import { readFile } from 'node:fs/promises'
import { parseAddress, withoutPasswords } from '../../db/address.ts'
import { describeSuperseded, readSuperseded, unmarkSuperseded } from '../../db/embedded/superseded.ts'
import { secretKeyFile } from '../../db/open.ts'
import { renderAudit } from '../../node/audit-database.ts'
import { copyDatabase } from '../../node/database-copy/copy.ts'
import { type Input, type Output, option, UsageError } from '../command.ts'
import { exit } from '../exit.ts'
import { watched } from '../progress.ts'

export async function databaseCopy(input: Input): Promise<Output> {
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
From now on start the service with these, and with the same SECRET_KEY: passwords and secrets depend on it.

${lines.join('')}
No service starts on ${config.data_dir} any more: it would send the same payouts and webhooks a second time. Keep the folder as a backup.
`,
    exit_code: ok ? exit.done : exit.refused,
  }
}

export async function databaseUnmark(input: Input): Promise<Output> {
  const { data_dir } = input.config
  const mark = await readSuperseded(data_dir)
  if (!mark)
    return {
      json: { data_dir, unmarked: false },
      text: `A service may start on ${data_dir}: the folder is not marked as copied or replaced.\n`,
    }
  if (input.options.yes !== true)
    throw new UsageError(
      `No service starts on ${data_dir}, because ${describeSuperseded(mark)}. If both ran, payouts would be sent twice. If the other service will never run again, give --yes.`,
    )
  await unmarkSuperseded(data_dir)
  return {
    json: { data_dir, unmarked: true, was: mark },
    text: `A service may start on ${data_dir} again. It was refused because ${describeSuperseded(mark)}. Payouts that the other service sent since then are unknown here: compare with your rails first.\n`,
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
