import { gunzipSync, gzipSync } from 'node:zlib'

/** Packs files as npm does. The same files give the same bytes, because npm stores the hash of a package in lock files. */
export type TarEntry = { readonly name: string; readonly content: Buffer }

export function packTarball(entries: readonly TarEntry[]): Buffer {
  const tar = Buffer.concat([...entries.flatMap(recordsOf), Buffer.alloc(2 * BLOCK)])
  const gzip = gzipSync(tar, { level: 9 })
  gzip[9] = 255 // the operating system: unknown
  return gzip
}

/** Whether two packages hold the same files. Another version of zlib may compress them to other bytes. */
export const holdSame = (name: string, one: Buffer, other: Buffer): boolean =>
  name.endsWith('.tgz') ? gunzipSync(one).equals(gunzipSync(other)) : one.equals(other)

const BLOCK = 512
/** The fixed modification time that npm gives every file of a package. */
const MTIME = Date.UTC(1985, 9, 26, 8, 15) / 1000

/** A file in ustar format: a fixed-layout header, then the bytes padded to whole blocks. */
function recordsOf({ name, content }: TarEntry): Buffer[] {
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
