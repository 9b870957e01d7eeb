import { checkBalances, checkOutside, heldOutside } from '../checks.ts'
import { mustEqual } from '../narrator.ts'
import {
  awaitConfirmed,
  convert,
  payOut,
  TRANSFERS,
  type TransferOrder,
  transferAmount,
  transferOrder,
} from '../orders.ts'
import { transferNetworks } from '../outside.ts'
import type { Stage } from '../stage.ts'

type Waiting = { readonly order: TransferOrder; readonly id: string; readonly held: bigint }

/** kill -9 of the signer. The services keep all their settings and data, and still cannot move a coin until the signer is back. */
export async function loseTheSigner(stage: Stage): Promise<void> {
  const { customers, partner, signer, tell, checked } = stage
  await signer.kill()
  await stage.waitFor('the nodes say that the signer is away', async () => !(await isSignerReady(stage)))
  const lines_before = (await signer.lines()).length
  const held_before = await heldOnChains(stage)
  tell('trilho signer is killed (kill -9)')
  const waiting: Waiting[] = []
  for (const [index, network] of transferNetworks.entries()) {
    const customer = customers[index % customers.length]!
    const order = transferOrder(customer, network, transferAmount(network) + BigInt(100 + index))
    const { id, fee } = await partner.order(TRANSFERS, order.body)
    waiting.push({ order, id, held: order.amount + BigInt(fee) })
  }
  tell(`${waiting.length} transfers, one on each network, are accepted meanwhile`)
  await stage.waitFor('every transfer waits for the signer', async () => {
    const waited = await waitedForSigner(stage)
    return waiting.every(({ id }) => waited.has(id))
  })
  await payOut(stage, customers[0]!, 15_00n)
  await convert(stage, customers[1]!, { from_asset: 'USDT', to_asset: 'BRL', amount: 10_000_000n })
  tell('Pix payouts and conversions go on without it')
  await checkNothingMoved(stage, waiting)
  mustEqual('what the chains hold', await heldOnChains(stage), held_before)
  mustEqual('lines of the log of the signer', (await signer.lines()).length, lines_before)
  const { code } = await stage.trilho('signer', 'check')
  mustEqual('the exit code of trilho signer check without a signer', code, 1)
  checked(
    `${waiting.length} transfers wait with signer_unavailable, none has failed, and exactly their money is in transit; no coin has left the wallets`,
  )
  await signer.start()
  tell(
    'the signer is started again: it verifies its log, and removes the socket that the killed process left',
  )
  for (const { order, id } of waiting) await awaitConfirmed(stage, order, id)
  stage.counts.waited_for_signer += waiting.length
  await checkBalances(stage)
  await checkOutside(stage)
  checked(`${waiting.length} transfers ended, and every destination was paid once`)
}

async function isSignerReady({ nodes }: Stage): Promise<boolean> {
  const said = await Promise.all(
    nodes.urls().map(async (url) => {
      const { details } = (await (await fetch(`${url}/readyz`)).json()) as { details?: { signer?: string } }
      return details?.signer
    }),
  )
  return said.some((one) => one === 'ready')
}

/** The transfers whose track in the console says that they wait for the signer. */
async function waitedForSigner({ cluster }: Stage): Promise<ReadonlySet<unknown>> {
  const rows = await cluster.sql(
    `SELECT DISTINCT object_id FROM live.steps WHERE said = 'later signer_unavailable'`,
  )
  return new Set(rows.map(({ object_id }) => object_id))
}

/** What all networks but Pix hold, as text that can be compared. */
async function heldOnChains(stage: Stage): Promise<string> {
  const held = [...(await heldOutside(stage))].filter(([rail]) => rail !== 'pix')
  return held.map(([rail, amount]) => `${rail} ${amount}`).join(', ')
}

async function checkNothingMoved(stage: Stage, waiting: readonly Waiting[]): Promise<void> {
  const { partner, customers } = stage
  for (const { id, order } of waiting) {
    const { status } = await partner.get(`${TRANSFERS}/${id}`)
    mustEqual(`transfer ${id} on ${order.network} without a signer`, status, 'pending')
  }
  for (const asset of ['USDT', 'BTC'] as const) {
    const held = await Promise.all(customers.map(({ id }) => partner.inTransit(id)))
    const ordered = waiting.filter(({ order }) => (order.network === 'bitcoin') === (asset === 'BTC'))
    mustEqual(
      `${asset} in transit without a signer`,
      held.reduce((sum, amounts) => sum + (amounts[asset] ?? 0n), 0n),
      ordered.reduce((sum, { held: amount }) => sum + amount, 0n),
    )
  }
}
