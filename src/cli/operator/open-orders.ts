import type { MoneyActionName } from '../../control/operator/actions.ts'
import type { Act } from '../../control/operator/registry.ts'
import { isCleanText } from '../../core/text.ts'
import { overdue } from '../../db/due.ts'
import { type Transfer, transferById } from '../../money/onchain/store.ts'
import { type Payout, payoutById } from '../../money/pix/store.ts'
import type { World } from '../../world.ts'
import {
  argument,
  type Input,
  integerOption,
  listed,
  type Output,
  option,
  type Reach,
  requiredOption,
  usage,
  worldThatHas,
} from '../command.ts'
import { actFromShell } from './act-output.ts'

/** Runs an operator's act on money. */
export const actOnMoney = (input: Input, reach: Reach, action: Act<MoneyActionName>): Promise<Output> =>
  actFromShell(input, reach, action, ({ id, text, status = 'completed' }) => ({
    json: { id, status },
    text: `${id} ${text}.\n`,
  }))

export function plainText(input: Input, name: string, max: number): string {
  const text = requiredOption(input, name)
  if (text.trim() === '' || text.length > max || !isCleanText(text)) {
    usage(`--${name} must be plain text of at most ${max} characters.`)
  }
  return text
}

const END_TO_END_ID = /^E[0-9A-Z]{8}[0-9]{12}[A-Za-z0-9]{11}$/

/** Rows of both worlds that have been in transit for longer than the given time. */
async function desk<Row>(
  input: Input,
  worlds: Record<string, World>,
  find: (world: World, ms: number) => Promise<Row[]>,
  show: (row: Row) => Record<string, unknown>,
): Promise<Output> {
  const ms = (integerOption(input, 'older-than', 0, 86_400) ?? 60) * 1000
  const found = await Promise.all(
    Object.values(worlds).map(async (world) =>
      (await find(world, ms)).map((row) => ({ environment: world.environment, ...show(row) })),
    ),
  )
  const data = found.flat()
  return listed({ data }, data)
}

export async function payoutsUnknown(input: Input, { worlds }: Reach): Promise<Output> {
  return desk(
    input,
    worlds,
    (world, ms) => overdue<Payout>(world.db, 'payouts', ms),
    ({ id, status, amount, send_id, attempts, created_at, accepted_at }) => ({
      id,
      status,
      amount,
      send_id,
      attempts,
      created_at: created_at.toISOString(),
      accepted_at: accepted_at?.toISOString() ?? null,
    }),
  )
}

export async function payoutsResolve(input: Input, reach: Reach): Promise<Output> {
  const payout_id = argument(input, 0, 'PAYOUT')
  const place = await worldThatHas(reach.worlds, (world) => payoutById(world.db, payout_id))
  if (!place) throw new Error(`No payout ${payout_id}. See: trilho payouts unknown`)
  const outcome = requiredOption(input, 'outcome')
  if (outcome !== 'completed' && outcome !== 'failed') usage('--outcome must be completed or failed.')
  const end_to_end_id = option(input, 'end-to-end-id')
  if (outcome === 'completed' && !END_TO_END_ID.test(end_to_end_id ?? ''))
    usage(
      'A completed payout needs its --end-to-end-id: E, eight characters, twelve digits, eleven characters.',
    )
  const details = {
    payout_id,
    outcome,
    evidence: plainText(input, 'evidence', 1000),
    ...(end_to_end_id ? { end_to_end_id } : {}),
    ...(input.options['despite-acceptance'] === true ? { despite_acceptance: true } : {}),
  } as const
  const { environment } = place.world
  return actOnMoney(input, reach, { name: 'resolve_payout', environment, details })
}

export async function transfersUnknown(input: Input, { worlds }: Reach): Promise<Output> {
  return desk(
    input,
    worlds,
    (world, ms) => overdue<Transfer>(world.db, 'transfers', ms),
    ({ id, status, network, amount_net, tx_hash, attempts, created_at }) => ({
      id,
      status,
      network,
      amount_net,
      tx_hash,
      attempts,
      created_at: created_at.toISOString(),
    }),
  )
}

export async function transfersResolve(input: Input, reach: Reach): Promise<Output> {
  const transfer_id = argument(input, 0, 'TRANSFER')
  const place = await worldThatHas(reach.worlds, (world) => transferById(world.db, transfer_id))
  if (!place) throw new Error(`No transfer ${transfer_id}. See: trilho transfers unknown`)
  const outcome = requiredOption(input, 'outcome')
  if (outcome !== 'confirmed' && outcome !== 'failed') usage('--outcome must be confirmed or failed.')
  const details = { transfer_id, outcome, evidence: plainText(input, 'evidence', 1000) } as const
  const { environment } = place.world
  return actOnMoney(input, reach, { name: 'resolve_transfer', environment, details })
}

export async function transfersCancel(input: Input, reach: Reach): Promise<Output> {
  const transfer_id = argument(input, 0, 'TRANSFER')
  const place = await worldThatHas(reach.worlds, (world) => transferById(world.db, transfer_id))
  if (!place) throw new Error(`No transfer ${transfer_id}. See: trilho transfers unknown`)
  const details = { transfer_id, reason: plainText(input, 'reason', 500) }
  const { environment } = place.world
  return actOnMoney(input, reach, { name: 'cancel_transfer', environment, details })
}
