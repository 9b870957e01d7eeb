import { appendFileSync } from 'node:fs'

/** Adds a line to the figures of the proof page that tools/prove.ts writes: what a suite did, and what it counted. */
export function noteFact(fact: string): void {
  if (process.env.PROOF_FILE) appendFileSync(process.env.PROOF_FILE, `${fact}\n`)
}

/** `3 done, 1 expired` */
export const countsIn = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
