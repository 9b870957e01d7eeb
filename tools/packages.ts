import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { packWheel, wheelName } from './pack-wheel.ts'
import { compileSdk } from './sdk-dist.mjs'
import { holdSame, packTarball, type TarEntry } from './tarball.ts'

/** The packages that partners install from `/docs`: one file per package and version, which never changes once released. */
export const root = fileURLToPath(new URL('../', import.meta.url))

export type Package = { readonly name: string; readonly content: Buffer }

/** The files of a version. Without a date the version is not released, and its files follow the sources. */
export type Release = {
  readonly date: string | null
  /** The integrity of each file, as npm writes it into lock files. */
  readonly files: Readonly<Record<string, string>>
}

export const released = (name = ''): string => join(root, 'released', name)
export const RELEASES = released('releases.json')

export const isPackage = (name: string): boolean => /\.(tgz|whl)$/.test(name)

export const readReleases = (): Readonly<Record<string, Release>> =>
  existsSync(RELEASES) ? JSON.parse(readFileSync(RELEASES, 'utf8')) : {}

export const integrityOf = (content: Buffer): string =>
  `sha512-${createHash('sha512').update(content).digest('base64')}`

export const versionNow = (): string => JSON.parse(read('package.json').toString()).version

const read = (path: string): Buffer => readFileSync(join(root, path))

const entry = (name: string, from: string): TarEntry => ({ name, content: read(from) })

/** The SDK: its sources compiled as ES modules and for CommonJS. */
export function packSdk(): Buffer {
  compileSdk()
  const modules = readdirSync(join(root, 'sdk/src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) =>
      ['.js', '.d.ts', '.cjs', '.d.cts'].map((ending) => {
        const folder = ending.endsWith('cjs') || ending.endsWith('cts') ? 'dist/cjs' : 'dist'
        return `${folder}/${path.replace(/\.ts$/, ending)}`
      }),
    )
  const own = ['package.json', 'README.md', 'CHANGELOG.md', ...modules].toSorted()
  return packTarball([...own.map((name) => entry(name, `sdk/${name}`)), entry('LICENSE', 'LICENSE')])
}

/** The command line of partners, with the SDK in it; it imports nothing but Node's own modules. */
export async function packCli(): Promise<Buffer> {
  compileSdk()
  const bundle = await rolldown({
    input: { trilho: join(root, 'src/cli/partner-trilho.ts') },
    platform: 'node',
  })
  const { output } = await bundle.generate({ format: 'esm', chunkFileNames: '[name].js' })
  await bundle.close()
  const programs = output.flatMap((file) => (file.type === 'chunk' ? [file] : []))
  const foreign = programs.flatMap(({ imports }) =>
    imports.filter(
      (name) => !name.startsWith('node:') && !programs.some(({ fileName }) => fileName === name),
    ),
  )
  if (foreign.length > 0) throw new Error(`the command line imports ${foreign.join(', ')}`)
  return packTarball([
    ...['README.md', 'package.json'].map((name) => entry(name, `cli/${name}`)),
    // In the second folder, from which version.ts finds package.json.
    ...programs
      .toSorted((one, other) => (one.fileName < other.fileName ? -1 : 1))
      .map(({ fileName, code, isEntry }) => ({
        name: `dist/bin/${fileName}`,
        content: Buffer.from(isEntry ? `#!/usr/bin/env node\n${code}` : code),
      })),
    entry('LICENSE', 'LICENSE'),
  ])
}

export type Current = {
  readonly version: string
  readonly release: Release | undefined
  /** Packed from the sources; the stored bytes where the content is the same. */
  readonly packages: readonly Package[]
  /** Files of this version that are not stored, or with another content. */
  readonly differ: readonly string[]
}

/** The packages of the version that the sources have. */
export async function packCurrent(): Promise<Current> {
  const version = versionNow()
  const packed = [
    { name: `trilho-sdk-${version}.tgz`, content: packSdk() },
    { name: `trilho-cli-${version}.tgz`, content: await packCli() },
    { name: wheelName, content: packWheel() },
  ]
  const stored = packed.map(({ name }) => (existsSync(released(name)) ? readFileSync(released(name)) : null))
  const isSame = packed.map(
    ({ content }, i) => stored[i] != null && holdSame(packed[i]!.name, content, stored[i]),
  )
  return {
    version,
    release: readReleases()[version],
    packages: packed.map(({ name, content }, i) => ({ name, content: isSame[i] ? stored[i]! : content })),
    differ: packed.filter((_, i) => !isSame[i]).map(({ name }) => name),
  }
}

/** Every package that a server of this version serves: all stored files, and those of an unreleased version from the sources. */
export async function packagesToServe(): Promise<Package[]> {
  const { release, packages } = await packCurrent()
  const stored = readdirSync(released())
    .filter(isPackage)
    .map((name) => ({ name, content: readFileSync(released(name)) }))
  if (release?.date) return stored
  const names = packages.map(({ name }) => name)
  return [...stored.filter(({ name }) => !names.includes(name)), ...packages]
}
