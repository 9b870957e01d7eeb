import { checkBalances, checkOutside } from '../checks.ts'
import { mustEqual } from '../narrator.ts'
import { awaitDeposit, depositsOf } from '../orders.ts'
import { type Stage, shown } from '../stage.ts'

const USDT = 77_000_000n
const BTC = 1_234_567n
const DEPTH = 3

/** Blocks with deposits are replaced: one deposit comes back later and is credited, one never comes back. */
export async function replaceBlocks(stage: Stage): Promise<void> {
  await dropAndReturn(stage)
  await dropForGood(stage)
  await checkBalances(stage)
  await checkOutside(stage)
}

async function dropAndReturn(stage: Stage): Promise<void> {
  const { customers, chainOf, book, tell, checked } = stage
  const customer = customers[0]!
  const chain = chainOf('optimism')
  const { raw, tx_hash } = await chain.still(async () => {
    const paid = await chain.pay(customer.addresses.get('optimism')!, USDT)
    await chain.node.mine()
    await awaitDeposit(stage, customer, paid.tx_hash, 'pending')
    await chain.node.reorganize(DEPTH)
    return paid
  })
  tell(
    `Optimism: ${shown('USDT', USDT)} USDT are seen in the newest block; then the ${DEPTH} newest blocks are replaced`,
  )
  await awaitDeposit(stage, customer, tx_hash, 'dropped')
  tell('the deposit is dropped: nothing was credited')
  await checkBalances(stage)
  await chain.sendAgain(raw)
  book.note({ customer_id: customer.id, asset: 'USDT', column: 'paid in', amount: USDT, rail: 'optimism' })
  await awaitDeposit(stage, customer, tx_hash, 'completed')
  stage.counts.deposits++
  checked('the same transaction is mined again, and the deposit is credited once')
}

async function dropForGood(stage: Stage): Promise<void> {
  const { customers, bitcoin, tell, checked } = stage
  const customer = customers[1]!
  let txid = ''
  await bitcoin.payAndTakeBack(customer.addresses.get('bitcoin')!, BTC, async (mined) => {
    txid = mined
    await awaitDeposit(stage, customer, mined, 'pending')
  })
  tell(
    `Bitcoin: ${shown('BTC', BTC)} BTC are seen in one block; another branch spends the same coin elsewhere`,
  )
  await awaitDeposit(stage, customer, txid, 'dropped')
  const [deposit] = await depositsOf(stage, customer, txid)
  mustEqual('the deposit that was taken back', deposit!.status, 'dropped')
  stage.counts.dropped++
  checked('the deposit is dropped and never credited')
}
