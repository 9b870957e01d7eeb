import { checkBalances, checkOutside } from '../checks.ts'
import { awaitConfirmed, awaitPaid, PAYOUTS, payoutOrder, TRANSFERS, transferOrder } from '../orders.ts'
import { evmNetworks } from '../outside.ts'
import type { Stage } from '../stage.ts'

const PAYOUT = 70_00n
const TRANSFER = 4_000_000n

/** kill -9 of the second node while it has orders under way. The first one brings them to their end. */
export async function killANode(stage: Stage): Promise<void> {
  const { customers, partner, nodes, tell, checked } = stage
  const payouts = customers.map((customer, index) => payoutOrder(customer, PAYOUT + BigInt(index)))
  const transfers = [...evmNetworks, 'tron' as const].map((network, index) =>
    transferOrder(customers[index % customers.length]!, network, TRANSFER + BigInt(index)),
  )
  const cuts_before = partner.trouble.cut
  const SECOND = 1
  const first = partner.orderOnce(PAYOUTS, payouts[0]!.body, SECOND)
  const placed = [
    first,
    ...payouts.slice(1).map(({ body }) => partner.orderOnce(PAYOUTS, body, SECOND)),
    ...transfers.map(({ body }) => partner.orderOnce(TRANSFERS, body, SECOND)),
  ]
  await first
  await nodes.kill(SECOND)
  tell(`node 2 gets ${placed.length} orders and is killed (kill -9) when it has answered the first one`)
  const answers = await Promise.all(placed)
  tell(
    `the partner repeats what got no answer at node 1, with the same keys (calls that were cut: ${partner.trouble.cut - cuts_before})`,
  )
  for (const [index, order] of payouts.entries()) await awaitPaid(stage, order, answers[index]!.json.id)
  for (const [index, order] of transfers.entries())
    await awaitConfirmed(stage, order, answers[payouts.length + index]!.json.id)
  await nodes.start(SECOND)
  tell('node 2 is started again')
  for (const [index, { body }] of [...payouts, ...transfers].entries())
    await partner.repeat(index < payouts.length ? PAYOUTS : TRANSFERS, body, answers[index]!.text)
  await checkBalances(stage)
  await checkOutside(stage)
  checked(`${placed.length} orders ended once, and both nodes give the first answer to each of them again`)
}
