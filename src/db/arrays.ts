import assert from 'node:assert/strict'

/**
 * Arrays in PostgreSQL's binary format: a length before each element, and no quotes. In the text format every quote of a
 * JSON document would be escaped here and parsed again by the server.
 */
export type ElementType = keyof typeof elements

/** A buffer that is written from its start and grows as needed. */
type ByteWriter = { bytes: Buffer; end: number }

type Element = {
  /** OID of the element type in `pg_type`. */
  readonly oid: number
  /** Appends the element without its length prefix. */
  add(out: ByteWriter, value: never): void
}

const EPOCH_MS = Date.UTC(2000, 0, 1)
/** The most bytes that one UTF-16 unit takes in UTF-8. */
const UTF8_MAX = 3

const elements = {
  text: { oid: 25, add: addText },
  json: { oid: 114, add: addText },
  bigint: {
    oid: 20,
    add: (out: ByteWriter, value: bigint) => {
      out.end = withCapacity(out, 8).writeBigInt64BE(value, out.end)
    },
  },
  integer: {
    oid: 23,
    add: (out: ByteWriter, value: number) => {
      out.end = withCapacity(out, 4).writeInt32BE(whole(value), out.end)
    },
  },
  smallint: {
    oid: 21,
    add: (out: ByteWriter, value: number) => {
      out.end = withCapacity(out, 2).writeInt16BE(whole(value), out.end)
    },
  },
  boolean: {
    oid: 16,
    add: (out: ByteWriter, value: boolean) => {
      assert(typeof value === 'boolean', 'true or false was expected')
      out.end = withCapacity(out, 1).writeInt8(value ? 1 : 0, out.end)
    },
  },
  timestamptz: {
    oid: 1184,
    add: (out: ByteWriter, value: Date) => {
      out.end = withCapacity(out, 8).writeBigInt64BE(BigInt(value.getTime() - EPOCH_MS) * 1000n, out.end)
    },
  },
  numeric: { oid: 1700, add: addNumeric },
} satisfies Record<string, Element>

/** The value of an array parameter. The caller owns the returned buffer. */
export function arrayOf(type: ElementType, values: readonly unknown[]): Buffer {
  const { oid, add } = elements[type] as Element
  const out: ByteWriter = { bytes: Buffer.allocUnsafe(20 + 36 * values.length), end: 0 }
  for (const head of values.length === 0 ? [0, 0, oid] : [1, 1, oid, values.length, 1]) addInt32(out, head)
  for (const value of values) {
    const from = out.end
    addInt32(out, -1)
    if (value === null || value === undefined) continue
    add(out, value as never)
    out.bytes.writeInt32BE(out.end - from - 4, from)
  }
  return out.bytes.subarray(0, out.end)
}

/** The value of a parameter that is not an array. */
export function scalarOf(type: ElementType, value: unknown): Buffer | null {
  if (value === null || value === undefined) return null
  const out: ByteWriter = { bytes: Buffer.allocUnsafe(64), end: 0 }
  const { add } = elements[type] as Element
  add(out, value as never)
  return out.bytes.subarray(0, out.end)
}

export const texts = (values: readonly string[]): Buffer => arrayOf('text', values)

function withCapacity(out: ByteWriter, more: number): Buffer {
  if (out.end + more > out.bytes.length) {
    const larger = Buffer.allocUnsafe(2 * (out.end + more))
    out.bytes.copy(larger, 0, 0, out.end)
    out.bytes = larger
  }
  return out.bytes
}

function addInt32(out: ByteWriter, value: number): void {
  out.end = withCapacity(out, 4).writeInt32BE(value, out.end)
}

function addText(out: ByteWriter, value: string): void {
  assert(typeof value === 'string', 'a text was expected')
  out.end += withCapacity(out, UTF8_MAX * value.length).write(value, out.end)
}

function whole(value: number): number {
  assert(Number.isInteger(value), `${value} is not a whole number`)
  return value
}

const NEGATIVE = 0x4000

/** A whole number, in digits of base 10,000. */
function addNumeric(out: ByteWriter, value: bigint): void {
  const digits: number[] = []
  for (let left = value < 0n ? -value : value; left > 0n; left /= 10_000n)
    digits.unshift(Number(left % 10_000n))
  const head = [digits.length, Math.max(0, digits.length - 1), value < 0n ? NEGATIVE : 0, 0]
  for (const part of [...head, ...digits]) out.end = withCapacity(out, 2).writeUInt16BE(part, out.end)
}
