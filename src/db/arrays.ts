import assert from 'node:assert/strict'

/**
 * Arrays in PostgreSQL's binary format: a length before each element, and no quotes. In the text format every quote of a
 * JSON document would be escaped here and parsed again by the server.
 */
export type ElementType = keyof typeof elements

/** A buffer that is written from its start and grows as needed. */
type Room = { bytes: Buffer; end: number }

type Element = {
  /** Of the element type in `pg_type`. */
  readonly oid: number
  /** Appends the element without its length prefix. */
  add(room: Room, value: never): void
}

const EPOCH_MS = Date.UTC(2000, 0, 1)
/** The most bytes that one UTF-16 unit takes in UTF-8. */
const UTF8_MAX = 3

const elements = {
  text: { oid: 25, add: addText },
  json: { oid: 114, add: addText },
  bigint: {
    oid: 20,
    add: (room: Room, value: bigint) => {
      room.end = withRoom(room, 8).writeBigInt64BE(value, room.end)
    },
  },
  integer: {
    oid: 23,
    add: (room: Room, value: number) => {
      room.end = withRoom(room, 4).writeInt32BE(whole(value), room.end)
    },
  },
  smallint: {
    oid: 21,
    add: (room: Room, value: number) => {
      room.end = withRoom(room, 2).writeInt16BE(whole(value), room.end)
    },
  },
  boolean: {
    oid: 16,
    add: (room: Room, value: boolean) => {
      assert(typeof value === 'boolean', 'true or false was expected')
      room.end = withRoom(room, 1).writeInt8(value ? 1 : 0, room.end)
    },
  },
  timestamptz: {
    oid: 1184,
    add: (room: Room, value: Date) => {
      room.end = withRoom(room, 8).writeBigInt64BE(BigInt(value.getTime() - EPOCH_MS) * 1000n, room.end)
    },
  },
  numeric: { oid: 1700, add: addNumeric },
} satisfies Record<string, Element>

/** The value of an array parameter. The caller owns the returned buffer. */
export function arrayOf(type: ElementType, values: readonly unknown[]): Buffer {
  const { oid, add } = elements[type] as Element
  const room: Room = { bytes: Buffer.allocUnsafe(20 + 36 * values.length), end: 0 }
  for (const head of values.length === 0 ? [0, 0, oid] : [1, 1, oid, values.length, 1]) addInt32(room, head)
  for (const value of values) {
    const from = room.end
    addInt32(room, -1)
    if (value === null || value === undefined) continue
    add(room, value as never)
    room.bytes.writeInt32BE(room.end - from - 4, from)
  }
  return room.bytes.subarray(0, room.end)
}

/** The value of a parameter that is not an array. */
export function scalarOf(type: ElementType, value: unknown): Buffer | null {
  if (value === null || value === undefined) return null
  const room: Room = { bytes: Buffer.allocUnsafe(64), end: 0 }
  const { add } = elements[type] as Element
  add(room, value as never)
  return room.bytes.subarray(0, room.end)
}

export const texts = (values: readonly string[]): Buffer => arrayOf('text', values)

function withRoom(room: Room, more: number): Buffer {
  if (room.end + more > room.bytes.length) {
    const larger = Buffer.allocUnsafe(2 * (room.end + more))
    room.bytes.copy(larger, 0, 0, room.end)
    room.bytes = larger
  }
  return room.bytes
}

function addInt32(room: Room, value: number): void {
  room.end = withRoom(room, 4).writeInt32BE(value, room.end)
}

function addText(room: Room, value: string): void {
  assert(typeof value === 'string', 'a text was expected')
  room.end += withRoom(room, UTF8_MAX * value.length).write(value, room.end)
}

function whole(value: number): number {
  assert(Number.isInteger(value), `${value} is not a whole number`)
  return value
}

const NEGATIVE = 0x4000

/** A whole number, in digits of base 10,000. */
function addNumeric(room: Room, value: bigint): void {
  const digits: number[] = []
  for (let left = value < 0n ? -value : value; left > 0n; left /= 10_000n)
    digits.unshift(Number(left % 10_000n))
  const head = [digits.length, Math.max(0, digits.length - 1), value < 0n ? NEGATIVE : 0, 0]
  for (const part of [...head, ...digits]) room.end = withRoom(room, 2).writeUInt16BE(part, room.end)
}
