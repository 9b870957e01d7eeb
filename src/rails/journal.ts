import { appendFileSync, readFileSync } from 'node:fs'

/**
 * The orders that a simulated rail received. Kept in memory; with a file they survive the process and several processes share
 * them: tests read there whether an order was sent twice.
 */
export type Journal = {
  add(id: string, order: unknown): void
  has(id: string): boolean
}

const KEPT = 100_000

export function openJournal(file: string | undefined): Journal {
  const seen = new Set<string>()
  return {
    add(id, order) {
      if (seen.size >= KEPT) seen.clear()
      seen.add(id)
      if (file) appendFileSync(file, `${JSON.stringify({ id, order }, bigintText)}\n`)
    },
    has(id) {
      return seen.has(id) || (file !== undefined && read(file).includes(`{"id":"${id}"`))
    },
  }
}

const bigintText = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
