import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { html } from './html.ts'
import { PLACEHOLDER } from './placeholders.ts'

/** A file ready to be sent; compressed unless its format is already compressed. */
export type PreparedFile = {
  readonly type: string
  readonly etag: string
  readonly body: Buffer
  readonly zipped: boolean
  /** The uncompressed body. It is unpacked once: all clients that do not accept gzip share it, however slowly they read. */
  readonly plain: () => Buffer
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
  '.xml': 'application/atom+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.http': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.tgz': 'application/gzip',
}

/** The folder of the built docs: beside the compiled code, or in dist when this runs from source. */
const folders = ['../../docs/', '../../../dist/docs/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

/** The built docs with the address of this server filled in. Each file is prepared on its first request. */
export type BuiltDocs = {
  has(name: string): boolean
  /** The file of the newest version of a package that partners install, such as trilho-sdk. */
  newest(name: string): string | undefined
  ready(name: string): PreparedFile
  /** The text of a page that is filled in for each request, such as the search page. */
  text(name: string): string
}

/** `public_url` is called at the first request: only a listening server knows its own address. */
export function openBuiltDocs(public_url: () => string): BuiltDocs | undefined {
  const folder = folders.find((path) => existsSync(join(path, 'index.html.gz')))
  if (folder === undefined) return undefined
  const names = new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
      name.replaceAll('\\', '/').replace(/\.gz$/, ''),
    ),
  )
  const kept = new Map<string, PreparedFile>()
  return {
    has: (name) => extname(name) !== '' && names.has(name),
    newest: (name) => newestPackage(name, [...names]),
    ready,
    text,
  }

  function ready(name: string): PreparedFile {
    const known = kept.get(name) ?? read(name)
    kept.set(name, known)
    return known
  }

  function text(name: string): string {
    return ready(name).plain().toString()
  }

  function read(name: string): PreparedFile {
    const ending = extname(name)
    const type = types[ending] ?? 'application/octet-stream'
    const zipped = existsSync(join(folder!, `${name}.gz`))
    const built = readFileSync(join(folder!, zipped ? `${name}.gz` : name))
    const body = zipped ? filled(built, ['.html', '.xml'].includes(ending)) : built
    return prepared(type, body, zipped)
  }

  /** Returns the file unchanged if it does not contain the placeholder address, or if the placeholder is the address. */
  function filled(built: Buffer, markup: boolean): Buffer {
    const address = public_url()
    if (address === PLACEHOLDER) return built
    const page = gunzipSync(built).toString()
    if (!page.includes(PLACEHOLDER)) return built
    return gzipSync(page.replaceAll(PLACEHOLDER, () => (markup ? html`${address}`.html : address)))
  }
}

/** A package of one version: trilho-sdk-0.1.0.tgz. */
const packaged = /^(?<name>trilho-[a-z]+)-(?<version>\d+\.\d+\.\d+)\.tgz$/

const wheel = /^trilho-\d+\.\d+\.\d+-py3-none-any\.whl$/

/** Whether a file is a package of one version, which never changes. */
export const isVersioned = (name: string): boolean => packaged.test(name) || wheel.test(name)

export function newestPackage(name: string, files: readonly string[]): string | undefined {
  const versionOf = (file: string) => packaged.exec(file)!.groups!.version!.split('.').map(Number)
  const [newest] = files
    .filter((file) => packaged.exec(file)?.groups?.name === name)
    .toSorted((one, other) => compareVersions(versionOf(other), versionOf(one)))
  return newest
}

const compareVersions = (one: readonly number[], other: readonly number[]): number => {
  const place = one.findIndex((part, i) => part !== other[i])
  return place < 0 ? 0 : one[place]! - other[place]!
}

/** A JSON document made by this server, in the form of the built files. */
export function readyJson(value: unknown): PreparedFile {
  return prepared(types['.json']!, gzipSync(JSON.stringify(value)), true)
}

function prepared(type: string, body: Buffer, zipped: boolean): PreparedFile {
  let plain: Buffer | undefined
  return {
    ...{ type, body, zipped, etag: etagOf(body) },
    plain: () => (plain ??= zipped ? gunzipSync(body) : body),
  }
}

const etagOf = (body: Buffer) => createHash('sha256').update(body).digest('base64url').slice(0, 22)
