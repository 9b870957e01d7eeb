import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/**
 * Lets one process at a time on this machine go on: each has a file that ends in its pid, and that of one that is gone counts
 * for nothing. It is made before looking for others, so of two that start together one goes on, or none.
 * @param {string} path
 * @returns the pid of another, if there is one
 */
export function lock(path) {
  const own = `${path}.${process.pid}`
  writeFileSync(own, '')
  process.once('exit', () => rmSync(own, { force: true }))
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(`${basename(path)}.`)) continue
    const pid = Number(name.slice(basename(path).length + 1))
    if (pid === process.pid || !Number.isInteger(pid)) continue
    if (isRunning(pid)) return pid
    rmSync(`${path}.${pid}`, { force: true })
  }
  return undefined
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Not permitted means that there is one, of somebody else.
    return /** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH'
  }
}
