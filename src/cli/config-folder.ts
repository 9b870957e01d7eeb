import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The folder for the user's own configuration, as XDG defines it. */
export function configFolder(env: Readonly<Record<string, string | undefined>>): string {
  const { XDG_CONFIG_HOME: given, HOME: home = homedir() } = env
  if (given && isAbsolute(given)) return given
  if (isAbsolute(home)) return join(home, '.config')
  throw new Error(
    `HOME is ${home === '' ? 'empty' : `${home}, which is not an absolute path`}, so there is no folder for your session. Set HOME to your home folder, or XDG_CONFIG_HOME to a folder of yours.`,
  )
}
