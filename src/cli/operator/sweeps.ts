import { formatMoney, money } from '../../core/money.ts'
import { networks } from '../../core/networks.ts'
import { newestSweeps, transactionsOfSweeps } from '../../money/sweeps/store.ts'
import { environmentOption, type Input, listed, type Output, type Reach } from '../command.ts'

const SHOWN = 50

export async function sweepsList(input: Input, { worlds }: Reach): Promise<Output> {
  const { db } = worlds[environmentOption(input) ?? 'production']
  const sweeps = await newestSweeps(db, SHOWN)
  const made = await transactionsOfSweeps(
    db,
    sweeps.map(({ id }) => id),
  )
  const data = sweeps.map((sweep) => ({
    ...sweep,
    transactions: (made.get(sweep.id) ?? []).map(
      ({ sweep_id: _, signed: _bytes, ...transaction }) => transaction,
    ),
  }))
  const shown = data.map(({ id, network, address, amount, state, failure, created_at, transactions }) => ({
    id,
    network,
    address,
    amount: formatMoney(money(networks[network].asset, amount)),
    state: failure === null ? state : `${state}: ${failure}`,
    since: created_at,
    transaction: transactions.findLast(({ purpose }) => purpose === 'sweep')?.tx_hash ?? '',
  }))
  return listed({ data }, shown)
}
