import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const TMPFS = 0x01021994

/** A folder on a real disk for the data: commits to a memory file system would be measured too fast. */
export function realDisk(): string {
  const folder = [tmpdir(), '/var/tmp', process.cwd()].find((each) => {
    try {
      return statfsSync(each).type !== TMPFS
    } catch {
      return false
    }
  })
  if (folder === undefined) throw new Error('No folder on a disk was found: set TMPDIR to one.')
  return folder
}
