import { type Network, networkNames, networks } from '../../core/networks.ts'
import { newestUnknownTokens } from '../../money/deposits/unknown-tokens-store.ts'
import { environmentOption, type Input, listed, type Output, type Reach } from '../command.ts'

/** Of each network. */
const SHOWN = 50

const withTokens = networkNames.filter((name: Network) => networks[name].kind !== 'bitcoin')

export async function unknownTokensList(input: Input, { worlds }: Reach): Promise<Output> {
  const { db } = worlds[environmentOption(input) ?? 'production']
  const found = await Promise.all(withTokens.map((network) => newestUnknownTokens(db, network, SHOWN)))
  const data = found.flat()
  const shown = data.map(({ network, contract, address, amount, tx_hash, seen_at }) => ({
    ...{ network, contract, address, amount },
    since: seen_at,
    transaction: tx_hash,
  }))
  return listed({ data }, shown)
}
