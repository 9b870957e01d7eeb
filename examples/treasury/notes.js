import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What a run must remember after a crash. The file is always complete: the old version or the new one. */
export class Notes {
  #path

  /** @param {string} path */
  constructor(path) {
    this.#path = path
    /** @type {{ asked?: string, quote_id?: string | undefined, received?: string, amount?: string }} */
    this.known = {}
    try {
      this.known = JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
    }
  }

  /** @param {Notes['known']} more */
  save(more) {
    const next = { ...this.known, ...more }
    const path = `${this.#path}.new`
    writeFileSync(path, `${JSON.stringify(next)}\n`)
    sync(path)
    renameSync(path, this.#path)
    // A rename survives a crash only after its folder is synced.
    sync(dirname(path))
    this.known = next
  }
}

/** @param {string} path */
function sync(path) {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
