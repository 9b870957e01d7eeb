import { join } from 'node:path'
import { audit, checkBalances, checkOutside, reconcile } from '../checks.ts'
import { mustEqual } from '../narrator.ts'
import {
  awaitDeposit,
  convert,
  depositsOf,
  openCharge,
  payCharge,
  payIn,
  payOut,
  transfer,
} from '../orders.ts'
import { type Stage, shown } from '../stage.ts'

const CHARGE = 51_00n
const USDT = 33_000_000n
const BTC = 400_000n

/**
 * A base backup, money that comes in after it, and the loss of both database servers. Nothing is paid out between the backup and the loss, so
 * the restored database needs nobody's help: it reads what came in from the bank and the chains again. Where something was paid out, the rails
 * pause until two operators have resolved it (docs/operate/custody.md).
 */
export async function restoreABackup(stage: Stage): Promise<void> {
  const { customers, cluster, folder, nodes, partner, tell, checked } = stage
  const customer = customers[2]!
  const { id: charge_id, txid } = await openCharge(stage, customer, CHARGE)
  const backup = join(folder, 'backup')
  await cluster.backUp(backup)
  tell('a base backup of the running primary is taken')
  await payCharge(stage, customer, { txid, amount: CHARGE })
  const paid = [await payIn(stage, customer, 'arbitrum', USDT), await payIn(stage, customer, 'bitcoin', BTC)]
  const awaitAll = async () => {
    for (const tx_hash of paid) await awaitDeposit(stage, customer, tx_hash, 'completed')
    await stage.waitFor(
      `charge ${charge_id} is paid`,
      async () => (await partner.get(`/v1/pix/charges/${charge_id}`)).status === 'paid',
    )
    await checkBalances(stage)
  }
  await awaitAll()
  tell(
    `after the backup ${shown('BRL', CHARGE)} BRL, ${shown('USDT', USDT)} USDT and ${shown('BTC', BTC)} BTC come in and are credited; nothing is paid out`,
  )
  await Promise.all([nodes.kill(0), nodes.kill(1)])
  await cluster.restore(backup)
  tell(
    'both database servers and their files are lost; the backup becomes the new primary, with a new standby',
  )
  const known = await cluster.sql(
    `SELECT tx_hash FROM live.deposits WHERE tx_hash IN (${paid.map((tx_hash) => `'${tx_hash}'`).join(', ')})`,
  )
  mustEqual('deposits after the backup that the restored database knows', known, [])
  await Promise.all([nodes.start(0), nodes.start(1)])
  await awaitAll()
  for (const tx_hash of paid)
    mustEqual(`deposits of ${tx_hash}`, (await depositsOf(stage, customer, tx_hash)).length, 1)
  await audit(stage)
  await reconcile(stage)
  checked(
    'the restored database does not know these deposits; it reads the payments again from the bank and the chains, and credits each once; audit clean, reconcile 0',
  )
  await payOut(stage, customers[0]!, 20_00n)
  await transfer(stage, customers[1]!, 'ethereum', 2_000_000n)
  await transfer(stage, customer, 'bitcoin', 50_000n)
  await convert(stage, customers[0]!, { from_asset: 'BRL', to_asset: 'USDT', amount: 100_00n })
  await checkBalances(stage)
  await checkOutside(stage)
  checked('a payout, two transfers and a conversion go on from the restored state, and end once')
}
