import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type as T, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { networkNames } from '../../core/networks.ts'

/**
 * The log of the remote signer: one file of JSON lines that is only appended to. Each line has the SHA-256 hash of the line before. A
 * line is on disk before its signature leaves the process. The limits of the signer are counted from this log (decision 0070).
 */
const LOG_FILE = 'signatures.jsonl'
/** Names the newest line that is known to be on disk, so that a start finds a log whose end was cut off. */
const HEAD_FILE = 'head.json'
const NO_LINE = '0'.repeat(64)
/** Longer than the line of a transaction with as many coins as one request can name. */
const LINE_MOST_BYTES = 1_000_000
const HEAD_BYTES = 128

const Digits = T.String({ pattern: '^(?:0|[1-9][0-9]{0,77})$' })
const Hash = T.String({ pattern: '^[0-9a-f]{64}$' })
const Text = T.String({ minLength: 1, maxLength: 200 })
const NetworkName = T.Enum([...networkNames])
const LoggedCoin = T.Object({ id: T.String({ pattern: '^[0-9a-f]{64}:[0-9]{1,10}$' }), amount: Digits })

/** Fields that the lines of all signatures have. `unsigned` is the hash of the bytes that were to be signed. */
const signature = {
  network: NetworkName,
  /** The most that the transaction may cost: wei for gas, satoshis for miners. */
  cost: Digits,
  tx_hash: Text,
  unsigned: Hash,
}

const entries = {
  /** A process began to use the log. */
  opened: T.Object({
    kind: T.Literal('opened'),
    version: Text,
    wallets: T.Record(T.String(), Text),
    limits: T.Record(T.String(), Text),
  }),
  /** The start removed a line that was written in part. Its signature never left the process. */
  cut: T.Object({ kind: T.Literal('cut'), bytes: T.Integer({ minimum: 1 }) }),
  transfer: T.Object({
    kind: T.Literal('transfer'),
    transfer_id: Text,
    purpose: T.Enum(['pay', 'cancel']),
    destination: Text,
    amount: Digits,
    wallet: Text,
    nonce: T.Optional(Digits),
    coins: T.Optional(T.Array(LoggedCoin, { minItems: 1 })),
    /** Where transactions expire: no block takes the transaction after this time. */
    expires_at: T.Optional(Text),
    ...signature,
  }),
  sweep: T.Object({
    kind: T.Literal('sweep'),
    sweep_id: Text,
    purpose: T.Enum(['fund', 'sweep']),
    address_index: T.Integer({ minimum: 0 }),
    /** The deposit address, or the gas account. */
    sender: Text,
    destination: Text,
    amount: Digits,
    nonce: Digits,
    ...signature,
  }),
}
type Entries = typeof entries
export type LogEntry = { [Kind in keyof Entries]: Static<Entries[Kind]> }[keyof Entries]
export type TransferEntry = Static<Entries['transfer']>
export type SweepEntry = Static<Entries['sweep']>

/** A line: its number, its time, the hash of the line before, and the entry. */
export type SignatureLine = { readonly n: number; readonly at: string; readonly prev: string } & LogEntry

/** How many lines there are, and the hash of the newest one. */
export type LogHead = { readonly lines: number; readonly head: string }

export class SignerLogBroken extends Error {}

/** A line could not be written: the process must end, and the next start verifies the log. */
export class SignerLogFailed extends Error {}

export type SignerLog = {
  head(): LogHead
  /** Returns when the line is on disk. After a failure the log takes no more lines: the process must start again. */
  append(entry: LogEntry): Promise<SignatureLine>
  close(): Promise<void>
}

type LogOptions = {
  readonly folder: string
  readonly clock: { now(): number }
  /** Called for each line: those in the file at the start, then each appended one. */
  readonly onLine: (line: SignatureLine) => void
}

/** Verifies the whole log, removes a half-written last line, and opens the log for appending. */
export async function openSignerLog({ folder, clock, onLine }: LogOptions): Promise<SignerLog> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, LOG_FILE)
  const noted = await readHeadFile(folder)
  const found = await verifySignerLog(folder, { expected: noted ? [noted] : [], onLine })
  const file = await open(path, 'a', 0o600)
  if (!noted) await createHeadFile(folder, found)
  const head_file = await open(join(folder, HEAD_FILE), 'r+')
  await syncFolder(folder)
  let { lines, head, last_ms } = found
  let failure: SignerLogFailed | undefined

  async function write(entry: LogEntry): Promise<SignatureLine> {
    // A clock that was set back must not make earlier signatures look older than an hour.
    last_ms = Math.max(clock.now(), last_ms)
    const line = { n: lines + 1, at: new Date(last_ms).toISOString(), prev: head, ...entry }
    const text = JSON.stringify(line)
    await file.appendFile(`${text}\n`)
    await file.datasync()
    lines = line.n
    head = hashOf(text)
    await writeHead(head_file, { lines, head })
    return line
  }

  const log: SignerLog = {
    head: () => ({ lines, head }),
    async append(entry) {
      if (failure) throw failure
      try {
        const line = await write(entry)
        onLine(line)
        return line
      } catch (error) {
        failure = new SignerLogFailed(
          `The log of signatures cannot be written (${(error as NodeJS.ErrnoException).code ?? 'error'}): nothing more is signed until the signer starts again.`,
        )
        throw failure
      }
    },
    async close() {
      await Promise.all([file.close(), head_file.close()])
    },
  }
  if (found.cut_bytes > 0) {
    await file.truncate(found.bytes)
    await file.datasync()
    await log.append({ kind: 'cut', bytes: found.cut_bytes })
  }
  return log
}

type VerifyOptions = {
  /** Heads that were noted earlier: the log must have each of these lines, with its hash. */
  readonly expected?: readonly LogHead[]
  readonly onLine?: (line: SignatureLine) => void
}

export type VerifiedSignerLog = LogHead & {
  /** Bytes of whole lines, and of what stands behind them. */
  readonly bytes: number
  readonly cut_bytes: number
  readonly last_ms: number
}

/** Reads the log from its beginning, a block at a time. Throws `SignerLogBroken`, which names the first line that is wrong. */
export async function verifySignerLog(
  folder: string,
  { expected = [], onLine }: VerifyOptions = {},
): Promise<VerifiedSignerLog> {
  let state = { lines: 0, head: NO_LINE, bytes: 0, last_ms: 0 }
  const rest = await eachLine(join(folder, LOG_FILE), (text) => {
    const line = readLine(text, state)
    const head = hashOf(text)
    state = {
      ...{ lines: line.n, head, last_ms: Date.parse(line.at) },
      bytes: state.bytes + text.length + 1,
    }
    if (expected.some((noted) => noted.lines === line.n && noted.head !== head))
      throw new SignerLogBroken(
        `The log of signatures is broken at line ${line.n}: its hash is not the one that was noted. The log was written anew.`,
      )
    onLine?.(line)
  })
  const lines_least = Math.max(0, ...expected.map(({ lines }) => lines))
  if (state.lines < lines_least)
    throw new SignerLogBroken(
      `The log of signatures is broken after line ${state.lines}: it must have ${lines_least} lines or more. Its end was cut off.`,
    )
  return { ...state, cut_bytes: rest }
}

/** Calls back for each whole line. Returns how many bytes follow the last newline. */
async function eachLine(path: string, onText: (text: Buffer) => void): Promise<number> {
  let file: FileHandle
  try {
    file = await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
  let rest: Buffer = Buffer.alloc(0)
  try {
    const { size } = await file.stat()
    if (size === 0) return 0
    for await (const chunk of file.createReadStream({ autoClose: false, end: size - 1 })) {
      rest = Buffer.concat([rest, chunk as Buffer])
      let from = 0
      for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10, from)) {
        onText(rest.subarray(from, at))
        from = at + 1
      }
      rest = rest.subarray(from)
      if (rest.length > LINE_MOST_BYTES)
        throw new SignerLogBroken('The log of signatures is broken: it has a line that no signer writes.')
    }
  } finally {
    await file.close()
  }
  return rest.length
}

type Before = { readonly lines: number; readonly head: string; readonly last_ms: number }

function readLine(text: Buffer, { lines, head, last_ms }: Before): SignatureLine {
  const n = lines + 1
  const broken = (problem: string) =>
    new SignerLogBroken(`The log of signatures is broken at line ${n}: ${problem}.`)
  let line: Record<string, unknown>
  try {
    line = JSON.parse(text.toString('utf8'))
  } catch {
    throw broken('it is not JSON')
  }
  const schema: TSchema | undefined = entries[line?.kind as keyof Entries]
  if (schema === undefined) throw broken('its kind is unknown; a newer version may have written it')
  if (line.n !== n) throw broken(`its number is not ${n}`)
  if (line.prev !== head) throw broken('it does not have the hash of the line before')
  if (typeof line.at !== 'string' || !(Date.parse(line.at) >= last_ms))
    throw broken('it is older than the line before')
  if (!Value.Check(schema, line)) throw broken('a field is missing or not valid')
  return line as SignatureLine
}

const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

/** Always the same number of bytes in one block of the disk: a power cut leaves the old text or the new one. */
async function writeHead(file: FileHandle, head: LogHead): Promise<void> {
  const text = `${JSON.stringify(head).padEnd(HEAD_BYTES - 1)}\n`
  await file.write(text, 0)
  await file.datasync()
}

/** Under its name the file is whole: it is written under another one first. */
async function createHeadFile(folder: string, { lines, head }: LogHead): Promise<void> {
  const draft = join(folder, `${HEAD_FILE}.new`)
  const file = await open(draft, 'w', 0o600)
  try {
    await writeHead(file, { lines, head })
  } finally {
    await file.close()
  }
  await rename(draft, join(folder, HEAD_FILE))
}

const HeadForm = T.Object({ lines: T.Integer({ minimum: 0 }), head: Hash })

/** The head that the signer noted beside its log. */
export async function readHeadFile(folder: string): Promise<LogHead | undefined> {
  let text: string
  try {
    text = await readFile(join(folder, HEAD_FILE), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const head = parseHead(text)
  if (head) return head
  throw new SignerLogBroken(
    `The file ${HEAD_FILE} beside the log of signatures cannot be read. Compare the log with a head that was noted elsewhere (trilho signer verify-log --head), then remove the file.`,
  )
}

function parseHead(text: string): LogHead | undefined {
  try {
    const head: unknown = JSON.parse(text)
    return Value.Check(HeadForm, head) ? head : undefined
  } catch {
    return undefined
  }
}

/** A head as people note it: `lines:hash`. */
export const headText = ({ lines, head }: LogHead): string => `${lines}:${head}`

export function parseHeadText(text: string): LogHead | undefined {
  const [, lines, head] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  return lines === undefined || head === undefined ? undefined : { lines: Number(lines), head }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
