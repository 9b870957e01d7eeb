/**
 * The little of protocol buffers that a transaction of Tron needs: varints and bytes. Decoding is strict, so that bytes have one
 * meaning only: fields in ascending order, each at most once, and every number in its shortest form.
 */
export type ProtoField = { readonly number: number } & (
  | { readonly varint: bigint }
  | { readonly bytes: Uint8Array }
)

const VARINT = 0
const BYTES = 2
const WIRE_BITS = 3n
const GROUP_BITS = 7n
const GROUP_MASK = 0x7fn
const MORE = 0x80
/** An int64 that is not negative. */
const NUMBER_MOST = 2n ** 63n - 1n
const VARINT_BYTES_MOST = 9

function varintOf(value: bigint): number[] {
  const out: number[] = []
  for (let rest = value; ; ) {
    const group = Number(rest & GROUP_MASK)
    rest >>= GROUP_BITS
    if (rest === 0n) return [...out, group]
    out.push(group | MORE)
  }
}

const tagOf = (number: number, wire: number): number[] =>
  varintOf((BigInt(number) << WIRE_BITS) | BigInt(wire))

/** A field of the value 0 is not written. */
export function varintField(number: number, value: bigint): number[] {
  if (value < 0n || value > NUMBER_MOST) throw new Error(`field ${number} must be from 0 to 2^63 - 1`)
  return value === 0n ? [] : [...tagOf(number, VARINT), ...varintOf(value)]
}

/** Empty bytes are not written. */
export const bytesField = (number: number, bytes: ArrayLike<number>): number[] =>
  bytes.length === 0 ? [] : [...tagOf(number, BYTES), ...varintOf(BigInt(bytes.length)), ...Array.from(bytes)]

/** Undefined for bytes that this encoder would not write. */
export function readFields(bytes: Uint8Array): readonly ProtoField[] | undefined {
  const fields: ProtoField[] = []
  let at = 0
  const varint = (): bigint | undefined => {
    let value = 0n
    for (let i = 0; i < VARINT_BYTES_MOST; i++) {
      const byte = bytes[at++]
      if (byte === undefined) return undefined
      value |= (BigInt(byte) & GROUP_MASK) << (GROUP_BITS * BigInt(i))
      // A last group of 0 is a longer form of a number than needed.
      if (byte < MORE) return byte === 0 && i > 0 ? undefined : value
    }
    return undefined
  }
  while (at < bytes.length) {
    const tag = varint()
    if (tag === undefined) return undefined
    const number = Number(tag >> WIRE_BITS)
    const wire = Number(tag & 7n)
    const before = fields.at(-1)?.number ?? 0
    const value = varint()
    if (number <= before || value === undefined || value === 0n) return undefined
    if (wire === VARINT) fields.push({ number, varint: value })
    else if (wire === BYTES) {
      const end = at + Number(value)
      if (end > bytes.length) return undefined
      fields.push({ number, bytes: bytes.subarray(at, end) })
      at = end
    } else return undefined
  }
  return fields
}
