import { type Asset, assetNames } from '../../src/core/money.ts'
import type { RailName } from '../../src/money/custody/controls-store.ts'
import { mustEqual } from './narrator.ts'
import { evmNetworks, transferNetworks } from './outside.ts'
import type { Stage } from './stage.ts'

/** One rail in the reconciliation of Trilho. The checks below compare the book of the rehearsal, the outside, and Trilho. */
export type RailLine = {
  readonly rail: RailName
  readonly asset: Asset
  readonly outside: bigint
  readonly booked: bigint
  readonly on_its_way: bigint
  readonly difference: bigint
}

/** Every customer has what the book says, and nothing is in transit. */
export async function checkBalances(stage: Stage): Promise<void> {
  const { partner, book, customers } = stage
  const differences = async () => {
    const found: string[] = []
    for (const { id, name } of customers) {
      const [available, in_transit] = [await partner.available(id), await partner.inTransit(id)]
      for (const asset of assetNames) {
        const has = [available[asset] ?? 0n, in_transit[asset] ?? 0n]
        const expected = [book.balance(id, asset), 0n]
        if (has.join() !== expected.join())
          found.push(
            `${name} ${asset}: available and in transit ${has.join(', ')} instead of ${expected.join(', ')}`,
          )
      }
    }
    return found
  }
  await stage
    .waitFor('balances are as the book says', async () => (await differences()).length === 0, 60_000)
    .catch(async (error: Error) => {
      throw new Error(`${error.message}: ${(await differences()).join('; ')}`)
    })
}

/** What the outside holds for Trilho on each rail at this moment. */
export async function heldOutside(stage: Stage): Promise<ReadonlyMap<RailName, bigint>> {
  const { efi, customers, bitcoin, tron, chainOf, keys } = stage
  const held = new Map<RailName, bigint>([['pix', efi.bank.balance().available]])
  for (const network of evmNetworks) {
    const addresses = [keys.wallet, ...customers.map(({ addresses }) => addresses.get(network)!)]
    const { node, token } = chainOf(network)
    // At one block: a sweep that is mined meanwhile would be counted twice, or not at all.
    const block = await node.call<string>('eth_blockNumber')
    const parts = await Promise.all(addresses.map((address) => token.balanceAt(address, block)))
    held.set(
      network,
      parts.reduce((sum, part) => sum + part, 0n),
    )
  }
  held.set('tron', tron.stub.balanceOf(keys.tron_wallet))
  const addresses = customers.map(({ addresses }) => addresses.get('bitcoin')!)
  held.set('bitcoin', await bitcoin.heldAt([keys.bitcoin_wallet.address, ...addresses]))
  return held
}

/** What the operator brought to each rail before the first scene. */
export const openingOf = ({ bitcoin, chains, tron, opening }: Stage): ReadonlyMap<RailName, bigint> =>
  new Map<RailName, bigint>([
    ['pix', opening],
    ...chains.map(({ network, funded }) => [network, funded] as const),
    ['bitcoin', bitcoin.funded],
    ['tron', tron.funded],
  ])

/** Each rail holds what the operator and the customers brought, less what left. On Bitcoin miners took their fees from it. */
export async function checkOutside(stage: Stage): Promise<{ miner_fees: bigint }> {
  const held = await heldOutside(stage)
  const opening = openingOf(stage)
  const expected = (rail: RailName) => opening.get(rail)! + stage.book.moved(rail)
  for (const rail of ['pix', ...evmNetworks, 'tron'] as const)
    mustEqual(`what ${rail} holds`, held.get(rail), expected(rail))
  return { miner_fees: expected('bitcoin') - held.get('bitcoin')! }
}

/** `trilho reconcile`, once everything that is on its way is final. */
export async function reconcile(stage: Stage): Promise<readonly RailLine[]> {
  const rails = ['pix', ...transferNetworks]
  let found: RailLine[] = []
  let said = ''
  const isEven = async () => {
    const { json, err } = await stage.trilho('reconcile', '--environment', 'production')
    said = err
    if (!json?.data) return false
    found = json.data.map((line: Record<string, string>) => ({
      ...{ rail: line.rail, asset: line.asset },
      ...{ outside: BigInt(line.outside!), booked: BigInt(line.booked!) },
      ...{ on_its_way: BigInt(line.on_its_way!), difference: BigInt(line.difference!) },
    }))
    return (
      found.length === rails.length &&
      found.every(({ difference, on_its_way }) => difference === 0n && on_its_way === 0n)
    )
  }
  await stage.waitFor('trilho reconcile shows no difference', isEven, 120_000).catch((error: Error) => {
    const lines = found.map(
      ({ rail, difference, on_its_way }) => `${rail} ${difference}, on its way ${on_its_way}`,
    )
    throw new Error(`${error.message}: ${lines.join('; ')} ${said}`)
  })
  const held = await heldOutside(stage)
  for (const { rail, outside } of found) mustEqual(`what ${rail} holds`, held.get(rail), outside)
  return found
}

export type AuditResult = {
  readonly entries: number
  readonly customers: number
  /** Sums of the accounts, by asset. */
  readonly assets: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export async function audit(stage: Stage): Promise<AuditResult> {
  const { code, json, err } = await stage.trilho('audit')
  if (code !== 0) throw new Error(`trilho audit exits ${code}: ${err} ${JSON.stringify(json?.environments)}`)
  const { production } = json.environments
  return {
    entries: Number(production.entries),
    customers: Number(production.customers),
    assets: production.assets,
  }
}
