import { checkBalances, checkOutside } from '../checks.ts'
import { mustEqual } from '../narrator.ts'
import { awaitPaid, PAYOUTS, type PayoutOrder, payoutOrder, TRANSFERS, transferOrder } from '../orders.ts'
import type { Stage } from '../stage.ts'

const PAYOUT = 11_00n
const PAYERS = 3
const TRON = 5_000_000n

type Placed = { readonly order: PayoutOrder; readonly id: string; readonly text: string; readonly at: number }

/** The primary is killed while payouts are ordered all the time, and the standby is promoted. */
export async function failOver(stage: Stage): Promise<void> {
  const { customers, cluster, partner, size, tell, checked } = stage
  const placed: Placed[] = []
  const stopping = { is_on: false }
  const payers = Array.from({ length: PAYERS }, async (_, payer) => {
    for (let turn = 0; !stopping.is_on; turn++) {
      const order = payoutOrder(customers[(payer + turn) % customers.length]!, PAYOUT + BigInt(turn))
      const { json, text } = await partner.orderOnce(PAYOUTS, order.body, payer + turn)
      placed.push({ order, id: json.id, text, at: performance.now() })
    }
  })
  const paying = Promise.all(payers)
  const waitFor = (what: string, ask: () => boolean) =>
    Promise.race([stage.waitFor(what, ask), paying.then(() => {})])
  try {
    await waitFor('payouts are ordered', () => placed.length >= size.during_fail_over)
    const before = placed.length
    cluster.kill()
    tell(
      `${PAYERS} programs order payouts without a pause; after ${before} of them the primary is killed (kill -9)`,
    )
    const promoted = await cluster.promote()
    const after = () => placed.filter(({ at }) => at > promoted)
    await waitFor('payouts are ordered after the fail-over', () => after().length >= size.during_fail_over)
    stage.counts.fail_over_ms = Math.round(after()[0]!.at - promoted)
    tell(`the standby is promoted; the first order is answered ${stage.counts.fail_over_ms} ms later`)
  } finally {
    stopping.is_on = true
    await paying
  }
  await cluster.rebuild()
  tell('the old primary comes back as the synchronous standby')
  for (const { order, text } of placed) await partner.repeat(PAYOUTS, order.body, text)
  for (const { order, id } of placed) await awaitPaid(stage, order, id)
  await checkBalances(stage)
  await checkOutside(stage)
  const { cut, unavailable } = partner.trouble
  checked(
    `${placed.length} orders, each repeated on both nodes with the same answer and paid once by the bank; until now ${cut} calls were cut off and ${unavailable} answered with 503, and the partner repeated each of them`,
  )
  await checkTron(stage)
}

/**
 * A wallet on Tron has no nonces: after a promotion the service cannot see what an older copy of the database may have signed. It signs
 * nothing there until all such payments have expired (decision 0071), which is longer than the rest of the day.
 */
async function checkTron({ customers, partner, tell, checked }: Stage): Promise<void> {
  const { body } = transferOrder(customers[0]!, 'tron', TRON)
  const before = await partner.available(customers[0]!.id)
  mustEqual('a transfer on Tron after the fail-over', await partner.refusal(TRANSFERS, body), {
    ...{ status: 503, code: 'rail_unavailable' },
  })
  mustEqual('the balance after the refusal', await partner.available(customers[0]!.id), before)
  tell(
    'Tron signs nothing for eleven minutes after a fail-over, until every payment signed before it has expired: the day ends without it',
  )
  checked('a transfer on Tron is refused with rail_unavailable, and nothing is debited')
}
