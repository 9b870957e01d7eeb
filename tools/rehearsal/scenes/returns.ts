import { checkBalances, checkOutside } from '../checks.ts'
import { openCharge, PAYOUTS, payCharge, payOut } from '../orders.ts'
import { type Stage, shown } from '../stage.ts'

const PAYOUT = 88_00n
const CHARGE = 64_00n
const PART = 24_00n

/** A recipient gives a payout back, and the operator gives a part of a payment back in the bank's app. */
export async function giveBack(stage: Stage): Promise<void> {
  const { customers, efi, book, partner, tell, checked } = stage
  const [ana, bruno] = customers as [(typeof customers)[number], (typeof customers)[number]]
  const { id, payment } = await payOut(stage, ana, PAYOUT)
  efi.bank.comeBack(payment.id)
  book.note({ customer_id: ana.id, asset: 'BRL', column: 'came back', amount: PAYOUT, rail: 'pix' })
  await stage.notifySent(payment)
  tell(`the recipient of a completed payout of ${shown('BRL', PAYOUT)} BRL gives it back`)
  await stage.waitFor(
    `payout ${id} is returned`,
    async () => (await partner.get(`${PAYOUTS}/${id}`)).amount_returned === `${PAYOUT}`,
  )
  const { txid } = await openCharge(stage, bruno, CHARGE)
  const received = await payCharge(stage, bruno, { txid, amount: CHARGE })
  await checkBalances(stage)
  efi.bank.giveBack(received.end_to_end_id, { amount: PART })
  book.note({ customer_id: bruno.id, asset: 'BRL', column: 'given back', amount: PART, rail: 'pix' })
  await stage.notifyReceived(received)
  tell(
    `of a charge that was paid with ${shown('BRL', CHARGE)} BRL, ${shown('BRL', PART)} BRL are given back to the payer`,
  )
  await stage.waitFor('the part is debited', async () => {
    const { data } = await partner.get(`/v1/deposits?customer_id=${bruno.id}&limit=100`)
    const deposit = data.find(
      (one: { end_to_end_id?: string }) => one.end_to_end_id === received.end_to_end_id,
    )
    return deposit?.amount_returned === `${PART}`
  })
  stage.counts.returns += 2
  await checkBalances(stage)
  await checkOutside(stage)
  checked(
    'the payout is credited again without its fee, the part is debited, and the bank holds what the book says',
  )
}
