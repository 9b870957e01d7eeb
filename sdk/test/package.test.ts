import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { someCpf, startTestService } from '../../test/support/service.ts'
import { packSdk } from '../../tools/packages.ts'
import { installSdk } from './support/install.ts'

let folder: string
beforeAll(() => {
  folder = installSdk()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const manifest = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))

describe('the packed file', () => {
  test('has the version of the server, no dependencies, and the same bytes each time', () => {
    expect(manifest('../package.json').version).toBe(manifest('../../package.json').version)
    expect(manifest('../package.json').dependencies).toBeUndefined()
    expect(packSdk().equals(packSdk())).toBe(true)
  })

  test('works where it is installed', async () => {
    const service = await startTestService()
    try {
      const script = join(folder, 'everything.mjs')
      copyFileSync(new URL('runtimes/everything.mjs', import.meta.url), script)
      const { key } = await service.partner()
      const { stdout } = await promisify(execFile)(process.execPath, [script], {
        env: { TRILHO_URL: service.url, TRILHO_KEY: key, CPF: someCpf() },
      })
      expect(stdout).toBe('passed\n')
    } finally {
      await service.stop()
    }
  })

  test('is what publint and Are the types wrong want of a package of modules', async () => {
    const { messages } = await publint({ pkgDir: join(folder, 'node_modules/@trilho/sdk'), strict: true })
    expect(messages).toEqual([])
    const checked = await checkPackage(createPackageFromTarballData(packSdk()))
    // From CommonJS it is to be had by `import()` alone, and older resolution does not read `exports`.
    const judged = (kind: string | undefined) => kind !== 'node10' && kind !== 'node16-cjs'
    const problems = 'problems' in checked ? checked.problems : []
    expect(
      problems.filter((each) => judged('resolutionKind' in each ? each.resolutionKind : undefined)),
    ).toEqual([])
    expect(checked.types).toMatchObject({ kind: 'included' })
  })
})

describe('its size, bundled and compressed', () => {
  test.each([
    ['index', 8192],
    ['webhooks', 1536],
  ])('%s: at most %i bytes', async (entry, most) => {
    const input = fileURLToPath(new URL(`../dist/${entry}.js`, import.meta.url))
    const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' })
    const { output } = await bundle.generate({ minify: true })
    expect(output).toHaveLength(1)
    expect(gzipSync(output[0].code, { level: 9 }).length).toBeLessThanOrEqual(most)
  })
})
