import { checkBalances, checkOutside } from '../checks.ts'
import { awaitPaid, PAYOUTS, type PayoutOrder, payoutOrder } from '../orders.ts'
import type { Stage } from '../stage.ts'

const PAYOUT = 11_00n
const PAYERS = 3

type Placed = { readonly order: PayoutOrder; readonly id: string; readonly text: string; readonly at: number }

/** The primary is killed while payouts are ordered all the time, and the standby is promoted. */
export async function failOver(stage: Stage): Promise<void> {
  const { customers, cluster, partner, size, tell, checked } = stage
  const began = new Date()
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
  await checkTron(stage, began)
}

/**
 * A wallet on Tron has no nonces: after a promotion the service cannot see what an older copy of the database may have signed. It signs
 * nothing there until all such payments have expired (decision 0071), which is longer than the rest of the day.
 */
async function checkTron({ cluster, waitFor, checked }: Stage, began: Date): Promise<void> {
  await waitFor('the quiet time on Tron has begun', async () => {
    const [scan] = await cluster.sql(
      `SELECT quiet_until > '${began.toISOString()}' AS is_quiet FROM live.wallet_scans`,
    )
    return scan?.is_quiet === true
  })
  checked(
    'Tron: nothing is signed until eleven minutes after the promotion, when every payment signed before it has expired; the day ends without Tron',
  )
}
