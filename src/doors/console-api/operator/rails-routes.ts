import { act } from '../../../control/operator/act.ts'
import { describeRails, type RailCustody } from '../../../control/operator/rails.ts'
import { type RailLimits, railLimitNames } from '../../../money/custody/controls-store.ts'
import type { OpenExceptions } from '../../../records/exceptions/store.ts'
import type { World } from '../../../world.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { limitRailByOperator, pauseRailByOperator, resumeRailByOperator } from './rails-contract.ts'
import { renderActed } from './shared-schemas.ts'

export const railsRoutes = ({ office }: ConsoleParts): ConsoleHandler[] => [
  answer(pauseRailByOperator, async ({ actor, world: { environment }, params: { rail }, body }) =>
    renderActed(
      await act(office, actor, { name: 'pause_rail', environment, details: { rail, reason: body.reason } }),
    ),
  ),

  answer(resumeRailByOperator, async ({ actor, world: { environment }, params: { rail }, body }) => {
    const { reason, rehearsed = false } = body
    return renderActed(
      await act(office, actor, { name: 'resume_rail', environment, rehearsed, details: { rail, reason } }),
    )
  }),

  answer(limitRailByOperator, async ({ actor, world: { environment }, params: { rail }, body }) => {
    const change: Partial<Record<keyof RailLimits, bigint | null>> = {}
    for (const name of railLimitNames) {
      const figure = body[name]
      if (figure !== undefined) change[name] = figure === null ? null : BigInt(figure)
    }
    const details = { rail, reason: body.reason, change }
    return renderActed(await act(office, actor, { name: 'set_rail_limits', environment, details }))
  }),
]

/** Each rail as the pages show it. Further facts about a rail are added to `RailState` and here. */
export async function renderRails(world: World, exceptions: readonly OpenExceptions[]) {
  const reports = await describeRails(world)
  return reports.map(({ control, open_amount, last_failure, custody, ...report }) => {
    const { paused_at, paused_by, paused_reason } = control
    return {
      ...report,
      paused: paused_at && { at: paused_at.toISOString(), by: paused_by!, reason: paused_reason! },
      limits: {
        order_most: control.order_most?.toString() ?? null,
        day_most: control.day_most?.toString() ?? null,
        floor: control.floor?.toString() ?? null,
        gas_floor: control.gas_floor?.toString() ?? null,
        sweep_from: control.sweep_from?.toString() ?? null,
        sweep_fee_max: control.sweep_fee_max?.toString() ?? null,
      },
      open_amount: open_amount.toString(),
      custody: custody && renderCustody(custody),
      last_failure: last_failure && {
        id: last_failure.id,
        at: last_failure.failed_at.toISOString(),
        code: last_failure.code,
      },
      exceptions: exceptions
        .filter((one) => one.rail === report.rail)
        .reduce((sum, { count }) => sum + count, 0),
    }
  })
}

const renderCustody = ({ gas_coin, held, reconciled, endpoints, sweeps, unknown_tokens }: RailCustody) => ({
  gas_coin,
  held: held && {
    wallet: held.wallet,
    amount: held.asset_amount.toString(),
    gas_amount: gas_coin === '' ? '0' : held.native_amount.toString(),
    block_height: held.block_height.toString(),
    age_seconds: held.age_ms === null ? null : Math.round(held.age_ms / 1000),
  },
  reconciled: reconciled && {
    difference: reconciled.difference.toString(),
    block_height: reconciled.block_height?.toString() ?? null,
    at: reconciled.at.toISOString(),
  },
  endpoints: endpoints.map(({ endpoint, state, head, latency_ms, last_failure }) => ({
    endpoint,
    healthy: state === 'healthy',
    head: head?.toString() ?? null,
    latency_ms: latency_ms === undefined ? null : Math.round(latency_ms),
    last_failure: last_failure ?? null,
  })),
  sweeps: sweeps && {
    gas_account: sweeps.gas_account,
    gas_amount: sweeps.gas_wei.toString(),
    unswept: sweeps.unswept.toString(),
    addresses: sweeps.addresses,
    under_way: sweeps.under_way,
    under_way_amount: sweeps.under_way_amount.toString(),
    read_at: sweeps.read_at.toISOString(),
  },
  unknown_tokens: unknown_tokens && {
    count: unknown_tokens.count,
    newest: unknown_tokens.newest.map(({ contract, address, amount, tx_hash, log_index, seen_at }) => ({
      ...{ contract, address, tx_hash, log_index },
      amount: amount.toString(),
      seen_at: seen_at.toISOString(),
    })),
  },
})
