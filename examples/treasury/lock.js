import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/**
 * Lets one process at a time run on this machine. Each process has a file that ends in its pid; the file of a dead process is
 * ignored. A process creates its file before it looks for others, so of two that start together at most one continues.
 * @param {string} path
 * @returns the pid of another running process, if there is one
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
    // EPERM means that the process exists and belongs to another user.
    return /** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH'
  }
}
