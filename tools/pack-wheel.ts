import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'

/**
 * Packs the Python package as a wheel, for `pip install …/docs/trilho-VERSION-py3-none-any.whl`. The same sources give the same
 * bytes on every machine, because lock files store the hash of a wheel: nothing is compressed, and no time is stored.
 */
const root = fileURLToPath(new URL('../', import.meta.url))

type Entry = { readonly name: string; readonly content: Buffer }

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
export const wheelName = `trilho-${version}-py3-none-any.whl`

export function packWheel(): Buffer {
  const info = `trilho-${version}.dist-info`
  const modules = readdirSync(join(root, 'python/trilho'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.py$|py\.typed$/.test(path))
    .sort()
  const files: Entry[] = [
    ...modules.map((path) => ({
      name: `trilho/${path.replaceAll('\\', '/')}`,
      content: readFileSync(join(root, 'python/trilho', path)),
    })),
    { name: `${info}/LICENSE`, content: readFileSync(join(root, 'LICENSE')) },
    { name: `${info}/METADATA`, content: Buffer.from(metadata()) },
    { name: `${info}/WHEEL`, content: Buffer.from(WHEEL) },
  ]
  const record = `${info}/RECORD`
  const rows = files.map(({ name, content }) => `${name},sha256=${digestOf(content)},${content.length}\n`)
  return zip([...files, { name: record, content: Buffer.from(`${rows.join('')}${record},,\n`) }])
}

const WHEEL = `Wheel-Version: 1.0
Generator: trilho
Root-Is-Purelib: true
Tag: py3-none-any
`

const metadata = () => `Metadata-Version: 2.1
Name: trilho
Version: ${version}
Summary: Client of a Trilho server: Pix payouts, on-chain transfers, conversions, events and webhooks
License: Apache-2.0
Requires-Python: >=3.9
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

${readFileSync(join(root, 'python/README.md'), 'utf8')}`

const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('base64url')

/** 1 January 1980, the first day that a zip file can store. */
const DOS_DATE = 0x0021
/** A plain file, readable by all. */
const MODE = 0o100644

/** A zip file without compression: an entry is a header and the bytes, and the directory at the end repeats the headers. */
function zip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0) // version needed
    fields.writeUInt16LE(DOS_DATE, 8)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(content.length, 14)
    fields.writeUInt32LE(content.length, 18)
    fields.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), content])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(MODE * 0x10000, 6)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), fields, rest, Buffer.from(name))
    parts.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries.length, 4)
  end.writeUInt16LE(entries.length, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, central, Buffer.from('PK\x05\x06'), end])
}
