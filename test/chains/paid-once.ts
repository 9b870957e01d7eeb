import { expect } from 'vitest'
import type { ChainPlace, ProductionStage, StoredTransfer } from './production-stage.ts'

/** The signature of the event that a token logs for each transfer. */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Payment = { readonly to: string; readonly amount: bigint; readonly tx_hash: string }

/** What the wallet has paid, as the chain tells it, without the fee that the token took for its owner. */
export async function paymentsOf({ node, token }: ChainPlace, wallet: string): Promise<Payment[]> {
  const from = `0x${wallet.slice(2).toLowerCase().padStart(64, '0')}`
  const logs = await node.call<{ topics: string[]; data: string; transactionHash: string }[]>('eth_getLogs', {
    ...{ fromBlock: '0x0', toBlock: 'latest', address: token.contract },
    topics: [TRANSFER_TOPIC, from],
  })
  const [owner] = await node.call<string[]>('eth_accounts')
  return logs
    .map(({ topics, data, transactionHash }) => ({
      ...{ to: `0x${topics[2]!.slice(-40)}`, amount: BigInt(data), tx_hash: transactionHash },
    }))
    .filter(({ to }) => to !== owner!.toLowerCase())
}

type Ends = {
  readonly paid: number
  readonly failed: number
  readonly for_people: number
  readonly transactions: number
}

/**
 * Once everything is final: chain, table, transactions and ledger must tell one story. `for_people`: transfers whose payment took
 * place otherwise than ordered, which stay open, and what arrived of each.
 */
export async function expectPaidOnce(
  stage: ProductionStage,
  for_people: ReadonlyMap<string, bigint> = new Map(),
): Promise<Ends> {
  const transfers = await stage.transfers()
  const open = transfers.filter(({ status }) => status === 'pending' || status === 'processing')
  expect(open.map(({ id }) => id).sort()).toEqual([...for_people.keys()].sort())
  const paid = transfers.filter(({ id, status }) => status === 'confirmed' || for_people.has(id))
  for (const place of stage.places) {
    const here = paid.filter(({ network }) => network === place.network)
    await expectReceived(stage, place, here, for_people)
    await expectNonces(stage, place)
  }
  await expectBooked(stage, transfers)
  expect((await stage.audit()).production.findings).toEqual([])
  const { rows } = await stage.worlds.production.db.query(
    'SELECT count(*)::integer AS count FROM transactions',
  )
  return {
    paid: transfers.filter(({ status }) => status === 'confirmed').length,
    failed: transfers.filter(({ status }) => status === 'failed').length,
    for_people: for_people.size,
    transactions: rows[0].count,
  }
}

/** One Transfer log for each payment, and to the unit what was ordered. */
async function expectReceived(
  { wallet }: ProductionStage,
  place: ChainPlace,
  paid: readonly StoredTransfer[],
  arrived: ReadonlyMap<string, bigint>,
): Promise<void> {
  const payments = await paymentsOf(place, wallet)
  const lineOf = (to: string, amount: bigint, tx_hash: string | null) =>
    `${to.toLowerCase()} ${amount} ${tx_hash}`
  expect(payments.map(({ to, amount, tx_hash }) => lineOf(to, amount, tx_hash)).sort()).toEqual(
    paid
      .map(({ id, destination_address, amount_net, tx_hash }) =>
        lineOf(destination_address, arrived.get(id) ?? amount_net, tx_hash),
      )
      .sort(),
  )
  const expected = new Map<string, bigint>()
  for (const { id, destination_address, amount_net } of paid) {
    const address = destination_address.toLowerCase()
    expected.set(address, (expected.get(address) ?? 0n) + (arrived.get(id) ?? amount_net))
  }
  for (const [address, units] of expected) expect(await place.token.balanceOf(address)).toBe(units)
}

/** From the table, from the signed transactions, and from the chain: each nonce once, and none missing. */
async function expectNonces(stage: ProductionStage, { network, node }: ChainPlace): Promise<void> {
  const { db } = stage.worlds.production
  const { rows: wallets } = await db.query(
    'SELECT id, first_nonce, next_nonce FROM wallets WHERE network = $1',
    [network],
  )
  const { rows: reserved } = await db.query(
    'SELECT id, nonce FROM transfers WHERE network = $1 AND nonce IS NOT NULL ORDER BY nonce',
    [network],
  )
  if (wallets.length === 0) return expect(reserved).toEqual([])
  expect(wallets).toHaveLength(1)
  const { first_nonce, next_nonce } = wallets[0] as { first_nonce: bigint; next_nonce: bigint }
  expect(first_nonce).toBe(0n)
  expect(reserved.map(({ nonce }) => nonce)).toEqual(
    Array.from({ length: Number(next_nonce) }, (_, index) => BigInt(index)),
  )
  const counted = await node.call<string>('eth_getTransactionCount', stage.wallet, 'latest')
  expect(BigInt(counted)).toBe(next_nonce)

  const { rows: made } = await db.query(
    `SELECT x.tx_hash, x.transfer_id, t.nonce FROM transactions x JOIN transfers t ON t.id = x.transfer_id WHERE x.network = $1`,
    [network],
  )
  const mined: bigint[] = []
  for (const { tx_hash, nonce } of made) {
    const found = await node.call<{ nonce: string; blockHash: string | null } | null>(
      'eth_getTransactionByHash',
      tx_hash,
    )
    if (!found) continue
    expect(BigInt(found.nonce)).toBe(nonce)
    if (found.blockHash !== null) mined.push(nonce)
  }
  expect(mined.sort((a, b) => (a < b ? -1 : 1))).toEqual(reserved.map(({ nonce }) => nonce))
}

/** What the ledger says left the service on each network, and what it gave back. */
async function expectBooked(stage: ProductionStage, transfers: readonly StoredTransfer[]): Promise<void> {
  const { rows } = await stage.worlds.production.db.query(
    `SELECT account, sum(amount) AS units FROM entries WHERE cause_id LIKE 'tr\\_%' AND account LIKE 'external:%' GROUP BY account`,
  )
  const booked = new Map(rows.map(({ account, units }) => [account, BigInt(units)]))
  for (const { network } of stage.places) {
    const confirmed = transfers.filter((one) => one.network === network && one.status === 'confirmed')
    const units = confirmed.reduce((total, { amount_net }) => total + amount_net, 0n)
    expect(booked.get(`external:${network}`) ?? 0n).toBe(units)
  }
}
