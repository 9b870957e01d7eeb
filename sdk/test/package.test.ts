import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { someCpf, startTestService } from '../../test/support/service.ts'
import { packCli, packSdk } from '../../tools/packages.ts'
import * as sdk from '../dist/index.js'
import * as webhooks from '../dist/webhooks.js'
import { installSdk } from './support/install.ts'

let folder: string
beforeAll(() => {
  folder = installSdk()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const manifest = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))

describe('the packed file', () => {
  test('has the version of the server, no dependencies, and the same bytes each time', async () => {
    expect(manifest('../package.json').version).toBe(manifest('../../package.json').version)
    expect(manifest('../package.json').dependencies).toBeUndefined()
    expect(packSdk().equals(packSdk())).toBe(true)
    expect(manifest('../../cli/package.json').version).toBe(manifest('../../package.json').version)
    expect(manifest('../../cli/package.json').dependencies).toBeUndefined()
    expect((await packCli()).equals(await packCli())).toBe(true)
    expect((await packCli()).length).toBeLessThan(60_000)
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

  test.each([
    ['an ES module', 'program.mjs', (name: string) => `const found = await import('${name}')`],
    ['CommonJS', 'program.cjs', (name: string) => `const found = require('${name}')`],
  ])('is loaded by %s, with all its exports and no effect', async (_, file, load) => {
    for (const name of ['@trilho/sdk', '@trilho/sdk/webhooks']) {
      const script = join(folder, file)
      const before = 'const before = Object.getOwnPropertyNames(globalThis).join()'
      const after =
        'console.log(Object.keys(found).filter((name) => !/^(default|module.exports)$/.test(name)).sort().join(), before === Object.getOwnPropertyNames(globalThis).join())'
      writeFileSync(script, `${before}\n${load(name)}\n${after}\n`)
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [script])
      const exported = Object.keys(name.endsWith('webhooks') ? webhooks : sdk).toSorted()
      expect([stdout, stderr]).toEqual([`${exported.join()} true\n`, ''])
    }
  })

  test('is what publint and Are the types wrong want, for ES modules, CommonJS and older resolution', async () => {
    const { messages } = await publint({ pkgDir: join(folder, 'node_modules/@trilho/sdk'), strict: true })
    expect(messages).toEqual([])
    const checked = await checkPackage(createPackageFromTarballData(packSdk()))
    expect('problems' in checked ? checked.problems : []).toEqual([])
    expect(checked.types).toMatchObject({ kind: 'included' })
  })
})

describe('its size, bundled and compressed', () => {
  test.each([
    ['everything', 'export * from "@trilho/sdk"', 11_264],
    ['the client alone', 'export { Trilho } from "@trilho/sdk"', 7680],
    ['isPixKey alone', 'export { isPixKey } from "@trilho/sdk"', 1024],
    ['webhooks', 'export * from "@trilho/sdk/webhooks"', 1536],
  ])('%s: at most so many bytes', async (name, code, most) => {
    const input = join(folder, `${name.replaceAll(' ', '-')}.js`)
    writeFileSync(input, code)
    const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' })
    const { output } = await bundle.generate({ minify: true })
    expect(output).toHaveLength(1)
    expect(gzipSync(output[0].code, { level: 9 }).length).toBeLessThanOrEqual(most)
  })
})
