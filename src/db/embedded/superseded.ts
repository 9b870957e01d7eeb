import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfThere, writePrivately } from './files.ts'

/**
 * A mark in a data folder whose database lives on somewhere else. A service started on the folder would send payouts that
 * the other service sends too, so a start is refused (decision 0036). Commands that only read the folder still work.
 */
type SupersededMark = {
  /** `copied` by `database copy`; `restored`: a backup of it was restored; `looked_at`: it is a restored copy, for reading. */
  readonly how: 'copied' | 'restored' | 'looked_at'
  readonly at: string
  /** Where the database lives on: an address without its password, or a folder. */
  readonly to: string
}

export class DataDirSuperseded extends Error {
  override name = 'DataDirSuperseded'
}

export const SUPERSEDED = 'superseded.json'

export async function supersede(data_dir: string, mark: Omit<SupersededMark, 'at'>): Promise<void> {
  const text = JSON.stringify({ ...mark, at: new Date().toISOString() }, null, 1)
  await writePrivately(join(data_dir, SUPERSEDED), `${text}\n`)
}

export async function readSuperseded(data_dir: string): Promise<SupersededMark | undefined> {
  const text = await readIfThere(join(data_dir, SUPERSEDED))
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // Somebody edited the file. A refused start is safe, a second service is not.
    return { how: 'copied', at: 'an unknown time', to: 'an unknown place' }
  }
}

export const unmarkSuperseded = (data_dir: string): Promise<void> =>
  rm(join(data_dir, SUPERSEDED), { force: true })

export async function assertNotSuperseded(data_dir: string): Promise<void> {
  const mark = await readSuperseded(data_dir)
  if (!mark) return
  throw new DataDirSuperseded(
    `No service may start on ${data_dir}: ${describeSuperseded(mark)}. Two services would send the same payouts. ` +
      'If the other one will never run again, and you know which payouts it sent: trilho database unmark --yes',
  )
}

export function describeSuperseded({ how, at, to }: SupersededMark): string {
  if (how === 'copied') return `its database was copied to ${to} at ${at}`
  if (how === 'restored') return `a backup of its database was restored into ${to} at ${at}`
  return `it was restored at ${at} to look at only, while a service ran on ${to}`
}
