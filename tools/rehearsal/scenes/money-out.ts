import { checkBalances, checkOutside } from '../checks.ts'
import { mustEqual } from '../narrator.ts'
import {
  awaitConfirmed,
  awaitPaid,
  PAYOUTS,
  type PayoutOrder,
  payoutOrder,
  TRANSFERS,
  type TransferOrder,
  transferAmount,
  transferOrder,
} from '../orders.ts'
import { transferNetworks } from '../outside.ts'
import { type Stage, shown } from '../stage.ts'

const PAYOUT = 150_00n

export async function payOutByPix(stage: Stage): Promise<void> {
  const { customers, size, partner, efi, book, tell, checked } = stage
  const orders: { order: PayoutOrder; id: string }[] = []
  for (let round = 0; round < size.rounds; round++)
    for (const customer of customers) {
      const order = payoutOrder(customer, PAYOUT + BigInt(orders.length))
      orders.push({ order, id: (await partner.order(PAYOUTS, order.body)).id })
    }
  tell(`${orders.length} payouts, each ordered twice with one idempotency key, on two nodes`)
  for (const { order, id } of orders) await awaitPaid(stage, order, id)
  efi.bank.decide(() => ({ refused: 'AC03' }))
  const refused = payoutOrder(customers[0]!, PAYOUT)
  const { id } = await partner.order(PAYOUTS, refused.body)
  await stage.waitFor(
    `payout ${id} fails`,
    async () => (await partner.get(`${PAYOUTS}/${id}`)).status === 'failed',
  )
  const { failure } = await partner.get(`${PAYOUTS}/${id}`)
  mustEqual(`the reason of payout ${id}`, failure.rail_code, 'AC03')
  efi.bank.decide(() => 'settled')
  stage.counts.refused_payouts++
  tell(`one more payout is refused by the receiving bank (AC03): its money is back in the balance`)
  await checkBalances(stage)
  await checkOutside(stage)
  checked(
    `the bank paid each order once: ${shown('BRL', book.total('BRL', 'paid out'))} BRL, fees ${shown('BRL', book.total('BRL', 'fees'))} BRL`,
  )
}

export async function transferOnChains(stage: Stage): Promise<void> {
  const { customers, size, partner, book, tell, checked } = stage
  const orders: { order: TransferOrder; id: string }[] = []
  for (let round = 0; round < size.rounds; round++)
    for (const [index, network] of transferNetworks.entries()) {
      const customer = customers[(index + round) % customers.length]!
      const order = transferOrder(customer, network, transferAmount(network) + BigInt(round))
      orders.push({ order, id: (await partner.order(TRANSFERS, order.body)).id })
    }
  tell(`${orders.length} transfers on ${transferNetworks.length} networks`)
  for (const { order, id } of orders) await awaitConfirmed(stage, order, id)
  await checkBalances(stage)
  const { miner_fees } = await checkOutside(stage)
  checked(
    `every destination got the ordered amount once: ${shown('USDT', book.total('USDT', 'paid out'))} USDT and ${shown('BTC', book.total('BTC', 'paid out'))} BTC; miners took ${miner_fees} satoshis`,
  )
}
