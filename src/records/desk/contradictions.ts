import type { Write } from '../../ledger/command.ts'
import type { World } from '../../world.ts'
import { exceptionWrite, recordException } from '../exceptions/store.ts'

/**
 * Records that the rail reports another end than the booked one. Nothing is booked again automatically: an operator
 * must check.
 */
export function contradictionWrite(
  world: World,
  seen: {
    readonly rail: string
    readonly object: { readonly id: string; readonly partner_id: string; readonly status: string }
    /** Whether the rail says that the money went out. */
    readonly paid: boolean
    readonly said: Readonly<Record<string, unknown>>
  },
  now: Date,
): Write {
  const { id, partner_id, status } = seen.object
  return exceptionWrite(
    world,
    {
      kind: seen.paid && status === 'failed' ? 'late_success' : 'contradiction',
      rail: seen.rail,
      object_id: id,
      partner_id,
      details: { booked: status, rail_says: seen.said },
    },
    now,
  )
}

/** Like `contradictionWrite`, for a caller outside of a money command. */
export function recordContradiction(
  world: Pick<World, 'db' | 'clock'>,
  seen: {
    readonly rail: string
    readonly object: { readonly id: string; readonly partner_id: string; readonly status: string }
    readonly said: Readonly<Record<string, unknown>>
    readonly problem?: string
  },
): Promise<void> {
  const { rail, object, said, problem } = seen
  return recordException(world.db, world.clock, {
    kind: 'contradiction',
    rail,
    object_id: object.id,
    partner_id: object.partner_id,
    details: { booked: object.status, rail_says: said, ...(problem === undefined ? {} : { problem }) },
  })
}
