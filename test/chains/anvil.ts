import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'

/** A real EVM node (anvil) with an own chain. It mines only when it is told to. */
export type Anvil = {
  readonly pid: number
  readonly url: string
  readonly chain_id: number
  call<Result = unknown>(method: string, ...params: readonly unknown[]): Promise<Result>
  mine(blocks?: number): Promise<void>
  setBalance(address: string, wei: bigint): Promise<void>
  setNonce(address: string, nonce: bigint): Promise<void>
  /** Replaces the newest blocks by as many new ones. `put` says which transactions are mined in which of them, counted from 0. */
  reorganize(depth: number, put?: readonly (readonly [raw: string, block: number])[]): Promise<void>
  dropTransaction(tx_hash: string): Promise<void>
  stop(): Promise<void>
}

const PACKAGE = '@foundry-rs/anvil-linux-amd64'
export async function startAnvil({ chain_id }: { chain_id: number }): Promise<Anvil> {
  const program = createRequire(import.meta.url).resolve(`${PACKAGE}/bin/anvil`)
  const args = ['--port', '0', '--chain-id', String(chain_id), '--no-mining', '--accounts', '1']
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        if (printed.length < 100_000) printed += chunk
        const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(printed)?.[1]
        if (port) resolve(`http://127.0.0.1:${port}`)
      })
    child.once('error', reject)
    void ended.then(() => reject(new Error(`anvil ended: ${printed.slice(-500)}`)))
  })
  const call = <Result>(method: string, ...params: readonly unknown[]) =>
    callNode<Result>(url, method, params)
  return {
    pid: child.pid!,
    url,
    chain_id,
    call,
    mine: async (blocks = 1) => void (await call('anvil_mine', hex(blocks))),
    setBalance: async (address, wei) => void (await call('anvil_setBalance', address, hex(wei))),
    setNonce: async (address, nonce) => void (await call('anvil_setNonce', address, hex(nonce))),
    async reorganize(depth, put = []) {
      await call('anvil_reorg', depth, put)
      // A reorganisation sets the node's clock back to the block below it. After some of them every block would be minutes old.
      const { timestamp } = await call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
      await call('evm_setTime', Math.max(Number(timestamp), Math.floor(Date.now() / 1000)))
    },
    dropTransaction: async (tx_hash) => void (await call('anvil_dropTransaction', tx_hash)),
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export const hex = (value: number | bigint): string => `0x${value.toString(16)}`

export async function callNode<Result>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<Result> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await answer.json()) as { result: Result; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}
