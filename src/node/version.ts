import { readFileSync } from 'node:fs'

/** One place says which version this is: package.json. */
export const version: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version
