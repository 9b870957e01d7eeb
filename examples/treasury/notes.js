import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'

/** What a run has to know after a crash, in a file that is always whole: the old one, or the new one. */
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
    const file = openSync(`${this.#path}.new`, 'w')
    writeSync(file, `${JSON.stringify(next)}\n`)
    fsyncSync(file)
    closeSync(file)
    renameSync(`${this.#path}.new`, this.#path)
    this.known = next
  }
}
