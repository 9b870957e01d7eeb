import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCpf } from '../src/core/document.ts'
import type { Stage } from './stage.ts'

/** One object of each kind, created by the service, for history.ts to copy. */
export type Kind = 'deposit' | 'payout' | 'failed payout' | 'trade' | 'transfer'

export type Model = {
  readonly kind: Kind
  readonly table: string
  readonly id: string
  readonly customer_id: string
  readonly created_at: Date
  /** Columns with ids or times, which must differ between copies. */
  readonly row: Readonly<Record<string, unknown>>
  readonly quote_id: string | null
  /** Its ledger lines on the customer's accounts, in order. */
  readonly lines: readonly {
    readonly asset: string
    readonly movement: string
    readonly line: number
    readonly amount: bigint
  }[]
}

const PAYOUT = 100n
const TRADED = 10_000n
/** The amount that a customer spends in one round of history.ts. */
const DEPOSIT = 16n * PAYOUT + TRADED

export async function makeModels(stage: Stage): Promise<Model[]> {
  const customer_id = await makeCustomer(stage.call)
  const { deposit, paid, failed, quote, trade, transfer } = await makeOneOfEach(stage.call, customer_id)
  const model = async (
    kind: Kind,
    table: string,
    id: string,
    quote_id: string | null = null,
  ): Promise<Model> => {
    const [row] = await stage.sql(`SELECT * FROM ${table} WHERE id = $1`, [id])
    const lines = await stage.sql(
      `SELECT asset, movement, line, amount FROM entries WHERE cause_id = $1 AND account = 'customer' ORDER BY seq`,
      [id],
    )
    const numbered = lines.map((line) => ({ ...line, amount: BigInt(line.amount) }))
    return { kind, table, id, customer_id, created_at: row.created_at, row, quote_id, lines: numbered }
  }
  return [
    await model('deposit', 'deposits', deposit.id),
    await model('payout', 'payouts', paid.id),
    await model('failed payout', 'payouts', failed.id),
    await model('trade', 'trades', trade.id, quote.id),
    await model('transfer', 'transfers', transfer.id),
  ]
}

type Call = Stage['call']

export async function makeCustomer(call: Call): Promise<string> {
  return (await call('POST', '/v1/customers', { name: 'Model', document: makeCpf('123456780') })).id
}

/** Creates a deposit and the orders that it pays for, each in its final state. */
export async function makeOneOfEach(call: Call, customer_id: string) {
  const payout = (pix_key: string) =>
    call('POST', '/v1/pix/payouts', {
      customer_id,
      amount: String(PAYOUT),
      counterparty: { type: 'pix_key', pix_key },
      idempotency_key: randomUUID(),
    })
  const credit = { customer_id, asset: 'BRL', amount: String(DEPOSIT) }
  const deposit = await call('POST', '/v1/sandbox/deposits', credit)
  const paid = await payout('ana@example.com')
  const failed = await payout('ac03@sandbox.test')
  const terms = { from_asset: 'BRL', to_asset: 'USDT', amount: String(TRADED), partner_fee_bps: 100 }
  const quote = await call('POST', '/v1/quotes', { customer_id, ...terms })
  const trade = await call('POST', `/v1/quotes/${quote.id}/execute`, {})
  const transfer = await call('POST', '/v1/onchain/transfers', {
    customer_id,
    asset: 'USDT',
    network: 'polygon',
    amount: '5000000',
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: randomUUID(),
  })
  const ended = async () => (await call('GET', `/v1/onchain/transfers/${transfer.id}`)).status === 'confirmed'
  while (!(await ended())) await sleep(250)
  return { deposit, paid, failed, quote, trade, transfer }
}
