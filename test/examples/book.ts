import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Api } from '../support/api.ts'
import { start } from './program.ts'

export type Entry = Record<string, string | number>

/** A partner's book as the program of the guide Reconcile reads it. */
export async function reconcile(
  book: readonly Entry[],
  partner: { readonly url: string; readonly key: string; readonly folder: string },
): Promise<{ code: number | NodeJS.Signals; printed: string[] }> {
  const path = join(partner.folder, 'book.jsonl')
  writeFileSync(path, book.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  const program = start('reconcile/reconcile.js', {
    args: ['--book', path],
    env: { TRILHO_URL: partner.url, TRILHO_KEY: partner.key },
    cwd: partner.folder,
  })
  const code = await program.ended
  return { code, printed: program.printed().trimEnd().split('\n') }
}

export const entriesIn = (jsonl: string): Entry[] =>
  jsonl
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** The money that came in, as a partner books it. */
export async function depositsOf(api: Api): Promise<Entry[]> {
  const { data } = (await api.get('/v1/deposits?limit=100')).json
  return data.map(({ id, customer_id, asset, amount }: Entry) => ({
    kind: 'deposit',
    id,
    customer_id,
    asset,
    amount,
  }))
}
