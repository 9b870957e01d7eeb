import { networksWithWallet } from '../../money/custody/holdings.ts'
import { reconcile } from '../../money/custody/reconcile.ts'
import type { PixReconciliation, Reconciliation } from '../../money/custody/store.ts'
import { chainBooks } from '../../money/onchain/books.ts'
import { reconcilePix } from '../../money/pix/reconcile.ts'
import type { World } from '../../world.ts'
import { environmentOption, type Input, type Output, type Reach, table } from '../command.ts'
import { exit } from '../exit.ts'

export async function reconcileRails(input: Input, { worlds }: Reach): Promise<Output> {
  const only = environmentOption(input)
  const data: ((Reconciliation | PixReconciliation) & Pick<World, 'environment'>)[] = []
  for (const world of Object.values(worlds as Record<string, World>)) {
    if (only !== undefined && world.environment !== only) continue
    if (world.pix.account) input.io.progress('Asking the Pix provider …')
    const pix = await reconcilePix(world)
    if (pix) data.push({ environment: world.environment, ...pix })
    for (const network of networksWithWallet(world)) {
      input.io.progress(`Asking ${network} …`)
      data.push({ environment: world.environment, ...(await reconcile(world, network, chainBooks)) })
    }
  }
  input.io.progress('')
  const ok = data.every(({ difference }) => difference === 0n)
  const rows = data.map(
    ({ environment, rail, asset, block_height, outside, booked, on_its_way, difference }) => ({
      ...{ environment, rail, asset, block: block_height, outside, booked, on_its_way, difference },
    }),
  )
  return {
    json: { ok, data },
    text: rows.length === 0 ? 'No rail with a wallet or an account is configured.\n' : table(rows),
    exit_code: ok ? exit.done : exit.refused,
  }
}
