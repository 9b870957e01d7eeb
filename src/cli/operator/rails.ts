import { describeRails, type RailReport } from '../../control/operator/rails.ts'
import type { Environment } from '../../core/environment.ts'
import { formatMoney, money } from '../../core/money.ts'
import { networks } from '../../core/networks.ts'
import {
  controlFacts,
  isRailName,
  type RailControl,
  type RailLimits,
  type RailName,
  railLimitMost,
  railLimitNames,
  railNames,
} from '../../money/custody/controls-store.ts'
import {
  argument,
  environmentOption,
  type Input,
  listed,
  type Output,
  option,
  type Reach,
  table,
  usage,
} from '../command.ts'
import { actFromShell } from './act-output.ts'
import { actOnMoney, plainText } from './open-orders.ts'

const REASON_MAX = 200

const inEnvironment = (input: Input) => environmentOption(input) ?? 'production'

function railOf(input: Input): RailName {
  const name = argument(input, 0, 'The rail')
  return isRailName(name) ? name : usage(`The rail must be one of ${railNames.join(', ')}.`)
}

export async function railsList(input: Input, { worlds }: Reach): Promise<Output> {
  const reports = await describeRails(worlds[inEnvironment(input)])
  const data = reports.map(({ control: { rail: _, ...control }, last_failure, ...report }) => ({
    ...report,
    ...control,
    last_failure: last_failure && `${last_failure.id} ${last_failure.code}`,
  }))
  const shown = reports.map(({ rail, asset, control, custody, ...report }) => ({
    rail,
    state: stateOf({ ...report, control }),
    pending: report.pending,
    processing: report.processing,
    open: formatMoney(money(asset, report.open_amount)),
    order_most: control.order_most,
    day_most: control.day_most,
    floor: control.floor,
    gas_floor: control.gas_floor,
    sweep_from: control.sweep_from,
    sweep_fee_max: control.sweep_fee_max,
    unswept: custody?.sweeps ? formatMoney(money(asset, custody.sweeps.unswept)) : null,
  }))
  return listed({ data }, shown)
}

function stateOf({
  configured,
  message,
  control: { paused_at, paused_by, paused_reason },
}: Pick<RailReport, 'configured' | 'message' | 'control'>): string {
  if (paused_at) return `paused ${paused_at.toISOString()} by ${paused_by}: ${paused_reason}`
  if (!configured) return 'not configured'
  return message === null ? 'accepts orders' : `refuses orders: ${message}`
}

export async function railsPause(input: Input, reach: Reach): Promise<Output> {
  const details = { rail: railOf(input), reason: plainText(input, 'reason', REASON_MAX) }
  const action = { name: 'pause_rail', environment: inEnvironment(input), details } as const
  return actFromShell(input, reach, action, ({ control, changed }) => ({
    json: shownControl(control),
    text: changed
      ? `${control.rail} is paused. ${howToResume(control.rail, action.environment)}\n`
      : `${control.rail} was paused before, ${control.paused_at?.toISOString()} by ${control.paused_by}: ${control.paused_reason}\n`,
  }))
}

/** In the sandbox one person resumes a rail. */
const howToResume = (rail: string, environment: Environment): string =>
  environment === 'sandbox'
    ? `Resume it: trilho rails resume ${rail} --environment sandbox --reason TEXT`
    : `Two operators resume it: trilho rails resume ${rail} --reason TEXT`

export async function railsResume(input: Input, reach: Reach): Promise<Output> {
  const details = { rail: railOf(input), reason: plainText(input, 'reason', REASON_MAX) }
  return actOnMoney(input, reach, { name: 'resume_rail', environment: inEnvironment(input), details })
}

export async function railsSetLimits(input: Input, reach: Reach): Promise<Output> {
  const rail = railOf(input)
  const change: Partial<Record<keyof RailLimits, bigint | null>> = {}
  for (const name of railLimitNames) {
    const figure = figureOf(input, name)
    if (figure !== undefined) change[name] = figure
  }
  if (change.gas_floor && (rail === 'pix' || rail === 'bitcoin'))
    usage(`${rail} has no coin for gas, so it has no --gas-floor. Set --floor instead.`)
  if ((change.sweep_from || change.sweep_fee_max) && (rail === 'pix' || networks[rail].kind !== 'evm'))
    usage(`Nothing is swept on ${rail}: --sweep-from and --sweep-fee-max are for EVM networks.`)
  if (Object.keys(change).length === 0)
    usage(`Say at least one of ${railLimitNames.map((name) => `--${optionOf(name)}`).join(', ')}.`)
  const details = { rail, change, reason: plainText(input, 'reason', REASON_MAX) }
  const action = { name: 'set_rail_limits', environment: inEnvironment(input), details } as const
  return actFromShell(input, reach, action, (control) => ({
    json: shownControl(control),
    text: table(railLimitNames.map((limit) => ({ limit, units: control[limit] }))),
  }))
}

const shownControl = (control: RailControl) => ({ rail: control.rail, ...controlFacts(control) })

const optionOf = (name: keyof RailLimits) => name.replaceAll('_', '-')

function figureOf(input: Input, name: keyof RailLimits): bigint | null | undefined {
  const text = option(input, optionOf(name))
  if (text === undefined) return undefined
  if (text === 'none') return null
  const most = railLimitMost[name]
  if (!/^(0|[1-9][0-9]*)$/.test(text) || BigInt(text) > most)
    usage(`--${optionOf(name)} must be a whole number up to ${most}, or none.`)
  return BigInt(text)
}
