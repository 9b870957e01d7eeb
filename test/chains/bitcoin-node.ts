import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import { freePort } from '../support/free-port.ts'

/**
 * A real node of Bitcoin Core's lineage with a chain of its own, without a wallet, an index and peers. It mines only when it is told
 * to. Litecoin's node has the same calls, transactions and scripts; only its addresses and the hash of its work differ.
 */
export type BitcoinNode = {
  readonly program: Program['name']
  pid(): number
  /** With user and password, unless the node was started with a cookie. */
  readonly url: string
  /** Where the node writes its credentials, if it was started with a cookie. A restart changes them. */
  readonly cookie_file: string
  /** The hash of block 0. */
  readonly genesis: string
  /** Throws `NodeRefusal` for an error answer. Amounts are numbers: compare none of them exactly. */
  call<Result = unknown>(method: string, ...params: readonly unknown[]): Promise<Result>
  /** Mines blocks with what is in the mempool; the reward goes to the script. Returns the hashes. */
  mine(blocks?: number, script?: string): Promise<readonly string[]>
  /** Mines one block with exactly these raw transactions, whatever is in the mempool. */
  mineOnly(raws?: readonly string[], script?: string): Promise<string>
  /** Takes the block and all blocks on top of it out of the chain; their transactions return to the mempool. */
  invalidate(block_hash: string): Promise<void>
  reconsider(block_hash: string): Promise<void>
  send(raw: string): Promise<string>
  head(): Promise<{ readonly height: number; readonly hash: string }>
  /** Submits the blocks of the other node that this one lacks. */
  copyFrom(other: BitcoinNode): Promise<void>
  /** Ends the process and starts it again over the same folder. */
  restart(args?: readonly string[]): Promise<void>
  stop(): Promise<void>
}

export class NodeRefusal extends Error {
  readonly code: number

  constructor(method: string, { code, message }: { code: number; message: string }) {
    super(`${method}: ${code} ${message}`)
    this.code = code
  }
}

type Program = {
  readonly name: 'bitcoind' | 'litecoind'
  readonly path: string
  readonly args: readonly string[]
}

/** `litecoind` on the path of Debian is a script that writes into the home folder: the program behind it is started instead. */
const LITECOIND = '/usr/lib/litecoin/litecoind'
/** Without these it knows no replacement, calls more outputs dust, and cannot mine beyond block 431. */
const LITECOIND_ARGS = ['-mempoolreplacement=1', '-dustrelayfee=0.00003', '-vbparams=mweb:-2:0']

function findProgram(): Program | undefined {
  const places = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'bitcoind'))
  const bitcoind = places.find(isExecutable)
  if (bitcoind) return { name: 'bitcoind', path: bitcoind, args: [] }
  if (existsSync(LITECOIND)) return { name: 'litecoind', path: LITECOIND, args: LITECOIND_ARGS }
  return undefined
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const program = findProgram()

/** For tests that need a node of Bitcoin. They are skipped where none is installed; in CI they fail without it. */
export const bitcoinTest = program || process.env.CI ? test : test.skip
if (!program && !process.env.CI)
  console.warn(
    `SKIPPED: tests against a Bitcoin node need bitcoind on the path, or Debian's litecoind (apt-get install litecoind).`,
  )

/** Anyone can spend it, so it pays nobody. */
export const NOBODY_SCRIPT = '51'

export type BitcoinNodeOptions = { readonly args?: readonly string[]; readonly has_cookie?: boolean }

export async function startBitcoinNode(options: BitcoinNodeOptions = {}): Promise<BitcoinNode> {
  if (!program) throw new Error('Neither bitcoind nor litecoind is installed: apt-get install litecoind.')
  const { has_cookie = false } = options
  const folder = await mkdtemp(join(tmpdir(), 'trilho-bitcoin-'))
  const port = await freePort()
  const password = randomBytes(12).toString('hex')
  const cookie_file = join(folder, 'regtest', '.cookie')
  const origin = `127.0.0.1:${port}`
  const url = has_cookie ? `http://${origin}/` : `http://trilho:${password}@${origin}/`
  const credentials = has_cookie ? [] : ['-rpcuser=trilho', `-rpcpassword=${password}`]
  const args = [
    ...['-regtest', `-datadir=${folder}`, '-server', '-listen=0', '-dnsseed=0', '-disablewallet'],
    ...['-printtoconsole=0', '-acceptnonstdtxn=0', '-dbcache=4', `-rpcport=${port}`, '-rpcworkqueue=64'],
    ...[...credentials, ...program.args],
  ]
  let running: Running | undefined
  let genesis = ''

  const call = async <Result>(method: string, ...params: readonly unknown[]) => {
    const given = has_cookie ? await cookieOf(cookie_file) : `trilho:${password}`
    return callBitcoin<Result>(`http://${origin}/`, given, method, params)
  }

  async function start(more: readonly string[]): Promise<void> {
    running = run(program!.path, [...args, ...more])
    for (;;) {
      try {
        genesis = await call<string>('getblockhash', 0)
        return
      } catch (error) {
        // It refuses connections, has no cookie yet, or answers -28 while it loads.
        const has_started = error instanceof NodeRefusal && error.code !== -28
        if (running.hasEnded() || has_started)
          throw await failedStart(folder, `${String(error)} ${running.printed()}`)
        await sleep(50)
      }
    }
  }

  async function end(): Promise<void> {
    if (!running) return
    await call('stop').catch(() => running?.child.kill('SIGKILL'))
    await running.ended
    running = undefined
  }

  const descriptor = async (script: string) => {
    const { checksum } = await call<{ checksum: string }>('getdescriptorinfo', `raw(${script})`)
    return `raw(${script})#${checksum}`
  }

  const head = async () => {
    const { blocks, bestblockhash } = await call<{ blocks: number; bestblockhash: string }>(
      'getblockchaininfo',
    )
    return { height: blocks, hash: bestblockhash }
  }

  await start(options.args ?? [])
  return {
    program: program.name,
    pid: () => running!.child.pid!,
    url,
    cookie_file,
    genesis,
    call,
    head,
    mine: async (blocks = 1, script = NOBODY_SCRIPT) =>
      call('generatetodescriptor', blocks, await descriptor(script)),
    async mineOnly(raws = [], script = NOBODY_SCRIPT) {
      const { hash } = await call<{ hash: string }>('generateblock', await descriptor(script), raws)
      return hash
    },
    invalidate: async (block_hash) => void (await call('invalidateblock', block_hash)),
    reconsider: async (block_hash) => void (await call('reconsiderblock', block_hash)),
    send: (raw) => call('sendrawtransaction', raw),
    async copyFrom(other) {
      const { height } = await other.head()
      for (let at = 1; at <= height; at++) {
        const hash = await other.call<string>('getblockhash', at)
        await call('submitblock', await other.call<string>('getblock', hash, 0))
      }
    },
    async restart(more = options.args ?? []) {
      await end()
      await start(more)
    },
    async stop() {
      await end()
      await removeFolder(folder)
    },
  }
}

const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5 })

async function failedStart(folder: string, why: string): Promise<Error> {
  await removeFolder(folder)
  return new Error(`${program!.name} does not start: ${why}`)
}

type Running = {
  readonly child: ChildProcess
  readonly ended: Promise<void>
  hasEnded(): boolean
  printed(): string
}

function run(path: string, args: readonly string[]): Running {
  // The environment has TEST_RUN, by which reaper.mjs finds the process after a run that was killed.
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let has_ended = false
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      if (printed.length < 10_000) printed += chunk
    })
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      has_ended = true
      resolve()
    }
    child.once('error', end)
    child.once('close', end)
  })
  return { child, ended, hasEnded: () => has_ended, printed: () => printed }
}

const cookieOf = async (path: string): Promise<string> => (await readFile(path, 'utf8')).trim()

async function callBitcoin<Result>(
  url: string,
  credentials: string,
  method: string,
  params: readonly unknown[],
): Promise<Result> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: JSON.stringify({ id: 1, method, params }),
  })
  // An error answer has status 500 and the usual body.
  const { result, error } = (await answer.json()) as {
    result: Result
    error: { code: number; message: string } | null
  }
  if (error) throw new NodeRefusal(method, error)
  return result
}
