import { statfs } from 'node:fs/promises'
import type { DiskFacts } from '../../control/golive/facts.ts'
import { findOut } from './find-out.ts'

type DiskSpace = { readonly bavail: bigint; readonly blocks: bigint; readonly bsize: bigint }

/**
 * Reads how much room there is. A mount whose server is gone never answers, and occupies one of the few threads that read files: such a
 * path is not asked again before it answers.
 */
export function openDiskReader(
  read: (path: string) => Promise<DiskSpace> = (path) => statfs(path, { bigint: true }),
  ms?: number,
) {
  const under_way = new Map<string, Promise<DiskSpace>>()
  const readOnce = (path: string): Promise<DiskSpace> => {
    const asked = under_way.get(path) ?? read(path).finally(() => under_way.delete(path))
    under_way.set(path, asked)
    return asked
  }
  const spaceOf = async (path: string) => {
    try {
      const { bavail, blocks, bsize } = await readOnce(path)
      return { free: bavail * bsize, size: blocks * bsize }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** A path that does not exist on this machine is left out. */
  return async (paths: readonly string[]): Promise<DiskFacts[]> => {
    const found = await Promise.all(
      [...new Set(paths)].map(async (path) => ({ path, space: await findOut(() => spaceOf(path), ms) })),
    )
    return found.flatMap(({ path, space }): DiskFacts[] => {
      if (!('known' in space)) return [{ path, space }]
      return space.known === undefined ? [] : [{ path, space: { known: space.known } }]
    })
  }
}
