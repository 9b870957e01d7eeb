import { createHash } from 'node:crypto'
import type { BlockTransaction, SignedFacts } from './rail.ts'

/**
 * Reads blocks and transactions from their bytes. The hash of a block commits to its transactions, so what is read here is true for
 * the asked hash, whoever sent the bytes. All functions throw if the bytes are not what they must be.
 */
export type BlockBytes = {
  readonly hash: string
  readonly parent_hash: string
  readonly at_ms: number
  readonly transactions: readonly BlockTransaction[]
}

const HEADER_BYTES = 80
const NO_TXID = '00'.repeat(32)

export function readBlock(bytes: Buffer): BlockBytes {
  const header = bytes.subarray(0, HEADER_BYTES)
  if (header.length !== HEADER_BYTES) throw new Error('no header of a block')
  const reader = openReader(bytes, HEADER_BYTES)
  const transactions = reader.list(readTransaction)
  const [first, ...others] = transactions
  if (!first?.is_coinbase || others.some(({ is_coinbase }) => is_coinbase))
    throw new Error('the first transaction, and no other, must pay the miner')
  if (!merkleRoot(transactions.map(({ id }) => id)).equals(header.subarray(36, 68)))
    throw new Error('the header commits to other transactions')
  // Litecoin appends its extension block. The header commits to nothing behind the transactions.
  return {
    hash: idText(sha256d(header)),
    parent_hash: idText(header.subarray(4, 36)),
    at_ms: header.readUInt32LE(68) * 1000,
    transactions: transactions.map(({ facts: { txid, inputs, outputs } }) => ({ txid, inputs, outputs })),
  }
}

/** What a signed transaction spends and makes. */
export function readSigned(hex: string): SignedFacts {
  const bytes = Buffer.from(hex, 'hex')
  if (bytes.length * 2 !== hex.length) throw new Error('not hex')
  const reader = openReader(bytes, 0)
  const { facts, is_coinbase } = readTransaction(reader)
  if (is_coinbase || reader.at() !== bytes.length) throw new Error('not the bytes of one transaction')
  return facts
}

type ReadTransaction = { readonly id: Buffer; readonly is_coinbase: boolean; readonly facts: SignedFacts }

const WITNESS = 1
const INPUT_TAIL_BYTES = 4

function readTransaction(reader: Reader): ReadTransaction {
  const start = reader.at()
  const version = reader.take(4)
  // Where a transaction without witnesses has the number of its inputs, one with witnesses has a zero and a flag.
  const has_witnesses = reader.peek() === 0
  if (has_witnesses && reader.take(2)[1] !== WITNESS) throw new Error('an unknown kind of transaction')
  const body_start = reader.at()
  const inputs = reader.list(readInput)
  const outputs = reader.list(readOutput)
  const body = reader.since(body_start)
  if (has_witnesses) for (let left = inputs.length; left > 0; left--) reader.list(readBytes)
  const lock_time = reader.take(4)
  const id = sha256d(Buffer.concat([version, body, lock_time]))
  const stripped_size = version.length + body.length + lock_time.length
  const weight = 3 * stripped_size + (reader.at() - start)
  const is_coinbase = inputs.length === 1 && inputs[0]!.txid === NO_TXID
  if (inputs.length === 0 || outputs.length === 0) throw new Error('a transaction without inputs or outputs')
  const facts = { txid: idText(id), inputs: is_coinbase ? [] : inputs, outputs, vsize: Math.ceil(weight / 4) }
  return { id, is_coinbase, facts }
}

function readInput(reader: Reader) {
  const txid = idText(reader.take(32))
  const vout = reader.take(4).readUInt32LE()
  readBytes(reader)
  reader.take(INPUT_TAIL_BYTES)
  return { txid, vout }
}

function readOutput(reader: Reader) {
  const amount = reader.take(8).readBigUInt64LE()
  return { amount, script: readBytes(reader).toString('hex') }
}

const readBytes = (reader: Reader): Buffer => reader.take(reader.count())

type Reader = {
  at(): number
  peek(): number | undefined
  since(from: number): Buffer
  take(length: number): Buffer
  /** A number of variable length: one byte, or a mark and two, four or eight bytes. */
  count(): number
  list<Item>(read: (reader: Reader) => Item): Item[]
}

function openReader(bytes: Buffer, start: number): Reader {
  let at = start
  const reader: Reader = {
    at: () => at,
    peek: () => bytes[at],
    since: (from) => bytes.subarray(from, at),
    take(length) {
      const taken = bytes.subarray(at, at + length)
      if (taken.length !== length) throw new Error('the bytes end too early')
      at += length
      return taken
    },
    count() {
      const first = reader.take(1)[0]!
      if (first < 0xfd) return first
      if (first === 0xfd) return reader.take(2).readUInt16LE()
      if (first === 0xfe) return reader.take(4).readUInt32LE()
      throw new Error('a number that no block has room for')
    },
    list<Item>(read: (reader: Reader) => Item) {
      const length = reader.count()
      const items: Item[] = []
      while (items.length < length) items.push(read(reader))
      return items
    },
  }
  return reader
}

/**
 * Equal neighbours are refused: a list of transactions whose end is repeated has the same root as the list without the repetition
 * (CVE-2012-2459).
 */
function merkleRoot(ids: readonly Buffer[]): Buffer {
  let level = ids
  while (level.length > 1) {
    const next: Buffer[] = []
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at]!, level[at + 1]]
      if (right?.equals(left)) throw new Error('a transaction is listed twice')
      next.push(sha256d(Buffer.concat([left, right ?? left])))
    }
    level = next
  }
  return level[0]!
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()
const sha256d = (bytes: Buffer): Buffer => sha256(sha256(bytes))

/** Hashes are written with their bytes in reverse. */
const idText = (hash: Buffer): string => Buffer.from(hash).reverse().toString('hex')
