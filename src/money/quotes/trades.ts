import type { AnyoneOfPartner, PartnerActor } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { UNITS_MAX } from '../../core/money.ts'
import { findOwned } from '../../core/owned.ts'
import {
  customerAccount,
  type Movement,
  partnerFeesAccount,
  serviceFeesAccount,
  treasuryAccount,
} from '../../ledger/accounts.ts'
import { assertCovered } from '../../ledger/balances.ts'
import { type Command, writeTo } from '../../ledger/command.ts'
import { activeCustomer } from '../../parties/customers/customers.ts'
import { customerRows } from '../../parties/customers/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import { eventWrite } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { insertUnfolded } from '../treasury/store.ts'
import type { TradeLimitCheck, TreasuryWorker } from '../treasury/worker.ts'
import { renderTrade } from './contract.ts'
import { findQuote } from './quotes.ts'
import {
  conversionRow,
  insertTrades,
  markExecuted,
  type Quote,
  quoteRows,
  type Trade,
  tradeById,
} from './store.ts'

/**
 * Executing a quote (interface §4.4). The quote is its own idempotency key: its row is locked, then the clock is read. A repeated
 * request finds the trade of the first one, however late.
 */
type Executed =
  | { readonly kind: 'made'; readonly trade: Trade }
  | { readonly kind: 'existing'; readonly trade_id: string }

export const findTrade = (world: World, { partner_id }: AnyoneOfPartner, id: string): Promise<Trade> =>
  findOwned('trade', { id, partner_id }, () => tradeById(world.db, id))

/** The trade of the quote; `replayed`: an earlier request made it. */
export async function executeQuote(
  world: World,
  actor: PartnerActor,
  quote_id: string,
  treasury: TreasuryWorker,
  request_id: string | null = null,
): Promise<{ trade: Trade; replayed: boolean }> {
  const quote = await findQuote(world, actor, quote_id)
  // A repeated request goes through the ledger too: the trade it returns must be durable.
  const done = await world.commit(execute(world, actor, quote, await treasury.limitCheck(), request_id))
  if (done.kind === 'made') return { trade: done.trade, replayed: false }
  return { trade: await tradeOf(world, done), replayed: true }
}

const tradeOf = async (world: World, { trade_id }: { trade_id: string }): Promise<Trade> =>
  (await tradeById(world.db, trade_id)) ?? refuse('service_unavailable')

export function execute(
  world: World,
  actor: PartnerActor,
  { id: quote_id, customer_id, from_asset, to_asset }: Quote,
  allows: TradeLimitCheck,
  request_id: string | null = null,
): Command<Executed> {
  const { partner_id } = actor
  const id = world.newId('trade')
  const from = { customer_id, asset: from_asset }
  const to = { customer_id, asset: to_asset }
  return onBehalfOf<Executed>(actor, {
    partner_id,
    locks: {
      rows: [{ source: quoteRows, id: quote_id }],
      accounts: [from, to],
      reads: [{ source: customerRows, id: customer_id }],
    },
    decide(held) {
      const quote = held.row(quoteRows, quote_id) ?? refuse('quote_not_found', { param: 'quote_id' })
      if (quote.trade_id !== null) return { result: { kind: 'existing', trade_id: quote.trade_id } }
      activeCustomer(held, { partner_id, id: customer_id })
      if (held.now >= quote.expires_at) refuse('quote_expired') // interface §4.4, rule 1
      const { from_amount, to_amount } = quote
      assertCovered(held.account(from)!, from_amount) // interface §4.4, rule 2
      const { balance, in_transit } = held.account(to)!
      if (balance + in_transit + to_amount > UNITS_MAX) refuse('amount_too_large')
      const movement = movementOf(id, quote)
      const fits = allows({
        taken: { asset: from_asset, amount: from_amount - quote.partner_fee - quote.service_fee },
        given: { asset: to_asset, amount: to_amount },
      })
      if (fits === undefined) refuse('service_unavailable', { retry_after_seconds: 1 })
      const { id: _, price_source, expires_at, trade_id, ...terms } = quote
      const trade: Trade = {
        ...terms,
        id,
        quote_id,
        api_key_id: actor.key_id,
        status: fits ? 'completed' : 'failed',
        failure_code: fits ? null : 'treasury_limit',
        quote_expires_at: expires_at,
        created_at: held.now,
        request_id,
      }
      return {
        movements: fits ? [movement] : [],
        writes: [
          writeTo(insertTrades, conversionRow(trade)),
          writeTo(markExecuted, { id: quote_id, trade_id: id }),
          ...(fits ? [writeTo(insertUnfolded, { trade_id: id })] : []),
          eventWrite(
            world,
            { partner_id, type: `trade.${trade.status}`, object: renderTrade(trade), sequence: 1 },
            held.now,
          ),
        ],
        result: { kind: 'made', trade },
      }
    },
  })
}

/** Contract §11. */
function movementOf(id: string, quote: Quote): Movement {
  const { partner_id, customer_id, from_asset, to_asset, from_amount, to_amount } = quote
  const { partner_fee, service_fee } = quote
  const customer = customerAccount(customer_id)
  return {
    cause_id: id,
    name: 'traded',
    partner_id,
    lines: [
      { account: customer, asset: from_asset, amount: -from_amount },
      { account: treasuryAccount, asset: from_asset, amount: from_amount - partner_fee - service_fee },
      { account: partnerFeesAccount(partner_id), asset: from_asset, amount: partner_fee },
      { account: serviceFeesAccount, asset: from_asset, amount: service_fee },
      { account: treasuryAccount, asset: to_asset, amount: -to_amount },
      { account: customer, asset: to_asset, amount: to_amount },
    ],
  }
}

type TriedExecute = {
  readonly trade: Trade
  readonly balance_after: bigint
  readonly would_replay: boolean
}

/** Dry run of an execution: the same command with the same locks. */
export async function tryExecute(
  world: World,
  actor: PartnerActor,
  quote_id: string,
  treasury: TreasuryWorker,
): Promise<TriedExecute> {
  const quote = await findQuote(world, actor, quote_id)
  const from = { customer_id: quote.customer_id, asset: quote.from_asset }
  const command = execute(world, actor, quote, await treasury.limitCheck())
  const { result: done, account } = await world.preview(command)
  const balance_after = account(from)!.balance
  if (done.kind === 'made') return { trade: done.trade, balance_after, would_replay: false }
  return { trade: await tradeOf(world, done), balance_after, would_replay: true }
}
