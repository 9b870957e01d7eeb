import { chown, lchown, mkdtemp, readdir, stat, symlink } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { binariesPackage, copyBinaries, prepareBinaries } from './binaries.ts'
import { hasCode } from './files.ts'
import { clusterFolder } from './folder.ts'
import { NOBODY, type RunAs, run } from './process.ts'

/** The folders of the cluster and the programs, and the user that the programs run as. */
export type Installation = { data_dir: string; cluster: string; bin: string; run_as: RunAs }

type Log = (line: string) => void

export async function chooseInstallation(
  data_dir: string,
  wish: RunAs | undefined,
  log: Log,
): Promise<Installation> {
  const bin = await prepareBinaries(binariesPackage(), join(data_dir, 'postgres-bin'))
  const installation: Installation = { data_dir, cluster: await clusterFolder(data_dir), bin, run_as: 'self' }
  await mustRun(installation)
  if (process.getuid?.() === 0) return installationForRoot(installation, wish, log)
  const namespace: Installation = { ...installation, run_as: 'unshare' }
  return !hasName() && (await tryOut(namespace)).ok ? namespace : installation
}

async function installationForRoot(
  installation: Installation,
  wish: RunAs | undefined,
  log: Log,
): Promise<Installation> {
  if (process.platform !== 'linux') {
    throw new Error('PostgreSQL does not run as root. Start as another user, or set DATABASE_URL instead.')
  }
  const owner = await ownerOf(installation.cluster)
  if (owner !== undefined && owner !== NOBODY && owner !== 0) {
    throw new Error(
      `The data folder ${installation.data_dir} belongs to uid ${owner}. Start the server as that user.`,
    )
  }
  const namespace: Installation = { ...installation, run_as: 'unshare' }
  if (wish === 'unshare') return namespace
  if (wish === undefined && owner !== NOBODY && (await tryOut(namespace)).ok) return namespace
  return installationForNobody(installation, owner, log)
}

async function installationForNobody(
  installation: Installation,
  owner: number | undefined,
  log: Log,
): Promise<Installation> {
  const cluster = await clusterForNobody(installation, owner, log)
  const found: Installation = { ...installation, cluster, run_as: 'nobody' }
  if ((await tryOut(found)).ok) return found
  const copy_dir = join(dirname(cluster), 'postgres-bin')
  const copied: Installation = { ...found, bin: await copyBinaries(binariesPackage(), copy_dir) }
  await handOver(copy_dir)
  await mustRun(copied)
  return copied
}

/**
 * Without user namespaces, the files must belong to the user nobody and lie in a folder that this user may enter: in the
 * data folder, or, if the data folder is inside a private folder, elsewhere, with a link. Not in a temporary folder, where
 * the system deletes old files.
 */
async function clusterForNobody(
  installation: Installation,
  owner: number | undefined,
  log: Log,
): Promise<string> {
  const { data_dir, cluster } = installation
  if (!(await nobodyEnters('/'))) {
    throw new Error(
      'PostgreSQL does not run as root, and this process may neither make user namespaces nor change its ' +
        'user. Start as another user, or set DATABASE_URL instead.',
    )
  }
  if (owner === NOBODY) return cluster
  if (!(await nobodyEnters(dirname(cluster)))) {
    const at_home = dirname(cluster) === data_dir
    if (at_home && (await holdsOnlyOurs(data_dir)) && (await nobodyEnters(dirname(data_dir)))) {
      await chown(data_dir, NOBODY, NOBODY)
    } else if (at_home && owner === undefined) {
      return newHomeForNobody(data_dir, log)
    } else {
      throw new Error(
        'Without user namespaces (unshare failed), PostgreSQL runs as the user "nobody", which cannot enter ' +
          `${cluster}. Make namespaces available, move the data folder to a path that other users can enter, or ` +
          'start the server as another user that owns the data folder.',
      )
    }
  }
  if (owner === 0) await handOver(cluster)
  return cluster
}

async function nobodyEnters(folder: string): Promise<boolean> {
  return (await run('nobody', ['/bin/sh', '-c', 'cd "$1"', 'sh', folder])).ok
}

async function holdsOnlyOurs(data_dir: string): Promise<boolean> {
  const names = await readdir(data_dir)
  return names.every((name) => /^(lock|connection\.json|postgres)/.test(name))
}

async function newHomeForNobody(data_dir: string, log: Log): Promise<string> {
  const home = await mkdtemp('/var/lib/trilho-').catch((error) => {
    throw new Error(
      `PostgreSQL does not run as root, and other users cannot enter ${data_dir}: ${error.message}. ` +
        'Start as another user, choose another data folder, or set DATABASE_URL instead.',
    )
  })
  await chown(home, NOBODY, NOBODY)
  await symlink(join(home, 'postgres'), join(data_dir, 'postgres'))
  log(
    `database: the files are in ${home}, because PostgreSQL runs as the user "nobody", which cannot enter ${data_dir}`,
  )
  return join(home, 'postgres')
}

/** The folder itself is changed last: while it has its old owner, the next start repeats an interrupted change. */
async function handOver(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), NOBODY, NOBODY)
  }
  await lchown(folder, NOBODY, NOBODY)
}

export async function ownerOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).uid
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** initdb wants to know the name of its user, and in a container the uid may have none. */
function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

function tryOut(installation: Installation) {
  const script = 'cd "$1" && exec "$2" --version'
  const folder = dirname(installation.cluster)
  return run(installation.run_as, ['/bin/sh', '-c', script, 'sh', folder, join(installation.bin, 'postgres')])
}

async function mustRun(installation: Installation): Promise<void> {
  const { ok, how, output } = await tryOut(installation)
  if (ok) return
  throw new Error(
    `The bundled PostgreSQL does not run on this machine (${how}): ${output}\n` +
      'Set DATABASE_URL instead to use a PostgreSQL server of your own.',
  )
}
