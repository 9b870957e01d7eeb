import { expect } from 'vitest'
import { scriptOf } from '../../src/rails/chain/bitcoin/transaction.ts'
import { runCli } from '../support/cli.ts'
import type { BitcoinChaosStage, BitcoinTransfer } from './bitcoin-chaos-stage.ts'

type Ends = {
  readonly paid: readonly BitcoinTransfer[]
  readonly canceled: readonly BitcoinTransfer[]
  readonly transactions: number
  readonly charged: bigint
}

const sumOf = (amounts: readonly (bigint | null)[]): bigint =>
  amounts.reduce<bigint>((sum, amount) => sum + (amount ?? 0n), 0n)

/** Once everything is final: the chain, the transfers, the coins and the ledger must tell one story. */
export async function expectBitcoinPaidOnce(stage: BitcoinChaosStage): Promise<Ends> {
  const transfers = await stage.transfers()
  const paid = transfers.filter(({ status }) => status === 'confirmed')
  const canceled = transfers.filter(({ status }) => status === 'failed')
  expect(paid.length + canceled.length).toBe(transfers.length)
  await expectReceived(stage, transfers)
  expect(transfers.map(({ nonce }) => Number(nonce)).sort((a, b) => a - b)).toEqual(
    transfers.map((_, index) => index),
  )
  const { db } = stage.worlds.production
  const charged = sumOf(transfers.map((transfer) => transfer.charged))
  const { rows: booked } = await db.query(
    `SELECT sum(amount) AS units FROM entries WHERE cause_id LIKE 'tr\\_%' AND account = 'external:bitcoin'`,
  )
  expect(BigInt(booked[0].units)).toBe(sumOf(paid.map(({ amount_net }) => amount_net)) + charged)
  const { rows: foreign } = await db.query('SELECT txid FROM foreign_spends')
  expect(foreign).toEqual([])
  await expectReconciled(stage)
  expect((await stage.audit()).production.findings).toEqual([])
  return { paid, canceled, charged, transactions: (await stage.transactions()).length }
}

/** Each destination has one output, of the amount that was ordered and of the transaction that the transfer names, or none. */
async function expectReceived(
  { chain, wallet }: BitcoinChaosStage,
  transfers: readonly BitcoinTransfer[],
): Promise<void> {
  const scriptsOf = new Map(transfers.map((one) => [one.id, scriptOf(one.destination_address)!]))
  const unspent = await chain.unspentOf([...scriptsOf.values(), wallet.script])
  for (const { id, status, amount_net, tx_hash } of transfers)
    expect(unspent.get(scriptsOf.get(id)!), id).toEqual(
      status === 'confirmed' ? [{ txid: tx_hash, amount: amount_net }] : [],
    )
  const paid = transfers.filter(({ status }) => status === 'confirmed')
  const left = sumOf(paid.map(({ amount_net }) => amount_net)) + sumOf(transfers.map((one) => one.charged))
  expect(sumOf(unspent.get(wallet.script)!.map(({ amount }) => amount))).toBe(chain.funded - left)
}

async function expectReconciled({ env }: BitcoinChaosStage): Promise<void> {
  const { code, json } = await runCli(['reconcile', '--json'], env)
  expect(code).toBe(0)
  expect(json.data).toMatchObject([{ rail: 'bitcoin', on_its_way: '0', difference: '0' }])
}
