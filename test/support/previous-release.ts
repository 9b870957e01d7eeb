import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The commit that was released before this version. Its databases go on under this version, and its nodes work beside it. */
export const PREVIOUS_RELEASE = '8d5ef8f'
/** The one before that: its databases have more to migrate. */
export const RELEASE_BEFORE = '85445f9'

/** Why a test that needs it is skipped. */
export const NOT_HERE = `there is no commit ${PREVIOUS_RELEASE} here (a shallow clone, or no git): what needs the previous release is not tried`

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Unpacks these paths of the previous release into a folder. False where this clone has no history, or git is missing. */
export function unpackPreviousRelease(
  folder: string,
  paths: readonly string[],
  release = PREVIOUS_RELEASE,
): boolean {
  const { status, stdout } = spawnSync('git', ['archive', release, ...paths], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
  })
  if (status !== 0) return false
  execFileSync('tar', ['-x', '-C', folder], { input: stdout })
  return true
}
