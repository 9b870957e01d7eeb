import type { FollowedBlock } from '../../../rails/chain/bitcoin/rail.ts'

/** The id of an output: its transaction and its number there. */
export const coinIdOf = ({ txid, vout }: { readonly txid: string; readonly vout: number }): string =>
  `${txid}:${vout}`

export const outpointOf = (coin_id: string): { readonly txid: string; readonly vout: number } => {
  const [txid, vout] = coin_id.split(':')
  return { txid: txid!, vout: Number(vout) }
}

/** The scripts of the service: the index of the deposit address that a script pays, or null for the wallet itself. */
export type OwnScripts = ReadonlyMap<string, number | null>

/** An output in a block that pays one of these scripts. */
type MadeCoin = {
  readonly id: string
  readonly txid: string
  readonly script: string
  readonly address_index: number | null
  readonly amount: bigint
  readonly is_coinbase: boolean
}

type SpentCoin = { readonly id: string; readonly spent_by: string }

/** What a block does to the coins of a wallet. */
export type BlockEffects = { readonly made: readonly MadeCoin[]; readonly spent: readonly SpentCoin[] }

/**
 * `isUnspent` tells whether an output is a coin of the service that no block below spends. Transactions of one block may spend
 * outputs of earlier ones of the same block.
 */
export function effectsOf(
  block: FollowedBlock,
  own: OwnScripts,
  isUnspent: (coin_id: string) => boolean,
): BlockEffects {
  const made: MadeCoin[] = []
  const spent: SpentCoin[] = []
  const made_here = new Set<string>()
  block.transactions.forEach(({ txid, inputs, outputs }, place) => {
    for (const input of inputs) {
      const id = coinIdOf(input)
      if (made_here.has(id) || isUnspent(id)) spent.push({ id, spent_by: txid })
    }
    outputs.forEach(({ script, amount }, vout) => {
      const address_index = own.get(script)
      if (address_index === undefined || amount === 0n) return
      const id = coinIdOf({ txid, vout })
      made_here.add(id)
      made.push({ id, txid, script, address_index, amount, is_coinbase: place === 0 })
    })
  })
  return { made, spent }
}
