import { checkBalances, checkOutside } from '../checks.ts'
import { mustEqual } from '../narrator.ts'
import { PIX_FEE } from '../operators.ts'
import { awaitPaid, convert, PAYOUTS, type PayoutOrder, payoutOrder, transfer } from '../orders.ts'
import { type Stage, shown } from '../stage.ts'

const PAYOUT = 90_00n

/** The bank takes one payment and its answer is lost; then it answers nothing at all. Everything ends once when it is back. */
export async function loseTheBank(stage: Stage): Promise<void> {
  const { customers, efi, partner, tell, checked } = stage
  const sent_before = efi.bank.sent.size
  beginOutage(efi)
  const orders: { order: PayoutOrder; id: string }[] = []
  const place = async (index: number) => {
    const order = payoutOrder(customers[index % customers.length]!, PAYOUT + BigInt(index))
    orders.push({ order, id: (await partner.order(PAYOUTS, order.body)).id })
  }
  await place(0)
  await stage.waitFor('the bank has the first payment', () => efi.bank.sent.size === sent_before + 1)
  tell('the bank takes a payment and its answer is lost; from then on the bank cuts every connection')
  for (let index = 1; index <= customers.length; index++) await place(index)
  tell(`${customers.length} more payouts are accepted meanwhile, and money keeps moving on other rails`)
  await transfer(stage, customers[0]!, 'arbitrum', 3_000_000n)
  await transfer(stage, customers[0]!, 'tron', 3_000_000n)
  await convert(stage, customers[1]!, { from_asset: 'USDT', to_asset: 'BRL', amount: 10_000_000n })
  const open = await Promise.all(orders.map(({ id }) => partner.get(`${PAYOUTS}/${id}`)))
  for (const { id, status } of open)
    if (!['pending', 'processing'].includes(status))
      throw new Error(`payout ${id} is ${status} while the bank is out`)
  mustEqual('payments that reached the bank', efi.bank.sent.size, sent_before + 1)
  const held = await Promise.all(customers.map(({ id }) => partner.inTransit(id)))
  mustEqual(
    'BRL in transit',
    held.reduce((sum, { BRL = 0n }) => sum + BRL, 0n),
    orders.reduce((sum, { order }) => sum + order.amount + BigInt(PIX_FEE), 0n),
  )
  checked(`${open.length} payouts wait, none has failed, and exactly their money and fees are in transit`)
  efi.disturb(() => undefined)
  tell('the bank is back')
  for (const { order, id } of orders) await awaitPaid(stage, order, id)
  await checkBalances(stage)
  await checkOutside(stage)
  const sum = orders.reduce((total, { order }) => total + order.amount, 0n)
  checked(`${orders.length} payouts ended, and the bank paid each once: ${shown('BRL', sum)} BRL`)
}

/** The outage begins with the payment itself: the service asks about it soon after, and must not be answered. */
function beginOutage(efi: Stage['efi']): void {
  let is_out = false
  efi.disturb((name) => {
    if (is_out) return { kind: 'drop' }
    is_out = name === 'send'
    return is_out ? { kind: 'lose' } : undefined
  })
}
