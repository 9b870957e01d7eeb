import type { KnownBlock, Payment, TransactionSeen } from './rail.ts'

/** Anybody may log a transfer of zero to anybody. What an address pays to itself does not make it hold more. */
export const isPayment = ({ from, to, amount }: Pick<Payment, 'from' | 'to' | 'amount'>): boolean =>
  amount > 0n && from !== to

/** What one endpoint shows. `head` is its newest block when it was asked. */
export type TransactionView =
  | (Extract<TransactionSeen, { kind: 'mined' }> & { readonly head: bigint })
  | { readonly kind: 'waiting' | 'absent'; readonly head: bigint }
  /**
   * The node has the block in which the transaction was seen, and not the transaction: it lies, or several machines answer for it, of
   * which one is behind.
   */
  | { readonly kind: 'incomplete'; readonly head: bigint }
  /** The node is between two branches. */
  | { readonly kind: 'unclear' }

/** A transaction moves money only if a quorum of endpoints shows the same of it and none shows something else. */
export function transactionSeen(
  views: readonly TransactionView[],
  { quorum, known }: { readonly quorum: number; readonly known: KnownBlock | undefined },
): TransactionSeen {
  const mined = views.flatMap((view) => (view.kind === 'mined' ? [view] : []))
  const heights = [known?.block_height ?? 0n, ...mined.map(({ block_height }) => block_height)]
  const reached = heights.reduce((one, other) => (other > one ? other : one))
  // An endpoint below the block cannot have the transaction.
  const counted = views.filter((view) => view.kind !== 'unclear' && view.head >= reached)
  const [first] = mined
  if (!first) {
    if (views.some(({ kind }) => kind === 'incomplete')) return { kind: 'unclear', contradiction: true }
    if (counted.length < quorum) return { kind: 'unclear', contradiction: false }
    return { kind: counted.some(({ kind }) => kind === 'waiting') ? 'waiting' : 'absent' }
  }
  const is_same = counted.every((view) => view.kind === 'mined' && keyOf(view) === keyOf(first))
  if (!is_same) return { kind: 'unclear', contradiction: true }
  if (counted.length < quorum) return { kind: 'unclear', contradiction: false }
  const { block_height, block_hash, payments } = first
  return {
    ...{ kind: 'mined', block_height, block_hash, payments },
    depth: Math.min(...mined.map(({ depth }) => depth)),
  }
}

const keyOf = ({ block_hash, payments }: Extract<TransactionView, { kind: 'mined' }>): string =>
  [block_hash, ...payments.map(({ output_index, to, amount }) => `${output_index} ${to} ${amount}`)].join()
