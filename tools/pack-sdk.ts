import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/**
 * Packs the built SDK as npm does, for `npm install …/docs/trilho-sdk.tgz`. The same sources give the same bytes, because npm
 * stores the hash of the package in the lock file of each user.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const packed = join(root, 'dist/docs/trilho-sdk.tgz')

type Entry = { readonly name: string; readonly content: Buffer }

export function packSdk(): Buffer {
  const modules = readdirSync(join(root, 'sdk/src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => ['.js', '.d.ts'].map((ending) => `dist/${path.replace(/\.ts$/, ending)}`))
  const read = (name: string, from = `sdk/${name}`): Entry => ({
    name,
    content: readFileSync(join(root, from)),
  })
  const entries = [
    ...['package.json', 'README.md', 'CHANGELOG.md', ...modules.sort()].map((name) => read(name)),
    read('LICENSE', 'LICENSE'),
  ]
  const tar = Buffer.concat([...entries.flatMap(recordsOf), Buffer.alloc(2 * BLOCK)])
  const gzip = gzipSync(tar, { level: 9 })
  gzip[9] = 255 // the operating system: unknown
  return gzip
}

const BLOCK = 512
/** The fixed modification time that npm gives every file of a package. */
const MTIME = Date.UTC(1985, 9, 26, 8, 15) / 1000

/** A file in ustar format: a fixed-layout header, then the bytes padded to whole blocks. */
function recordsOf({ name, content }: Entry): Buffer[] {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  const write = (at: number, text: string) => header.write(text, at, 'latin1')
  write(0, `package/${name}`)
  write(100, octal(0o644, 8))
  write(108, octal(0, 8))
  write(116, octal(0, 8))
  write(124, octal(content.length, 12))
  write(136, octal(MTIME, 12))
  write(148, '        ')
  write(156, '0')
  write(257, 'ustar\x0000')
  write(
    148,
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    ),
  )
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dirname(packed), { recursive: true })
  writeFileSync(packed, packSdk())
}
