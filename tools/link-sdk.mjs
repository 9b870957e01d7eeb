import { mkdirSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Links examples/node_modules/@trilho/sdk to sdk/, because the examples import the SDK by its package name, as partners do. */
const folder = fileURLToPath(new URL('../examples/node_modules/@trilho', import.meta.url))

mkdirSync(folder, { recursive: true })
try {
  symlinkSync('../../../sdk', `${folder}/sdk`, 'junction')
} catch (error) {
  if (error.code !== 'EEXIST') throw error
}
