import { asAdmin } from '../support/database.ts'

/** A secret and every spelling of it that could leak: raw, hex, base64 at each offset. */
export function spellingsOf(bytes: Buffer): string[] {
  const hex = bytes.toString('hex')
  const base64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    // The first and the last characters depend on what stands around the secret.
    return text.slice(Math.ceil((offset * 8) / 6), -4)
  })
  return [
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/** Both the bytes of a secret, and the text that it is written as. */
export const spellingsOfText = (text: string): string[] => [text, ...spellingsOf(Buffer.from(text))]

/** All rows of all tables, as text. */
export const dumpTables = (database_url: string): Promise<string> =>
  dumpTablesWith((statement) => asAdmin(database_url, [statement]))

export async function dumpTablesWith(
  ask: (statement: string) => Promise<readonly Record<string, unknown>[]>,
): Promise<string> {
  const tables = await ask(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('live', 'sandbox', 'shared')`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const rows = await ask(`SELECT t::text AS line FROM ${name} t`)
    texts.push(...rows.map(({ line }) => String(line)))
  }
  return texts.join('\n')
}
