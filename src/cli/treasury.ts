import { environments } from '../core/environment.ts'
import { type Asset, assetNames, parseMoney } from '../core/money.ts'
import { customerById } from '../customers/store.ts'
import { act } from '../operator/act.ts'
import { valuedPositions } from '../operator/treasury.ts'
import { findPartner } from '../partners/partners.ts'
import { accruedFees } from '../treasury/store.ts'
import { actorOf } from './actor.ts'
import {
  argument,
  type CliCommand,
  environmentOption,
  type Input,
  option,
  requiredOption,
  table,
  usage,
} from './command.ts'
import { actOnMoney, operatorOption, plainText } from './operator.ts'
import { told } from './told.ts'

/** The house's own side of conversions. */
export const treasuryCommands: CliCommand[] = [
  {
    name: 'treasury show',
    about: 'Show what the treasury holds: position, average cost and result, in BRL',
    options: {
      environment: { type: 'string', value: environments.join('|'), about: 'production when absent' },
    },
    async runWith(input, { worlds }) {
      const data = await valuedPositions(worlds[environmentOption(input) ?? 'production'])
      return { json: { data }, text: table(data) }
    },
  },
  {
    name: 'treasury set-limits',
    takes: assetNames.join('|'),
    about:
      'Say how far the treasury may go in an asset in production; a trade beyond it fails and moves nothing',
    options: {
      lowest: {
        type: 'string',
        value: 'UNITS|none',
        about: 'In the smallest unit; a negative one as --lowest=-500',
      },
      highest: { type: 'string', value: 'UNITS|none', about: 'In the smallest unit' },
    },
    async runWith(input, { office, shared }) {
      const asset = assetOf(argument(input, 0, 'The asset'))
      const [lowest, highest] = [boundOf(input, 'lowest'), boundOf(input, 'highest')]
      if (lowest === undefined && highest === undefined) usage('Say at least one of --lowest, --highest.')
      const acted = await act(office, await actorOf(input, shared), {
        name: 'set_treasury_limits',
        environment: 'production',
        details: {
          asset,
          ...(lowest === undefined ? {} : { lowest }),
          ...(highest === undefined ? {} : { highest }),
        },
      })
      return told(acted, (limit) => ({ json: limit, text: table([limit]) }))
    },
  },
  {
    name: 'partners fees',
    takes: 'PARTNER',
    about: 'Show the fees that a partner has earned by conversions and not been paid',
    options: {
      environment: { type: 'string', value: environments.join('|'), about: 'production when absent' },
    },
    async runWith(input, { shared, worlds }) {
      const { id } = await findPartner(shared, argument(input, 0, 'PARTNER'))
      const data = await accruedFees(worlds[environmentOption(input) ?? 'production'].db, id)
      return { json: { data }, text: table(data) }
    },
  },
  {
    name: 'partners pay-fees',
    takes: 'PARTNER',
    about:
      'Pay a partner the fees it has earned, to a customer of its own or outside. In production this makes a proposal',
    options: {
      environment: { type: 'string', value: environments.join('|'), about: 'production when absent' },
      asset: { type: 'string', value: assetNames.join('|'), about: 'Which fees', required: true },
      amount: { type: 'string', value: 'UNITS', about: 'In the smallest unit', required: true },
      customer: { type: 'string', value: 'CUSTOMER', about: 'Whom to credit; paid outside when absent' },
      reason: { type: 'string', value: 'TEXT', about: 'Why', required: true },
      reference: {
        type: 'string',
        value: 'TEXT',
        about: 'Unique: the same reference pays once. Of the bank transfer, when paid outside',
        required: true,
      },
      operator: operatorOption,
    },
    async runWith(input, reach) {
      const { shared, worlds } = reach
      const { id: partner_id } = await findPartner(shared, argument(input, 0, 'PARTNER'))
      const world = worlds[environmentOption(input) ?? 'production']
      const asset = assetOf(requiredOption(input, 'asset'))
      const customer_id = option(input, 'customer') ?? null
      if (customer_id !== null && (await customerById(world.db, customer_id))?.partner_id !== partner_id)
        throw new Error(`No customer ${customer_id} of ${partner_id} in ${world.environment}.`)
      const details = {
        partner_id,
        customer_id,
        asset,
        amount: parseMoney(asset, requiredOption(input, 'amount')).units.toString(),
        reason: plainText(input, 'reason', 200),
        reference: plainText(input, 'reference', 255),
      }
      return actOnMoney(input, reach, { name: 'pay_fees', environment: world.environment, details })
    },
  },
]

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
