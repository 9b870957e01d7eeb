import { mkdirSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The examples import `@trilho/sdk` by its name, as a partner's program does: here a link beside them leads to sdk/. */
const folder = fileURLToPath(new URL('../examples/node_modules/@trilho', import.meta.url))

mkdirSync(folder, { recursive: true })
try {
  symlinkSync('../../../sdk', `${folder}/sdk`, 'junction')
} catch (error) {
  if (error.code !== 'EEXIST') throw error
}
