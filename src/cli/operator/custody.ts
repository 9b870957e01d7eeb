import { parseMoney } from '../../core/money.ts'
import { assetOfRail } from '../../money/custody/controls.ts'
import { type RailName, railNames } from '../../money/custody/controls-store.ts'
import { newestMoves } from '../../money/custody/store.ts'
import {
  argument,
  environmentOption,
  type Input,
  listed,
  type Output,
  type Reach,
  requiredOption,
  usage,
} from '../command.ts'
import { actOnMoney, plainText } from './open-orders.ts'

const MOST = 200

const isRail = (text: string): text is RailName => (railNames as readonly string[]).includes(text)

export async function custodyMove(input: Input, reach: Reach): Promise<Output> {
  const rail = argument(input, 0, 'The rail')
  if (!isRail(rail)) return usage(`The rail must be one of ${railNames.join(', ')}.`)
  const { in: to_rail, out: from_rail } = input.options
  if (Boolean(to_rail) === Boolean(from_rail)) usage('Say one of --in, --out.')
  const asset = assetOfRail(rail)
  const details = {
    rail,
    direction: to_rail ? 'to_rail' : 'from_rail',
    asset,
    amount: parseMoney(asset, requiredOption(input, 'amount')).units.toString(),
    reason: plainText(input, 'reason', 200),
    reference: plainText(input, 'reference', 255),
  } as const
  const environment = environmentOption(input) ?? 'production'
  return actOnMoney(input, reach, { name: 'move_custody', environment, details })
}

export async function custodyMoves(input: Input, { worlds }: Reach): Promise<Output> {
  const data = await newestMoves(worlds[environmentOption(input) ?? 'production'].db, MOST)
  return listed({ data }, data)
}
