import type { ChainOrder } from '../../rails/chain/rail.ts'
import type { Transfer } from './store.ts'

/** The transfer as the chain rail gets it. */
export const chainOrderOf = (transfer: Transfer): ChainOrder => ({
  id: transfer.id,
  asset: transfer.asset,
  network: transfer.network,
  destination_address: transfer.destination_address,
  amount: transfer.amount_net,
  created_at: transfer.created_at,
  seal: transfer.seal,
})
