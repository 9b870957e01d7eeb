import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync, inflateSync } from 'node:zlib'

/**
 * Reduces the screenshots of all pages to 64 colours and writes them to docs/screenshots, small enough for the repository. The
 * screenshots come from: SCREENSHOTS=/tmp/pictures npx vitest run test/browser/pages.test.ts && npm run pictures --
 * /tmp/pictures
 */
const COLOURS = 64
/** How many of the most frequent colours are candidates for the palette. */
const CONSIDERED = 400

type Picture = { readonly width: number; readonly height: number; readonly pixels: Uint32Array }

/** Decodes a PNG as browsers write it: eight bits, three or four channels, not interlaced. */
function decode(png: Buffer): Picture {
  const width = png.readUInt32BE(16)
  const height = png.readUInt32BE(20)
  const channels = png[25] === 6 ? 4 : 3
  const parts: Buffer[] = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  return { width, height, pixels: unfilter(inflateSync(Buffer.concat(parts)), { width, height, channels }) }
}

type Form = { readonly width: number; readonly height: number; readonly channels: number }

function unfilter(raw: Buffer, { width, height, channels }: Form): Uint32Array {
  const stride = width * channels
  const pixels = new Uint32Array(width * height)
  let above = new Uint8Array(stride)
  for (let y = 0; y < height; y++) {
    const kind = raw[y * (stride + 1)]!
    const line = new Uint8Array(raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)))
    for (let i = 0; i < stride; i++) {
      const left = i < channels ? 0 : line[i - channels]!
      const corner = i < channels ? 0 : above[i - channels]!
      line[i] = line[i]! + predicted(kind, left, above[i]!, corner)
    }
    for (let x = 0; x < width; x++) {
      const at = x * channels
      pixels[y * width + x] = (line[at]! << 16) | (line[at + 1]! << 8) | line[at + 2]!
    }
    above = line
  }
  return pixels
}

function predicted(kind: number, left: number, up: number, corner: number): number {
  if (kind === 0) return 0
  if (kind === 1) return left
  if (kind === 2) return up
  if (kind === 3) return (left + up) >> 1
  const estimate = left + up - corner
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

/**
 * Half of the palette are the most frequent colours; the other half are those with the largest error otherwise, such as the few
 * pixels of an icon.
 */
function paletteOf(pixels: Uint32Array): {
  readonly palette: number[]
  readonly indexOf: Map<number, number>
} {
  const counts = new Map<number, number>()
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
  const ranked = [...counts].sort(([, a], [, b]) => b - a)
  const palette = ranked.slice(0, COLOURS / 2).map(([colour]) => colour)
  const missed = new Map(ranked.slice(COLOURS / 2, CONSIDERED))
  while (palette.length < COLOURS && missed.size > 0) {
    const cost = ([colour, count]: [number, number]) =>
      count * distanceOf(colour, palette[nearest(colour, palette)]!)
    const [most] = [...missed]
      .map((each) => [each[0], cost(each)] as const)
      .reduce((a, b) => (b[1] > a[1] ? b : a))
    palette.push(most)
    missed.delete(most)
  }
  const indexOf = new Map(palette.map((colour, index) => [colour, index]))
  for (const [colour] of ranked) if (!indexOf.has(colour)) indexOf.set(colour, nearest(colour, palette))
  return { palette, indexOf }
}

function distanceOf(one: number, other: number): number {
  const far = (shift: number) => (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2
  return 2 * far(16) + 4 * far(8) + far(0)
}

function nearest(colour: number, palette: readonly number[]): number {
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (const [index, other] of palette.entries()) {
    const distance = distanceOf(colour, other)
    if (distance < least) [best, least] = [index, distance]
  }
  return best
}

function encode({ width, height, pixels }: Picture): Buffer {
  const { palette, indexOf } = paletteOf(pixels)
  const raw = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) raw[y * (width + 1) + 1 + x] = indexOf.get(pixels[y * width + x]!)!
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(raw, { level: 9 })),
  ]
  return Buffer.concat([signature, ...chunks, chunk('IEND', Buffer.alloc(0))])
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

const [from, to = 'docs/screenshots'] = process.argv.slice(2)
if (from === undefined) throw new Error('Say where the pictures are: npm run pictures -- FOLDER')
rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
let bytes = 0
for (const name of readdirSync(from).filter((each) => each.endsWith('.png'))) {
  const small = encode(decode(readFileSync(join(from, name))))
  writeFileSync(join(to, name), small)
  bytes += small.length
}
console.log(`${(bytes / 1e6).toFixed(1)} MB in ${to}`)
