import { setTimeout as sleep } from 'node:timers/promises'
import { refuse } from '../../core/errors.ts'
import type { Pool } from '../../db/pool.ts'
import { wholeOf } from '../../db/share.ts'
import type { World } from '../../world.ts'
import { compareSent } from './compare-sent.ts'

/**
 * A node that starts on a restored database must not send before it knows what the provider has sent: partners order lost payouts again,
 * under other ids. So the first sends of a node wait until the provider's list was compared with the payouts. The comparison begins
 * shortly before the newest payout of the database, because lost payouts are younger. An unknown payment in the list pauses the rail. The
 * wait is bounded: a list that cannot be read, or takes too long, must not stop payments for ever. It ends by failures, or by time that the
 * process has spent on it: a process that stood still has not tried.
 */
const BEFORE_NEWEST_MS = 3_600_000
const MOST_MS = 86_400_000
const WAIT_MOST_MS = 120_000
const FAILED_LEAST = 5
const RETRY_MS = 2000
const AGAIN_MS = 500
/** How long an order waits for the comparison before it is refused. */
const ORDER_WAIT_MS = 1000
const RETRY_AFTER_SECONDS = 5

type Gate = {
  is_open: boolean
  /** When the wait may end, on this process's monotonic clock. */
  readonly until: number
  /** Comparisons that have failed. */
  failed: number
  /** For how long the gate was closed, without the time in which the process stood still. */
  waited_ms: number
  seen_at: number
  /** The comparison that is under way. */
  running?: Promise<void> | undefined
  /** No comparison begins before this time, on this process's monotonic clock. */
  next_at: number
}

/** Keyed by pool: a node has one pool per world. */
const gates = new WeakMap<Pool, Gate>()

/** Whether this node may send. If not, begins the comparison unless it is running, and does not wait for it. */
export function maySend(world: World): boolean {
  if (!world.pix.account) return true
  const gate = gateOf(world)
  passTime(gate)
  const has_tried = gate.failed >= FAILED_LEAST || gate.waited_ms >= WAIT_MOST_MS
  if (gate.is_open || (performance.now() >= gate.until && has_tried)) return true
  if (!gate.running && performance.now() >= gate.next_at) begin(world, gate)
  return false
}

/** Like `maySend`, but waits a moment for a comparison that is running. */
export async function maySendSoon(world: World): Promise<boolean> {
  if (maySend(world)) return true
  const { running } = gateOf(world)
  if (running) await Promise.race([running, new Promise((resolve) => setTimeout(resolve, ORDER_WAIT_MS))])
  return maySend(world)
}

/** Refuses the order if the comparison is not done: nothing moves. */
export async function assertCompared(world: World): Promise<void> {
  if (await maySendSoon(world)) return
  refuse('rail_unavailable', {
    message:
      'The service has just started, and compares its payouts with those of the payment provider first. Nothing moved. Retry with the same idempotency key.',
    retry_after_seconds: RETRY_AFTER_SECONDS,
  })
}

/** A process that runs comes by more often than this: to send, or to read the list. */
const STEP_MOST_MS = 10_000

function passTime(gate: Gate): void {
  const now = performance.now()
  gate.waited_ms += Math.min(now - gate.seen_at, STEP_MOST_MS)
  gate.seen_at = now
}

function gateOf(world: World): Gate {
  const pool = wholeOf(world.db)
  const known = gates.get(pool)
  if (known) return known
  const now = performance.now()
  const gate: Gate = {
    is_open: false,
    until: now + WAIT_MOST_MS,
    failed: 0,
    waited_ms: 0,
    seen_at: now,
    next_at: now,
  }
  gates.set(pool, gate)
  return gate
}

function begin(world: World, gate: Gate): void {
  gate.running = compareNewest(world, gate)
    .then(
      () => {
        gate.is_open = true
      },
      () => {
        gate.failed++
        gate.next_at = performance.now() + RETRY_MS
        // Orders and sends may be rare, and the wait must end without them.
        setTimeout(() => void maySend(world), RETRY_MS + 1).unref()
      },
    )
    .finally(() => {
      gate.running = undefined
    })
}

async function compareNewest(world: World, gate: Gate): Promise<void> {
  const now = world.clock.now()
  const client = await world.db.connect()
  try {
    const { rows } = await client.query<{ created_at: Date }>(
      'SELECT created_at FROM payouts ORDER BY id DESC LIMIT 1',
    )
    const newest = rows[0]?.created_at.getTime() ?? now
    const from = Math.max(Math.min(newest, now) - BEFORE_NEWEST_MS, now - MOST_MS)
    const shouldContinue = () => {
      passTime(gate)
      return true
    }
    const window = { from: new Date(from), to: new Date(now), shouldContinue }
    // Each pass names a part of the unknown payments. Until all are named, operators could resume the rail without having seen the others.
    while (!(await compareSent(world, client, window))) await sleep(AGAIN_MS)
  } finally {
    client.release()
  }
}
