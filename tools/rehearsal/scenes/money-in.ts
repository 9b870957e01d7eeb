import { networks } from '../../../src/core/networks.ts'
import { checkBalances, checkOutside } from '../checks.ts'
import { mustEqual } from '../narrator.ts'
import { awaitDeposit, openCharge, payCharge, payIn } from '../orders.ts'
import { depositNetworks } from '../outside.ts'
import { type Stage, shown } from '../stage.ts'

/** What is paid to a customer in each round. All of it is far above the minimum of a network. */
const CHARGE = 2_500_00n
const DEPOSITS = {
  ethereum: 150_000_000n,
  polygon: 120_000_000n,
  arbitrum: 110_000_000n,
  optimism: 130_000_000n,
  bitcoin: 2_000_000n,
}

export async function payInByPix(stage: Stage): Promise<void> {
  const { customers, partner, size, tell, checked } = stage
  const charges: string[] = []
  for (let round = 0; round < size.rounds; round++)
    for (const [index, customer] of customers.entries()) {
      const amount = CHARGE + BigInt(100 * round + index)
      const { id, txid } = await openCharge(stage, customer, amount)
      charges.push(id)
      const first = amount / 3n
      const payments = index === 0 ? [first, amount - first] : index === 1 ? [amount, amount] : [amount]
      for (const part of payments) await payCharge(stage, customer, { txid, amount: part })
    }
  tell(`${charges.length} charges are paid at the bank, some in two parts and some twice`)
  for (const id of charges)
    await stage.waitFor(
      `charge ${id} is paid`,
      async () => (await partner.get(`/v1/pix/charges/${id}`)).status === 'paid',
    )
  await checkBalances(stage)
  await checkOutside(stage)
  checked(
    `every payment is credited once: ${stage.counts.pix_payments} payments, ${shown('BRL', stage.book.total('BRL', 'paid in'))} BRL, and the bank holds that much more`,
  )
}

export async function payInOnChains(stage: Stage): Promise<void> {
  const { customers, size, tell, checked } = stage
  const paid: { customer: (typeof customers)[number]; tx_hash: string }[] = []
  for (let round = 0; round < size.rounds; round++)
    for (const [index, customer] of customers.entries())
      for (const network of depositNetworks) {
        const amount = DEPOSITS[network] + BigInt(1000 * round + index)
        paid.push({ customer, tx_hash: await payIn(stage, customer, network, amount) })
      }
  const depths = depositNetworks.map((network) => `${network} ${networks[network].confirmations}`)
  tell(
    `strangers pay ${paid.length} times to deposit addresses; a deposit is credited at a depth of ${depths.join(', ')} blocks`,
  )
  for (const { customer, tx_hash } of paid) await awaitDeposit(stage, customer, tx_hash, 'completed')
  await checkBalances(stage)
  await checkOutside(stage)
  checked(
    `every payment is credited once: ${shown('USDT', stage.book.total('USDT', 'paid in'))} USDT and ${shown('BTC', stage.book.total('BTC', 'paid in'))} BTC, as the token contracts and the unspent outputs say`,
  )
}

type Sweep = { readonly state: string; readonly address: string }

export async function sweepDeposits(stage: Stage): Promise<void> {
  const { customers, tell, checked, trilho, chainOf } = stage
  const addresses = customers.map(({ addresses }) => addresses.get('polygon')!)
  let sweeps: readonly Sweep[] = []
  tell(
    'since the morning a gas account has paid for transactions that move deposits on Polygon into the wallet',
  )
  const { token } = chainOf('polygon')
  await stage.waitFor('every deposit on Polygon is swept', async () => {
    const left = await Promise.all(addresses.map((address) => token.balanceOf(address)))
    // After the balances: the sweep of an address that is empty is in the list.
    sweeps = (await trilho('sweeps', 'list')).json.data
    return left.every((amount) => amount === 0n) && sweeps.every(({ state }) => state === 'swept')
  })
  mustEqual('addresses that were swept', new Set(sweeps.map(({ address }) => address)).size, addresses.length)
  stage.counts.sweeps = sweeps.length
  await checkBalances(stage)
  await checkOutside(stage)
  checked(`${sweeps.length} sweeps: the addresses are empty, the wallet has the tokens, no balance changed`)
}
