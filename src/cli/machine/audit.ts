import { shownDatabase } from '../../db/open.ts'
import { auditWorlds } from '../../node/audit-database.ts'
import type { World } from '../../world.ts'
import { environmentOption, type Input, type Output, type Reach, table } from '../command.ts'
import { exit } from '../exit.ts'
import { toJson } from '../print.ts'

export async function auditBooks(input: Input, { office, worlds }: Reach): Promise<Output> {
  const only = environmentOption(input)
  const chosen = Object.values(worlds as Record<string, World>).filter(
    (world) => only === undefined || world.environment === only,
  )
  input.io.progress('Proving the ledger from its entries …')
  const reports = await auditWorlds(chosen, office)
  input.io.progress('')
  const database = shownDatabase(input.config)
  if (input.format === 'table') input.io.stderr.write(`database: ${database}\n`)
  const ok = reports.every((report) => report.ok)
  const text = reports.map(({ environment, entries, customers, assets, findings }) => {
    const head = `${environment}: ${entries} entries, ${customers} customers, ${findings.length === 0 ? 'all checks hold' : `${findings.length} CHECKS FAIL`}\n`
    const sums = Object.entries(assets).flatMap(([asset, accounts]) =>
      Object.entries(accounts).map(([account, sum]) => ({ asset, account, sum })),
    )
    const wrong = findings.map(
      (f) =>
        `  ${f.check}: ${f.found} found\n${f.examples.map((example) => `    ${toJson(example)}\n`).join('')}`,
    )
    return head + (sums.length > 0 ? table(sums) : '') + wrong.join('')
  })
  return {
    json: {
      ok,
      database,
      environments: Object.fromEntries(reports.map(({ environment, ...report }) => [environment, report])),
    },
    text: text.join('\n'),
    exit_code: ok ? exit.done : exit.refused,
  }
}
