import assert from 'node:assert/strict'
import { refuse } from '../../core/errors.ts'
import { type Asset, formatMoney, money, UNITS_MAX } from '../../core/money.ts'
import { type Held, type Kept, keep } from '../../ledger/command.ts'
import type { World } from '../../world.ts'
import { type MoneyLimits, type MoneyLimitUsage, saveMoneyLimits, usageRows } from './store.ts'

/**
 * How much money may leave a customer (contract §17.10): per order, day and night for payouts, per order and day for transfers of
 * each asset. Judged while the account is locked, so that concurrent orders cannot exceed a limit together. Limits are net of
 * fees, and a failed order no longer counts.
 */
type LimitedOrder = { readonly customer_id: string; readonly units: bigint } & (
  | { readonly kind: 'payout'; readonly asset: 'BRL' }
  | { readonly kind: 'transfer'; readonly asset: 'USDT' | 'BTC' }
)

type UsedName = Extract<keyof MoneyLimitUsage, `${string}_used`>

type Window = {
  readonly limit: string
  readonly allowed: bigint | null
  readonly used: bigint
  /** The sum in which the order counts; absent for a limit per order. */
  readonly counted_in?: UsedName
  readonly resets_at: Date | null
}

function windowsOf(usage: MoneyLimitUsage, order: LimitedOrder, now: Date): Window[] {
  const alone = { used: 0n, resets_at: null }
  const counted = (name: UsedName, resets_at: Date) => ({
    used: usage[name] ?? 0n,
    counted_in: name,
    resets_at,
  })
  if (order.kind === 'payout') {
    return [
      { limit: 'payout_order', allowed: usage.payout_order, ...alone },
      { limit: 'payout_day', allowed: usage.payout_day, ...counted('payout_day_used', usage.day_ends_at) },
      {
        limit: 'payout_night',
        allowed: now >= usage.night_starts_at && now < usage.night_ends_at ? usage.payout_night : null,
        ...counted('payout_night_used', usage.night_ends_at),
      },
    ]
  }
  const asset = order.asset === 'USDT' ? 'usdt' : 'btc'
  return [
    { limit: 'transfer_order', allowed: usage[`transfer_order_${asset}`], ...alone },
    {
      limit: 'transfer_day',
      allowed: usage[`transfer_day_${asset}`],
      ...counted(`transfer_day_${asset}_used`, usage.day_ends_at),
    },
  ]
}

/** Refuses an order beyond a limit. Returns the sums with this order included. `now` is the time of the order. */
export function spend(
  usage: MoneyLimitUsage,
  order: LimitedOrder,
  now: Date,
): Partial<Record<UsedName, bigint>> {
  const sums: Partial<Record<UsedName, bigint>> = {}
  for (const { limit, allowed, used, counted_in, resets_at } of windowsOf(usage, order, now)) {
    if (allowed === null) continue
    if (used + order.units > allowed) exceeded({ limit, asset: order.asset, allowed, used, resets_at })
    if (counted_in) sums[counted_in] = used + order.units
  }
  return sums
}

const WORDS: Readonly<Record<string, string>> = {
  payout_order: 'for one payout',
  payout_day: 'for the payouts of a day',
  payout_night: 'for the payouts of a night',
  transfer_order: 'for one transfer',
  transfer_day: 'for the transfers of a day',
}

function exceeded(by: Omit<Window, 'counted_in' | 'allowed'> & { asset: Asset; allowed: bigint }): never {
  const { limit, asset, allowed, used, resets_at } = by
  const left = allowed > used ? allowed - used : 0n
  const most = formatMoney(money(asset, allowed))
  const rest = resets_at
    ? ` ${formatMoney(money(asset, left))} are left until ${resets_at.toISOString()}.`
    : ''
  return refuse('limit_exceeded', {
    param: 'amount',
    message: `This customer’s limit ${WORDS[limit]} is ${most}.${rest}`,
    details: {
      limit,
      asset,
      allowed: allowed.toString(),
      used: used.toString(),
      resets_at: resets_at?.toISOString() ?? null,
    },
  })
}

/** For a command that locks the order's account and reads `usageRows`. Returns the sums for later commands of the batch. */
export function spendHeld(held: Held, order: LimitedOrder): Kept[] {
  const usage = held.row(usageRows, order.customer_id)
  if (!usage) return []
  return [keep(usageRows, { id: usage.id, ...spend(usage, order, held.now) })]
}

/** A partner's limits are the default of its customers; null removes one. They apply to orders from now on. */
export function setMoneyLimits(
  world: World,
  subject_id: string,
  change: Partial<MoneyLimits>,
): Promise<MoneyLimits> {
  const figures = Object.values(change)
  assert(figures.length > 0, 'a change names at least one limit')
  for (const figure of figures)
    assert(figure === null || (figure >= 0n && figure <= UNITS_MAX), 'a limit is an amount')
  return saveMoneyLimits(world.db, subject_id, change)
}
