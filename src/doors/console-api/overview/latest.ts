import { isNetwork } from '../../../core/networks.ts'
import { type ListSource, selectNewest } from '../../../db/newest.ts'
import type { Db } from '../../../db/pool.ts'
import { type Deposit, depositList } from '../../../money/deposits/store.ts'
import { type Transfer, transferList } from '../../../money/onchain/store.ts'
import { type Payout, payoutList } from '../../../money/pix/store.ts'
import { type Trade, tradeList } from '../../../money/quotes/store.ts'
import { customerById } from '../../../parties/customers/store.ts'

const MOST = 10

/** The newest payouts, transfers, trades and deposits, as a customer's statement would show them. */
export async function latestOf(db: Db, partner_id: string) {
  const newest = async <Row extends { id: string; created_at: Date }>(source: ListSource) => {
    const filter = { partner_id, filters: {}, after: undefined, before: undefined, position: undefined }
    return (await selectNewest<Row>(db, source, { ...filter, limit: MOST })).rows
  }
  const [payouts, transfers, trades, deposits] = await Promise.all([
    newest<Payout>(payoutList),
    newest<Transfer>(transferList),
    newest<Trade>(tradeList),
    newest<Deposit>(depositList),
  ])
  const rows = [
    ...payouts.map(ofPayout),
    ...transfers.map(ofTransfer),
    ...trades.map(ofTrade),
    ...deposits.map(ofDeposit),
  ]
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1))
    .slice(0, MOST)
  const customers = await Promise.all(rows.map(({ customer_id }) => customerById(db, customer_id)))
  return rows.map(({ customer_id, created_at, amount, ...row }, i) => ({
    ...row,
    created_at: created_at.toISOString(),
    customer: { id: customer_id, name: customers[i]?.name ?? '' },
    amount: amount.toString(),
  }))
}

const ofPayout = ({ id, customer_id, created_at, amount, fee, status }: Payout) =>
  ({
    kind: 'payout',
    id,
    customer_id,
    created_at,
    network: null,
    asset: 'BRL',
    amount: -(amount + fee),
    status,
  }) as const

const ofTransfer = ({ id, customer_id, created_at, network, asset, amount_net, fee, status }: Transfer) =>
  ({
    kind: 'transfer',
    id,
    customer_id,
    created_at,
    network,
    asset,
    amount: -(amount_net + fee),
    status,
  }) as const

/** Shows the asset that the customer received. */
const ofTrade = ({ id, customer_id, created_at, to_asset, to_amount, status }: Trade) =>
  ({
    kind: 'trade',
    id,
    customer_id,
    created_at,
    network: null,
    asset: to_asset,
    amount: to_amount,
    status,
  }) as const

const ofDeposit = ({ id, customer_id, created_at, asset, amount, rail, status }: Deposit) =>
  ({
    kind: 'deposit',
    id,
    customer_id,
    created_at,
    network: isNetwork(rail) ? rail : null,
    asset,
    amount,
    status,
  }) as const
