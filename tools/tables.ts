import { sharedGrants, tablePurposes, worldGrants } from '../src/db/grants.ts'

/** The table "What is stored where" of ARCHITECTURE.md, from src/db/grants.ts. */
const BLOCK = /(<!-- tables: [^\n]* -->\n)[\s\S]*?(<!-- end of tables -->)/

/** Replaces the block between the two markers of the page. */
export function fillTables(page: string): string {
  const tables = `${render('`live` and `sandbox`', worldGrants)}\n\n${render('`shared`', sharedGrants)}`
  for (const name of Object.keys(tablePurposes))
    if (!(name in worldGrants || name in sharedGrants))
      throw new Error(`src/db/grants.ts: a purpose for ${name}, which is not a table`)
  if (!BLOCK.test(page)) throw new Error('ARCHITECTURE.md has no markers around its tables')
  return page.replace(BLOCK, (_, start, end) => `${start}\n${tables}\n\n${end}`)
}

function render(schema: string, grants: Readonly<Record<string, string>>): string {
  const rows = new Map<string, string[]>()
  for (const [name, rights] of Object.entries(grants)) {
    const purpose = tablePurposes[name]
    if (purpose === undefined) throw new Error(`src/db/grants.ts: no purpose for the table ${name}`)
    const rest = `${purpose} | ${wordsOf(rights)}`
    rows.set(rest, [...(rows.get(rest) ?? []), `\`${name}\``])
  }
  const lines = [...rows].map(([rest, names]) => `| ${names.join(', ')} | ${rest} |`)
  return [`| Table, in ${schema} | Holds | The service may |`, '|---|---|---|', ...lines].join('\n')
}

const words: Readonly<Record<string, string>> = { INSERT: 'add', UPDATE: 'change', DELETE: 'remove' }

/** `SELECT, INSERT` is "add": every table may be read. */
function wordsOf(rights: string): string {
  const changes = rights.split(', ').filter((right) => right !== 'SELECT')
  return changes.length === 0 ? 'read' : changes.map((right) => words[right]).join(', ')
}
