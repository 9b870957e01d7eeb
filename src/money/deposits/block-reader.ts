import { crashPoint } from '../../core/crash-point.ts'
import { type Network, networks } from '../../core/networks.ts'
import type { Db } from '../../db/pool.ts'
import type { KnownBlock, PaymentHint, PaymentSource, TokenArrival } from '../../rails/chain/rail.ts'
import { recordExceptionDaily } from '../../records/exceptions/store.ts'
import { ourAddresses } from './addresses-store.ts'
import { type Arrivals, noteTransactions, type Unclear } from './arrivals.ts'
import { type DepositScan, moveScan, type Pass, positionOf, scanOf } from './scans-store.ts'
import { storeUnknownTokens } from './unknown-tokens-store.ts'

/** Reads ranges of blocks for payments to deposit addresses, and stores how far it came. */
export type BlockReader = Arrivals & {
  readonly source: PaymentSource
  /** Blocks that make a deposit final. */
  readonly depth: bigint
  /** How many blocks are asked for at once: halved when a node refuses, doubled when none does. */
  span: bigint
}

const SPAN = { first: 100n, most: 2000n }

export const openBlockReader = (
  parts: Pick<BlockReader, 'world' | 'network' | 'source' | 'log'>,
): BlockReader => ({
  ...parts,
  depth: BigInt(networks[parts.network].confirmations),
  span: lower(SPAN.first, parts.source.span_most),
})

const lower = (span: bigint, most: bigint | undefined): bigint =>
  most !== undefined && most < span ? most : span

type Reading = {
  readonly pass: Pass
  readonly target: bigint
  readonly shouldContinue: () => boolean
}

/** True when the position is at the target. */
export async function readUpTo(
  db: Db,
  reader: BlockReader,
  { pass, target, shouldContinue }: Reading,
): Promise<boolean> {
  const { network, log } = reader
  while (shouldContinue()) {
    const scan = (await scanOf(db, network))!
    const from = positionOf(scan, pass)
    if (from.height >= target) return true
    const back = await placeBelow(reader, scan, pass)
    if (back) {
      log.warn({ network }, `deposits: block ${from.height} of ${network} has left the chain; read again`)
      if (!(await moveScan(db, { network, pass, from, to: back }))) return false
      continue
    }
    const last = from.height + reader.span
    const to = last < target ? last : target
    const hash = await readRange(db, reader, { pass, from: from.height + 1n, to })
    if (hash === 'refused') continue
    if (hash === undefined) return false
    crashPoint('after_follow')
    if (!(await moveScan(db, { network, pass, from, to: { height: to, hash } }))) return false
    crashPoint('after_position')
  }
  return false
}

/** Where to read on from if the block at the position is not in the chain any more; undefined if it is. */
async function placeBelow({ source, depth }: BlockReader, scan: DepositScan, pass: Pass) {
  const { height, hash } = positionOf(scan, pass)
  const now = await source.hashAt(height)
  if (now === undefined || now === hash || height === 0n) return undefined
  const final = positionOf(scan, 'final')
  if (pass === 'newest' && final.height < height) return final
  const below = height > depth * 2n ? height - depth * 2n : 0n
  const there = await source.hashAt(below)
  return there === undefined ? undefined : { height: below, hash: there }
}

type Range = { readonly pass: Pass; readonly from: bigint; readonly to: bigint }

/**
 * The hash of the last block. `refused`: ask for fewer blocks. Undefined: the position stays. The final pass stays where endpoints do
 * not agree about a payment; the first pass goes on, because the final pass follows.
 */
async function readRange(
  db: Db,
  reader: BlockReader,
  { pass, from, to }: Range,
): Promise<string | 'refused' | undefined> {
  const { network, source } = reader
  const scanned = await source.scan({ from, to, is_final: pass === 'final' })
  const blocks = to - from + 1n
  if (scanned.kind === 'refused') {
    if (blocks === 1n) throw new Error(`${network}: an endpoint does not tell the logs of block ${to}`)
    reader.span = blocks / 2n
    return 'refused'
  }
  const { block_hash, is_shared, hints, other_tokens = [] } = scanned
  if (block_hash === undefined || (pass === 'final' && !is_shared)) return undefined
  const unclear = await noteHints(db, reader, hints)
  if (unclear.length > 0 && pass === 'final') {
    await tellContradictions(db, reader, unclear)
    return undefined
  }
  await noteOtherTokens(db, reader, other_tokens)
  if (blocks >= reader.span) reader.span = lower(lower(reader.span * 2n, SPAN.most), source.span_most)
  return block_hash
}

async function noteHints(
  db: Db,
  reader: BlockReader,
  hints: readonly PaymentHint[],
): Promise<readonly Unclear[]> {
  const ours = await ourAddresses(db, reader.network, [...new Set(hints.map(({ to }) => to))])
  const told = new Map<string, Map<string, KnownBlock>>()
  for (const { to, tx_hash, block_height, block_hash } of hints) {
    if (!ours.has(to)) continue
    const blocks = told.get(tx_hash) ?? new Map()
    told.set(tx_hash, blocks.set(`${block_height} ${block_hash}`, { block_height, block_hash }))
  }
  const asked = [...told].map(([tx_hash, blocks]) => ({ tx_hash, known: [...blocks.values()] }))
  return noteTransactions(db, reader, asked)
}

/** Stores transfers of unknown tokens, which only operators see (`unknown-tokens.ts`). */
async function noteOtherTokens(
  db: Db,
  { network }: BlockReader,
  found: readonly TokenArrival[],
): Promise<void> {
  const ours = await ourAddresses(db, network, [...new Set(found.map(({ address }) => address))])
  await storeUnknownTokens(
    db,
    network,
    found.filter(({ address }) => ours.has(address)),
  )
}

/** Reports contradictions only: endpoints that do not answer show in the age of the scan. */
async function tellContradictions(db: Db, reader: BlockReader, unclear: readonly Unclear[]): Promise<void> {
  const told = unclear.filter(({ contradiction }) => contradiction).slice(0, TOLD_MOST)
  if (told.length === 0) return
  const problem = `The endpoints of ${reader.network} contradict each other about payments to deposit addresses. Nothing is credited for these transactions until they agree. Compare each endpoint with a block explorer, and remove the wrong one.`
  await tell(db, reader, { problem, transactions: told.map(({ tx_hash }) => tx_hash).join(', ') })
}

const TOLD_MOST = 10

/** The object of exceptions about the deposits of a network. */
export const toldAbout = (network: Network): string => `deposits ${network}`

export const tell = (
  db: Db,
  { world, network }: Pick<BlockReader, 'world' | 'network'>,
  details: Readonly<Record<string, unknown>>,
): Promise<void> =>
  recordExceptionDaily(db, world.clock, {
    ...{ kind: 'deposit_unclear', rail: network, object_id: toldAbout(network), partner_id: null },
    details,
  })
