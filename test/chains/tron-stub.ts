import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { tronAddressOf, tronHexOf } from '../../src/rails/chain/tron/address.ts'
import { decodeRaw, tronFactsOf } from '../../src/rails/chain/tron/transaction.ts'

/**
 * A stub of Tron: one chain with a token, and any number of full nodes over HTTP. No node of Tron comes as a package. The stub decodes
 * what is broadcast, checks its signature, reference block and expiry as java-tron does, and runs `transfer` of one token. Blocks are
 * made by `mine`, or by a timer. It knows nothing else of Tron.
 */
export type StubTransaction = {
  readonly id: string
  readonly owner: string
  readonly to: string
  readonly amount: bigint
  readonly fee_limit: bigint
  readonly expiration: number
}

/** A call of a contract that moves tokens, such as a router: any number of times, of any token. Without a result: a payment of TRX. */
export type StubCall = {
  readonly moves: readonly {
    readonly from: string
    readonly to: string
    readonly amount: bigint
    /** Absent: the token of the stub. */
    readonly token?: string
  }[]
  readonly result?: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY'
}

type StubLog = { readonly address: string; readonly topics: readonly string[]; readonly data: string }

type MinedTransaction = StubTransaction & {
  readonly result: StubCall['result']
  readonly fee: bigint
  readonly logs: readonly StubLog[]
}

/** Balances are those after the block. */
type StubBlock = {
  readonly height: number
  readonly id: string
  readonly parent: string
  readonly at: number
  readonly mined: readonly MinedTransaction[]
  readonly tokens: ReadonlyMap<string, bigint>
  readonly sun: ReadonlyMap<string, bigint>
}

type Body = Readonly<Record<string, unknown>>

const TRANSFER = bytesToHex(keccak_256(utf8ToBytes('Transfer(address,address,uint256)')))
const ENERGY = 64_285n
const BANDWIDTH = 345n
const SELECTOR = 'a9059cbb'
const DAY_MS = 86_400_000
const word = (hex: string) => hex.padStart(64, '0')
const accountOf = (address: string) => tronHexOf(address)!.slice(2)

type StubOptions = {
  readonly contract?: string
  /** How many blocks the newest solidified one is below the head. */
  readonly solid_depth?: number
  readonly now?: () => number
  readonly nodes?: number
}

export class TronStub {
  readonly contract: string
  readonly nodes: StubNode[] = []
  readonly pool = new Map<string, StubTransaction>()
  /** Calls that the next block has. */
  readonly calls = new Map<string, StubCall>()
  /** What happens to transfers to an address. */
  readonly effects = new Map<string, 'reverts' | 'out_of_energy' | 'takes_fee'>()
  /** The token's black list. */
  readonly blocked = new Set<string>()
  readonly staked = { energy: 0n, bandwidth: 0n, free: 600n }
  readonly prices = { energy: 100n, byte: 1000n }
  depth: number
  is_paused = false
  readonly #blocks: StubBlock[] = []
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined

  constructor({ contract, solid_depth = 2, now = Date.now }: StubOptions) {
    this.contract = contract ?? 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
    this.depth = solid_depth
    this.#now = now
    this.#append([], { tokens: new Map(), sun: new Map() })
  }

  get genesis(): string {
    return this.#blocks[0]!.id
  }

  head = () => this.#shown(this.#head)
  solid = () => this.#shown(this.#solid)
  #shown = ({ height, id, at }: StubBlock) => ({ height: BigInt(height), hash: id, at })

  get #head(): StubBlock {
    return this.#blocks.at(-1)!
  }

  get #solid(): StubBlock {
    return this.#blocks[Math.max(0, this.#blocks.length - 1 - this.depth)]!
  }

  #append(mined: readonly MinedTransaction[], balances: Pick<StubBlock, 'tokens' | 'sun'>): void {
    const height = this.#blocks.length
    const parent = this.#blocks.at(-1)?.id ?? '0'.repeat(64)
    const at = height === 0 ? 0 : Math.max(this.#now(), this.#head.at + 1)
    const facts = [parent, at, Math.random(), ...mined.map(({ id }) => id)].join()
    const id =
      height.toString(16).padStart(16, '0') + createHash('sha256').update(facts).digest('hex').slice(16)
    this.#blocks.push({ height, id, parent, at, mined, ...balances })
  }

  #copy = () => ({ tokens: new Map(this.#head.tokens), sun: new Map(this.#head.sun) })

  /** Blocks with what is in the pool and may still be mined. */
  mine(count = 1): void {
    for (let i = 0; i < count; i++) {
      const balances = this.#copy()
      // A transaction may be in a block whose predecessor is older than its expiry.
      const fit = [...this.pool.values()].filter(
        ({ id, expiration }) => expiration > this.#head.at && !this.find(id),
      )
      const called = [...this.calls].map(([id, call]) => this.#runCall(id, call, balances))
      this.#append([...called, ...fit.map((one) => this.#run(one, balances))], balances)
      this.calls.clear()
      for (const { id } of fit) this.pool.delete(id)
    }
  }

  /** The id of a call that the next block has. The same id again puts it into the chain again, after a reorganisation. */
  call(call: StubCall, id = randomBytes(32).toString('hex')): string {
    this.calls.set(id, call)
    return id
  }

  /** A call that failed has moved nothing and has no logs. */
  #runCall(
    id: string,
    { moves, result }: StubCall,
    { tokens }: { tokens: Map<string, bigint> },
  ): MinedTransaction {
    const facts = { ...{ id, owner: '', to: '', amount: 0n, fee_limit: 0n, expiration: 0 }, result, fee: 0n }
    if (result !== 'SUCCESS') return { ...facts, logs: [] }
    for (const { from, to, amount, token } of moves) {
      if (token !== undefined) continue
      tokens.set(from, (tokens.get(from) ?? 0n) - amount)
      tokens.set(to, (tokens.get(to) ?? 0n) + amount)
    }
    const logs = moves.map(({ from, to, amount, token = this.contract }) => ({
      address: accountOf(token),
      topics: [TRANSFER, word(accountOf(from)), word(accountOf(to))],
      data: word(amount.toString(16)),
    }))
    return { ...facts, logs }
  }

  mineEvery(ms: number): void {
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.mine(), ms)
  }

  halt(): void {
    clearInterval(this.#timer)
  }

  #run(
    transaction: StubTransaction,
    { tokens, sun }: { tokens: Map<string, bigint>; sun: Map<string, bigint> },
  ): MinedTransaction {
    const { owner, to, amount, fee_limit } = transaction
    const effect = this.effects.get(to)
    const held = tokens.get(owner) ?? 0n
    const needed = ENERGY * this.prices.energy
    const is_dry = effect === 'out_of_energy' || fee_limit < needed
    const reverts = effect === 'reverts' || this.is_paused || this.blocked.has(owner) || held < amount
    const burnt = this.staked.energy >= ENERGY ? 0n : is_dry ? fee_limit : needed
    const fee = burnt + (this.staked.free >= BANDWIDTH ? 0n : BANDWIDTH * this.prices.byte)
    sun.set(owner, (sun.get(owner) ?? 0n) - fee)
    if (is_dry || reverts)
      return { ...transaction, result: is_dry ? 'OUT_OF_ENERGY' : 'REVERT', fee, logs: [] }
    const arrives = effect === 'takes_fee' ? amount - 1n : amount
    tokens.set(owner, held - amount)
    tokens.set(to, (tokens.get(to) ?? 0n) + arrives)
    const topics = [TRANSFER, word(accountOf(owner)), word(accountOf(to))]
    const log = { address: accountOf(this.contract), topics, data: word(arrives.toString(16)) }
    return { ...transaction, result: 'SUCCESS', fee, logs: [log] }
  }

  /** Other blocks take the place of the newest ones; what was in them is not back in the pool. `solid`: as no chain of Tron does. */
  reorganise(count: number, { solid = false } = {}): void {
    if (count > this.depth && !solid) throw new Error('a solidified block does not leave the chain')
    this.#blocks.splice(this.#blocks.length - count, count)
    for (let i = 0; i < count; i++) this.#append([], this.#copy())
  }

  /** Gives out of nothing, in a block. */
  fund(address: string, { tokens: more = 0n, sun: more_sun = 0n }): void {
    const { tokens, sun } = this.#copy()
    tokens.set(address, (tokens.get(address) ?? 0n) + more)
    sun.set(address, (sun.get(address) ?? 0n) + more_sun)
    this.#append([], { tokens, sun })
  }

  balanceOf = (address: string): bigint => this.#head.tokens.get(address) ?? 0n

  /** Transactions in blocks, oldest first. */
  mined = (): MinedTransaction[] => this.#blocks.flatMap(({ mined }) => mined)

  find(id: string, upTo = this.#head) {
    for (const block of this.#blocks.slice(0, upTo.height + 1))
      for (const mined of block.mined) if (mined.id === id) return { block, mined }
    return undefined
  }

  take(hex: string, { drops = false } = {}): object {
    const refuse = (code: string) => ({ code, message: Buffer.from(code).toString('hex') })
    const facts = tronFactsOf(hex)
    const transaction = facts && decodeRaw(facts.raw)
    if (!facts || !transaction) return refuse('CONTRACT_VALIDATE_ERROR')
    const { owner, data, ref_block, expiration, fee_limit } = transaction
    if (facts.signer !== owner) return refuse('SIGERROR')
    if (transaction.contract !== this.contract || !data.startsWith(SELECTOR))
      return refuse('CONTRACT_EXE_ERROR')
    const isRef = ({ id }: StubBlock) =>
      id.slice(12, 16) === ref_block.bytes && id.slice(16, 32) === ref_block.hash
    if (!this.#blocks.some(isRef)) return refuse('TAPOS_ERROR')
    const expires = Number(expiration)
    if (expires <= this.#head.at || expires > this.#head.at + DAY_MS)
      return refuse('TRANSACTION_EXPIRATION_ERROR')
    const { tx_hash: id } = facts
    if (this.pool.has(id) || this.find(id)) return refuse('DUP_TRANSACTION_ERROR')
    const to = tronAddressOf(`41${data.slice(8 + 24, 8 + 64)}`)
    const amount = BigInt(`0x${data.slice(8 + 64)}`)
    if (!drops) this.pool.set(id, { id, owner, to, amount, fee_limit, expiration: expires })
    return { result: true, txid: id }
  }

  #constant(view: StubBlock, body: Body): unknown {
    const parameter = String(body.parameter ?? '')
    const addressAt = (place: number) =>
      tronAddressOf(`41${parameter.slice(place * 64 + 24, place * 64 + 64)}`)
    const returned = (value: bigint) => ({
      ...{ result: { result: true }, energy_used: Number(ENERGY) },
      ...{ constant_result: [word(value.toString(16))], transaction: { ret: [{}] } },
    })
    const reverted = {
      ...{ result: { result: true, message: '524556455254' }, energy_used: 500 },
      ...{ constant_result: [''], transaction: { ret: [{ ret: 'FAILED' }] } },
    }
    if (String(body.contract_address) !== tronHexOf(this.contract)) return reverted
    switch (String(body.function_selector)) {
      case 'decimals()':
        return returned(6n)
      case 'balanceOf(address)':
        return returned(view.tokens.get(addressAt(0)) ?? 0n)
      case 'isBlackListed(address)':
        return returned(this.blocked.has(addressAt(0)) ? 1n : 0n)
      case 'transfer(address,uint256)': {
        const owner = tronAddressOf(String(body.owner_address))
        const is_blocked = this.blocked.has(owner) || this.blocked.has(addressAt(0))
        const is_short = (view.tokens.get(owner) ?? 0n) < BigInt(`0x${parameter.slice(64)}`)
        // The token returns false where it succeeds.
        return this.is_paused || is_blocked || is_short ? reverted : returned(0n)
      }
      default:
        return reverted
    }
  }

  answer(path: string, body: Body, node: StubNode): unknown {
    const view = path.startsWith('walletsolidity/') ? this.#solid : this.#head
    const call = path.slice(path.indexOf('/') + 1)
    const blockAt = (height: unknown) => {
      const block = this.#blocks[Number(height)]
      return block && block.height <= view.height ? block : undefined
    }
    switch (call) {
      case 'getblock':
        return shownBlock(body.id_or_num === undefined ? view : blockAt(body.id_or_num))
      case 'gettransactioninfobyid': {
        const found = this.find(String(body.value), view)
        return found ? shownInfo(found.block, found.mined) : {}
      }
      case 'gettransactionbyid': {
        const found = this.find(String(body.value), view)
        return found ? { txID: found.mined.id, ret: [{ contractRet: found.mined.result }] } : {}
      }
      case 'gettransactioninfobyblocknum': {
        const block = blockAt(body.num)
        return block?.mined.map((one) => shownInfo(block, one)) ?? []
      }
      case 'triggerconstantcontract':
        return this.#constant(view, body)
      case 'getaccount': {
        const sun = view.sun.get(tronAddressOf(String(body.address)))
        return sun === undefined ? {} : { address: body.address, balance: Number(sun) }
      }
      case 'getaccountresource': {
        const { free, bandwidth, energy } = this.staked
        return { freeNetLimit: Number(free), NetLimit: Number(bandwidth), EnergyLimit: Number(energy) }
      }
      case 'getchainparameters':
        return shownParameters(this.prices)
      case 'broadcasthex':
        return this.take(String(body.transaction), node)
      default:
        return { Error: `no such path ${path}` }
    }
  }

  stop = async (): Promise<void> => {
    this.halt()
    await Promise.all(this.nodes.map((node) => node.stop()))
  }
}

/** Zero for a block without transactions, as on Tron. */
const rootOf = ({ mined }: StubBlock) =>
  mined.length === 0
    ? '0'.repeat(64)
    : createHash('sha256')
        .update(mined.map(({ id }) => id).join())
        .digest('hex')

const shownBlock = (block: StubBlock | undefined) =>
  block
    ? {
        blockID: block.id,
        block_header: {
          raw_data: {
            ...(block.height ? { number: block.height, timestamp: block.at } : {}),
            parentHash: block.parent,
            txTrieRoot: rootOf(block),
          },
        },
      }
    : {}

const shownInfo = ({ height, at }: StubBlock, { id, result, fee, logs }: MinedTransaction) => ({
  ...{ id, fee: Number(fee), blockNumber: height, blockTimeStamp: at, contractResult: [''] },
  receipt: { energy_usage_total: Number(ENERGY), net_usage: Number(BANDWIDTH), result },
  ...(result === 'SUCCESS' || result === undefined ? {} : { result: 'FAILED', resMessage: '5245564552' }),
  ...(logs.length > 0 ? { log: logs } : {}),
})

const shownParameters = ({ energy, byte }: TronStub['prices']) => ({
  chainParameter: [
    { key: 'getMaintenanceTimeInterval', value: 21_600_000 },
    { key: 'getEnergyFee', value: Number(energy) },
    { key: 'getTransactionFee', value: Number(byte) },
    { key: 'getAllowMultiSign' },
  ],
})

export type StubNode = {
  readonly url: string
  /** Requests by path. */
  readonly asked: Map<string, number>
  is_down: boolean
  /** Drops what is asked while it has so many questions in hand. */
  busy_at: number
  /** Takes what is broadcast, and its answer is lost. */
  loses_answers: boolean
  /** Says that it took what is broadcast, and forgets it. */
  drops: boolean
  /** Changes an answer before it is sent. */
  lie: ((path: string, answer: unknown, body: Body) => unknown) | undefined
  stop(): Promise<void>
}

async function openNode(stub: TronStub): Promise<StubNode> {
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const node: StubNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: new Map(),
    ...{ is_down: false, busy_at: Infinity, loses_answers: false, drops: false, lie: undefined },
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  let in_hand = 0
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (node.is_down || in_hand >= node.busy_at) return void request.socket.destroy()
    in_hand++
    // Questions that were sent together are in hand together.
    if (node.busy_at < Infinity) await setTimeout(20)
    in_hand--
    const path = request.url!.slice(1)
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    node.asked.set(path, (node.asked.get(path) ?? 0) + 1)
    const plain = stub.answer(path, body, node)
    if (path === 'wallet/broadcasthex' && node.loses_answers) return void request.socket.destroy()
    const told = node.lie ? node.lie(path, plain, body) : plain
    response.setHeader('content-type', 'application/json')
    response.end(typeof told === 'string' ? told : JSON.stringify(told))
  }
  return node
}

export async function startTronStub(options: StubOptions = {}): Promise<TronStub> {
  const stub = new TronStub(options)
  for (let i = 0; i < (options.nodes ?? 1); i++) stub.nodes.push(await openNode(stub))
  return stub
}
