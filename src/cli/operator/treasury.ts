import { valuedPositions } from '../../control/operator/treasury.ts'
import { type Asset, assetNames, parseMoney } from '../../core/money.ts'
import { accruedFees } from '../../money/treasury/store.ts'
import { customerById } from '../../parties/customers/store.ts'
import { findPartner } from '../../parties/partners/partners.ts'
import {
  argument,
  environmentOption,
  type Input,
  listed,
  type Output,
  option,
  type Reach,
  requiredOption,
  table,
  usage,
} from '../command.ts'
import { actFromShell } from './act-output.ts'
import { actOnMoney, plainText } from './open-orders.ts'

export async function treasuryShow(input: Input, { worlds }: Reach): Promise<Output> {
  const data = await valuedPositions(worlds[environmentOption(input) ?? 'production'])
  return listed({ data }, data)
}

export async function treasurySetLimits(input: Input, reach: Reach): Promise<Output> {
  const asset = assetOf(argument(input, 0, 'The asset'))
  const [lowest, highest] = [boundOf(input, 'lowest'), boundOf(input, 'highest')]
  if (lowest === undefined && highest === undefined) usage('Say at least one of --lowest, --highest.')
  const details = {
    asset,
    ...(lowest === undefined ? {} : { lowest }),
    ...(highest === undefined ? {} : { highest }),
  }
  const action = { name: 'set_treasury_limits', environment: 'production', details } as const
  return actFromShell(input, reach, action, (limit) => ({ json: limit, text: table([limit]) }))
}

export async function partnersFees(input: Input, { shared, worlds }: Reach): Promise<Output> {
  const { id } = await findPartner(shared, argument(input, 0, 'PARTNER'))
  const data = await accruedFees(worlds[environmentOption(input) ?? 'production'].db, id)
  return listed({ data }, data)
}

export async function partnersPayFees(input: Input, reach: Reach): Promise<Output> {
  const { shared, worlds } = reach
  const { id: partner_id } = await findPartner(shared, argument(input, 0, 'PARTNER'))
  const world = worlds[environmentOption(input) ?? 'production']
  const asset = assetOf(requiredOption(input, 'asset'))
  const customer_id = option(input, 'customer') ?? null
  if (customer_id !== null && (await customerById(world.db, customer_id))?.partner_id !== partner_id)
    throw new Error(
      `No customer ${customer_id} of ${partner_id} in ${world.environment}. Check --customer and --environment.`,
    )
  const details = {
    partner_id,
    customer_id,
    asset,
    amount: parseMoney(asset, requiredOption(input, 'amount')).units.toString(),
    reason: plainText(input, 'reason', 200),
    reference: plainText(input, 'reference', 255),
  }
  return actOnMoney(input, reach, { name: 'pay_fees', environment: world.environment, details })
}

function assetOf(text: string): Asset {
  return (
    assetNames.find((asset) => asset === text) ?? usage(`The asset must be one of ${assetNames.join(', ')}.`)
  )
}

function boundOf(input: Input, name: string): bigint | null | undefined {
  const text = option(input, name)
  if (text === undefined) return undefined
  if (text === 'none') return null
  if (!/^-?[0-9]{1,30}$/.test(text)) usage(`--${name} must be a whole number, or none.`)
  return BigInt(text)
}
