import type { Network } from '../../../src/core/networks.ts'
import { openingOf, reconcile } from '../checks.ts'
import { depositNetworks } from '../outside.ts'
import { type Stage, shown, someDocument } from '../stage.ts'

const SWEEP_FROM = 50_000_000n
const SWEEP_FEE_MAX = 10n ** 18n

/** Customers with their addresses, the operator's own funds, and a rule that sweeps deposits on Polygon. */
export async function openTheDay(stage: Stage): Promise<void> {
  const { partner, operators, customers, names, tell, checked } = stage
  for (const [index, name] of names.entries()) {
    const document = someDocument(index)
    const { id } = await partner.post('/v1/customers', { name, document })
    const addresses = new Map<Network, string>()
    for (const network of depositNetworks) {
      const path = `/v1/customers/${id}/deposit_addresses`
      addresses.set(network, (await partner.post(path, { network })).address)
    }
    customers.push({ id, name, document, addresses })
  }
  tell(`${customers.length} customers, each with a deposit address on ${depositNetworks.length} networks`)
  for (const [rail, amount] of openingOf(stage)) await operators.bookOwnFunds(rail, amount)
  tell('one operator proposes what the operator has on each rail, another one approves it')
  await operators.setSweepRule('polygon', { sweep_from: SWEEP_FROM, sweep_fee_max: SWEEP_FEE_MAX })
  tell(`Polygon: deposits from ${shown('USDT', SWEEP_FROM)} USDT on are swept into the wallet`)
  const { code, json, err } = await stage.trilho('signer', 'check')
  if (code !== 0) throw new Error(`trilho signer check exits ${code}: ${err} ${JSON.stringify(json)}`)
  stage.noted.signer_head = json.log_head
  tell(
    'trilho signer check: the signer has the wallets of the services; an operator notes the newest line of its log',
  )
  await reconcile(stage)
  checked(`trilho reconcile: ${openingOf(stage).size} rails hold what the books say, difference 0`)
}
