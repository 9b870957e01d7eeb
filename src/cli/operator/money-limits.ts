import { formatMoney, money } from '../../core/money.ts'
import {
  type MoneyLimitName,
  type MoneyLimits,
  type MoneyLimitUsage,
  moneyLimitNames,
  moneyLimitsOf,
  moneyLimitUsageOf,
} from '../../money/money-limits/store.ts'
import { customerById } from '../../parties/customers/store.ts'
import { findPartner } from '../../parties/partners/partners.ts'
import type { World } from '../../world.ts'
import {
  argument,
  environmentOption,
  type Input,
  type Output,
  option,
  options,
  type Reach,
  table,
  usage,
  worldThatHas,
} from '../command.ts'
import { moneyLimits } from '../commands/options.ts'
import { actFromShell } from './act-output.ts'

const FIGURE = /^(0|[1-9][0-9]{0,17})$/
function figureOf(name: string, text: string): bigint | null {
  if (text === 'none') return null
  if (!FIGURE.test(text)) usage(`--${name} must be a whole number of at most 18 digits, or none.`)
  return BigInt(text)
}

function changeFrom(input: Input): Partial<MoneyLimits> {
  const change: Partial<Record<MoneyLimitName, bigint | null>> = {}
  for (const name of ['payout-order', 'payout-day', 'payout-night'] as const) {
    const text = option(input, name)
    if (text !== undefined) change[name.replace('-', '_') as MoneyLimitName] = figureOf(name, text)
  }
  for (const name of ['transfer-order', 'transfer-day'] as const) {
    for (const text of options(input, name)) {
      const [, asset, figure] = /^(USDT|BTC)=(.*)$/.exec(text) ?? usage(`--${name} must be USDT=… or BTC=….`)
      const field = `${name.replace('-', '_')}_${asset!.toLowerCase()}` as MoneyLimitName
      if (field in change) usage(`--${name} names ${asset} twice.`)
      change[field] = figureOf(name, figure!)
    }
  }
  if (Object.keys(change).length === 0)
    usage(
      `Say at least one of ${Object.keys(moneyLimits)
        .map((name) => `--${name}`)
        .join(', ')}.`,
    )
  return change
}

const assetOf = (name: MoneyLimitName) =>
  name.endsWith('_usdt') ? 'USDT' : name.endsWith('_btc') ? 'BTC' : 'BRL'

const none = Object.fromEntries(moneyLimitNames.map((name) => [name, null])) as MoneyLimits

/** The limits in force, and how much of each is used. */
function moneyLimitRows(limits: MoneyLimits, used?: MoneyLimitUsage) {
  return moneyLimitNames.map((name) => {
    const asset = assetOf(name)
    const shown = (units: bigint | null | undefined) =>
      units === null || units === undefined ? null : formatMoney(money(asset, units))
    const sum = used?.[`${name}_used` as keyof MoneyLimitUsage] as bigint | null | undefined
    return { limit: name, allowed: shown(limits[name]), ...(used ? { used: shown(sum) } : {}) }
  })
}

function shown(world: World, subject_id: string, limits: MoneyLimits) {
  return {
    json: { subject_id, environment: world.environment, money_limits: limits },
    text: table(moneyLimitRows(limits)),
  }
}

async function setIn(
  input: Input,
  reach: Reach,
  of: { world: World; subject_id: string; change: Partial<MoneyLimits> },
): Promise<Output> {
  const { world, subject_id, change } = of
  const { environment } = world
  const details = { subject_id, change }
  return actFromShell(input, reach, { name: 'set_money_limits', environment, details }, (limits) =>
    shown(world, subject_id, limits),
  )
}

export async function partnersSetMoneyLimits(input: Input, reach: Reach): Promise<Output> {
  const change = changeFrom(input)
  const world = reach.worlds[environmentOption(input) ?? 'production']
  const { id } = await findPartner(reach.shared, argument(input, 0, 'PARTNER'))
  return setIn(input, reach, { world, subject_id: id, change })
}

export async function partnersMoneyLimits(input: Input, { shared, worlds }: Reach): Promise<Output> {
  const world = worlds[environmentOption(input) ?? 'production']
  const { id } = await findPartner(shared, argument(input, 0, 'PARTNER'))
  return shown(world, id, (await moneyLimitsOf(world.db, id)) ?? none)
}

export async function customersSetMoneyLimits(input: Input, reach: Reach): Promise<Output> {
  const change = changeFrom(input)
  const { world, id } = await customerIn(reach.worlds, input)
  return setIn(input, reach, { world, subject_id: id, change })
}

export async function customersMoneyLimits(input: Input, { worlds }: Reach): Promise<Output> {
  const { world, id } = await customerIn(worlds, input)
  const [own = none, inForce] = await Promise.all([
    moneyLimitsOf(world.db, id),
    moneyLimitUsageOf(world.db, id),
  ])
  return {
    json: {
      subject_id: id,
      environment: world.environment,
      money_limits: own,
      in_force: inForce ?? none,
    },
    text: table(moneyLimitRows(inForce ?? none, inForce)),
  }
}

async function customerIn(worlds: Parameters<typeof worldThatHas>[0], input: Input) {
  const id = argument(input, 0, 'CUSTOMER')
  const place = await worldThatHas(worlds, (world) => customerById(world.db, id))
  if (!place) throw new Error(`No customer ${id} in production or in the sandbox. Check the id.`)
  return { world: place.world, id }
}
