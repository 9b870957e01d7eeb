import { appendFileSync } from 'node:fs'

/** What a suite did and what it counted, in one line: the report of tools/prove.ts is made of these. */
export function noteFact(fact: string): void {
  if (process.env.PROOF_FILE) appendFileSync(process.env.PROOF_FILE, `${fact}\n`)
}
