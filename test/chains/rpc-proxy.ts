import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { callNode } from './anvil.ts'

/** An endpoint before a node, which can be cut, slow, lying, behind, or of another chain. */
export type RpcProxy = {
  readonly url: string
  /** Without a mode it passes everything on. */
  become(mode: ProxyMode): void
  /** HTTP requests, and the calls in them, since the last time this was asked. */
  taken(): { readonly requests: number; readonly calls: readonly RpcRequest[] }
  stop(): Promise<void>
}

export type RpcRequest = { readonly id: number; readonly method: string; readonly params: readonly any[] }
export type RpcReply = { id: number; result?: any; error?: { code: number; message: string } }

export type ProxyMode = {
  /** Ends every connection without an answer. */
  readonly cut?: boolean
  /** Passes the request on, and ends the connection instead of answering. */
  readonly lose_answers?: boolean
  readonly delay_ms?: number
  /** The whole body of the answer. */
  readonly raw?: { readonly status?: number; readonly body: string }
  /** Answers calls itself: those do not reach the node. */
  readonly answer?: (request: RpcRequest) => Omit<RpcReply, 'id'> | undefined
  /** Rewrites the reply of each call. */
  readonly rewrite?: (
    request: RpcRequest,
    reply: RpcReply,
  ) => RpcReply | undefined | Promise<RpcReply | undefined>
}

export async function startRpcProxy(node_url: string): Promise<RpcProxy> {
  const target = new URL(node_url)
  const credentials = Buffer.from(`${target.username}:${target.password}`).toString('base64')
  // `fetch` refuses a URL with a password.
  const authorization = target.username === '' ? {} : { authorization: `Basic ${credentials}` }
  target.username = ''
  target.password = ''
  let mode: ProxyMode = {}
  let requests = 0
  let calls: RpcRequest[] = []
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy())
  })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { cut, delay_ms = 0, raw, lose_answers } = mode
    requests++
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const content = JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest | RpcRequest[]
    const asked = [content].flat()
    calls.push(...asked)
    if (cut) return void request.socket.destroy()
    if (raw) return void response.writeHead(raw.status ?? 200).end(raw.body)
    await sleep(delay_ms, undefined, { ref: false })
    const replies = await repliesTo(asked)
    if (lose_answers) return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(Array.isArray(content) ? replies : replies[0]))
  }

  async function repliesTo(asked: readonly RpcRequest[]): Promise<RpcReply[]> {
    const { answer, rewrite } = mode
    const own = asked.flatMap((one) => {
      const reply = answer?.(one)
      return reply ? [{ ...reply, id: one.id }] : []
    })
    const passed = asked.filter(({ id }) => !own.some((reply) => reply.id === id))
    if (passed.length === 0) return own
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify(passed),
    })
    const theirs = (await response.json()) as RpcReply[]
    const rewritten: RpcReply[] = []
    for (const reply of theirs) {
      const one = passed.find(({ id }) => id === reply.id)!
      const changed = rewrite ? await rewrite(one, reply) : reply
      if (changed) rewritten.push(changed)
    }
    return [...own, ...rewritten]
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path-of-the-provider`,
    become(next) {
      mode = next
    },
    taken() {
      const seen = { requests, calls }
      requests = 0
      calls = []
      return seen
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A node that has stopped following the chain: its newest block stays the one of now. */
export async function behind(node_url: string): Promise<ProxyMode> {
  const block = await callNode<{ number: string }>(node_url, 'eth_getBlockByNumber', ['latest', false])
  return {
    rewrite: ({ method, params }, reply) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { ...reply, result: block } : reply,
  }
}

export const ofAnotherChain = (chain_id: number): ProxyMode => ({
  rewrite: ({ method }, reply) =>
    method === 'eth_chainId' ? { ...reply, result: `0x${chain_id.toString(16)}` } : reply,
})
