import { formatMoney, money } from '../../core/money.ts'
import { isNetwork, networks } from '../../core/networks.ts'
import { creditedByAddress, paidAddresses } from '../../money/deposits/books.ts'
import {
  argument,
  environmentOption,
  type Input,
  listed,
  type Output,
  type Reach,
  usage,
} from '../command.ts'

/** What lies at each deposit address of a network now, as the chain tells it, the most first. */
export async function unsweptList(input: Input, { worlds }: Reach): Promise<Output> {
  const network = argument(input, 0, 'The network')
  if (!isNetwork(network) || networks[network].kind === 'bitcoin')
    return usage('The network must be one that carries USDT: on Bitcoin deposits are coins of the wallet.')
  const { db, chains } = worlds[environmentOption(input) ?? 'production']
  const addresses = await paidAddresses(db, network)
  const { held_at, block_height } = await chains[network].holdings(addresses)
  const held = (held_at ?? []).filter(({ amount }) => amount > 0n)
  const known = new Map((await creditedByAddress(db, network)).map((one) => [one.address, one]))
  const data = held
    .sort((one, other) => (one.amount < other.amount ? 1 : -1))
    .map(({ address, amount }) => ({ network, ...known.get(address), address, held: amount, block_height }))
  const { asset } = networks[network]
  const shown = data.map(({ address, address_index, customer_id, credited, held: amount }) => ({
    ...{ address, address_index, customer_id },
    credited: formatMoney(money(asset, BigInt(credited ?? 0))),
    held: formatMoney(money(asset, amount)),
  }))
  return listed({ data }, shown)
}
