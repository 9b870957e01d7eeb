import { readSigned } from '../../../rails/chain/bitcoin/bytes.ts'
import { coinIdOf } from './block-effects.ts'
import type { UnminedTransaction } from './selection.ts'
import type { OpenSpender } from './store.ts'

/** Change of own transactions that no block has yet. */
export type UnminedChange = {
  readonly id: string
  readonly amount: bigint
  readonly script: string
  readonly made_by: string
  readonly behind: readonly UnminedTransaction[]
}

/**
 * The newest transactions of these transfers and of those whose unmined change they spend, each once. Undefined if one of them is
 * not open any more, or spends a coin that somebody else paid: a reorganisation removed its block, and nobody knows whether it
 * comes back.
 */
export function unminedBehind(
  spenders: ReadonlyMap<string, OpenSpender>,
  transfer_ids: readonly string[],
): readonly UnminedTransaction[] | undefined {
  const found = new Map<string, UnminedTransaction>()
  const waiting = [...transfer_ids]
  while (waiting.length > 0) {
    const id = waiting.pop()!
    if (found.has(id)) continue
    const spender = spenders.get(id)
    if (!spender?.signed || spender.is_loose) return undefined
    const { vsize, outputs } = readSigned(spender.signed)
    found.set(id, { id, vsize, fee: outputs.reduce((rest, { amount }) => rest - amount, spender.reserved) })
    waiting.push(...spender.parents)
  }
  return [...found.values()]
}

/**
 * Change that another transfer may spend: only that of a transfer with a single payment, which was broadcast. A transfer with several
 * transactions may end by any of them, and each has another output for its change. `is_signed_enough`: also what the database has as
 * signed only: it may have forgotten the broadcast.
 */
export function unminedChange(
  spenders: ReadonlyMap<string, OpenSpender>,
  script: string,
  { is_signed_enough = false }: { readonly is_signed_enough?: boolean } = {},
): readonly UnminedChange[] {
  return [...spenders.values()].flatMap((spender) => {
    const { transfer_id: made_by, signed, made, purpose } = spender
    const is_settled = spender.is_canceled || spender.is_mined || spender.is_spent_further
    if (!signed || made !== 1 || purpose !== 'pay' || is_settled) return []
    if (!spender.is_followed && !is_signed_enough) return []
    const behind = unminedBehind(spenders, [made_by])
    if (!behind) return []
    const { txid, outputs } = readSigned(signed)
    return outputs.flatMap((output, vout) =>
      output.script === script && output.amount > 0n
        ? [{ id: coinIdOf({ txid, vout }), amount: output.amount, script, made_by, behind }]
        : [],
    )
  })
}
