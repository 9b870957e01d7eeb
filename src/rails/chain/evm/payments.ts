import type { KnownBlock, OtherTokens, OtherTokensWanted, PaymentSource, Scanned } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import { EndpointFailure } from '../rpc-endpoint.ts'
import type { RpcNode } from '../rpc-health.ts'
import { isPayment, type TransactionView, transactionSeen } from '../transaction-views.ts'
import { blockAt, knowsTransaction, logsIn, logsOfAnyContract, newestBlock, receiptOf } from './calls.ts'
import type { EvmPlace } from './network.ts'
import { addressTopic, isSameAddress, TRANSFER_TOPIC, transferIn } from './token.ts'

/** How payments to deposit addresses are found on an EVM network: first hints, then the transaction as a quorum sees it. */
export function paymentSource(
  rpc: Rpc,
  place: EvmPlace,
  options: Pick<PaymentSource, 'start_height'>,
): PaymentSource {
  return {
    ...options,
    async head() {
      const heads = (await rpc.all((node) => node.ask(newestBlock()))).map(({ answer }) => answer)
      const lowest = heads.reduce((one, other) => (other.height < one.height ? other : one))
      return { block_height: lowest.height, block_hash: lowest.hash }
    },
    // From a quorum, because this answer may move a position back: one endpoint alone could have the whole chain read again.
    hashAt: (height) =>
      rpc.agree(
        async (node) => (await node.ask(blockAt(height)))?.hash,
        (hash) => hash ?? '',
      ),
    scan: (range) => scan(rpc, place, range),
    transaction: async (tx_hash, known) =>
      transactionSeen(await viewsOf(rpc, place, { tx_hash, known }), { quorum: rpc.quorum, known }),
    otherTokens: (wanted) => otherTokens(rpc, place, wanted),
  }
}

/**
 * Reads the range from every endpoint, and returns what any of them shows, so that no single endpoint can hide a log. The last block is
 * asked for together with the logs: a node that does not have it returns no logs and no error.
 */
async function scan(rpc: Rpc, { contract }: EvmPlace, range: { from: bigint; to: bigint }): Promise<Scanned> {
  const heard = await rpc.all(async (node) => {
    const [logs, last] = await Promise.all([
      orRefused(node.ask(logsIn({ contract, topic: TRANSFER_TOPIC, ...range }))),
      node.ask(blockAt(range.to)),
    ])
    return logs === 'refused' || !last ? undefined : { logs, hash: last.hash }
  })
  const read = heard.flatMap(({ answer }) => answer ?? [])
  if (read.length < heard.length) return { kind: 'refused' }
  const hashes = new Set(read.map(({ hash }) => hash))
  return {
    kind: 'read',
    block_hash: hashes.size === 1 ? read[0]!.hash : undefined,
    is_shared: read.length >= rpc.quorum,
    hints: read.flatMap(({ logs }) =>
      logs.flatMap((log) => {
        const transfer = transferIn(log, contract)
        const { tx_hash, block_height, block_hash } = log
        return transfer && isPayment(transfer) ? [{ to: transfer.to, tx_hash, block_height, block_hash }] : []
      }),
    ),
  }
}

/** What any endpoint shows. A log of another form, as of an NFT, is left out. */
async function otherTokens(
  rpc: Rpc,
  { contract }: EvmPlace,
  { addresses, ...range }: OtherTokensWanted,
): Promise<OtherTokens> {
  const call = logsOfAnyContract({ topic: TRANSFER_TOPIC, third: addresses.map(addressTopic), ...range })
  const heard = (await rpc.all((node) => orTooLong(node.ask(call)))).map(({ answer }) => answer)
  if (heard.every((logs) => logs === 'refused')) return 'refused'
  return heard
    .flatMap((logs) => (logs === 'refused' ? [] : logs))
    .flatMap((log) => {
      const transfer = isSameAddress(log.address, contract) ? undefined : transferIn(log, log.address)
      if (!transfer || !isPayment(transfer)) return []
      const { address: token, tx_hash, log_index, block_height } = log
      return [
        { contract: token, tx_hash, log_index, block_height, address: transfer.to, amount: transfer.amount },
      ]
    })
}

const orTooLong = <Answer>(asked: Promise<Answer>): Promise<Answer | 'refused'> =>
  asked.catch((error: unknown) => {
    if (error instanceof EndpointFailure && error.kind === 'too_long') return 'refused'
    throw error
  })

/** Any failure counts as a refusal, so that the caller asks for fewer blocks: the answer may have been too long or too slow. */
const orRefused = <Answer>(asked: Promise<Answer>): Promise<Answer | 'refused'> =>
  asked.catch((error: unknown) => {
    if (error instanceof EndpointFailure) return 'refused'
    throw error
  })

type Asked = { readonly tx_hash: string; readonly known: KnownBlock | undefined }

async function viewsOf(rpc: Rpc, place: EvmPlace, asked: Asked): Promise<readonly TransactionView[]> {
  return (await rpc.all((node) => viewFrom(node, place, asked))).map(({ answer }) => answer)
}

async function viewFrom(
  node: RpcNode,
  { contract }: EvmPlace,
  { tx_hash, known }: Asked,
): Promise<TransactionView> {
  const [newest, receipt] = await Promise.all([node.ask(newestBlock()), node.ask(receiptOf(tx_hash))])
  if (!receipt) return viewWithout(node, { tx_hash, known }, newest.height)
  const { block_height, block_hash } = receipt
  const [block, head] = await Promise.all([node.ask(blockAt(block_height)), node.ask(newestBlock())])
  if (block?.hash !== block_hash || head.height < block_height) return { kind: 'unclear' }
  const payments = receipt.logs.flatMap((log, output_index) => {
    const transfer = receipt.succeeded ? transferIn(log, contract) : undefined
    return transfer && isPayment(transfer) ? [{ output_index, ...transfer }] : []
  })
  const depth = Number(head.height - block_height + 1n)
  return { kind: 'mined', block_height, block_hash, depth, payments, head: head.height }
}

async function viewWithout(node: RpcNode, { tx_hash, known }: Asked, head: bigint): Promise<TransactionView> {
  const [is_known, block] = await Promise.all([
    node.ask(knowsTransaction(tx_hash)),
    known ? node.ask(blockAt(known.block_height)) : null,
  ])
  if (known && !block) return { kind: 'unclear' }
  if (known && block?.hash === known.block_hash) return { kind: 'incomplete', head }
  return { kind: is_known ? 'waiting' : 'absent', head }
}
