import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openBatching } from '../../core/batching.ts'
import type { Environment } from '../../core/environment.ts'
import type { AnsweredRequest } from '../../http/answered-request.ts'
import type { Worlds } from '../../world.ts'
import { insertRequests, type LoggedRequest } from './store.ts'

/**
 * Logs requests after they were answered, in batches and in the background. Nothing waits for it: requests beyond the memory limit
 * or a partner's daily share, and those that the database does not accept at once, are left out and counted.
 */
type RequestRecorder = {
  record(answered: AnsweredRequest): void
  stop(): Promise<void>
}

type LeftOut = 'share' | 'memory' | 'database'

type RecorderOptions = {
  readonly worlds: Worlds
  readonly log: Logger
  /** Requests logged per partner and UTC day on this node; 0: none. */
  readonly per_day: number
  readonly onLeftOut?: (environment: Environment, reason: LeftOut, count: number) => void
  /** Called after a batch was written. */
  readonly onWritten?: (environment: Environment) => void
}

const GATHER_MS = 250
const BATCH_MAX = 500
const WAITING_MAX = 5000
/** One in this many of a partner's share may be rate-limit refusals: they cost the caller nothing, and would fill the log. */
const REFUSED_SHARE = 10
const DAY_MS = 24 * 3_600_000

const gather = (stopping: AbortSignal) => sleep(GATHER_MS, undefined, { signal: stopping })

type Waiting = Omit<LoggedRequest, 'position'>

export function openRequestRecorder(options: RecorderOptions): RequestRecorder {
  const { worlds, log } = options
  const lines = {
    production: openLine('production'),
    sandbox: openLine('sandbox'),
  }

  function openLine(environment: Environment) {
    const world = worlds[environment]
    const share = openShare(options.per_day)
    const leaveOut = (reason: LeftOut, count = 1) => options.onLeftOut?.(environment, reason, count)
    const batching = openBatching({ run: write, gather, batch_max: BATCH_MAX, waiting_max: WAITING_MAX })

    async function write(batch: readonly Waiting[]): Promise<undefined> {
      try {
        await insertRequests(world.db, batch)
        options.onWritten?.(environment)
      } catch (error) {
        leaveOut('database', batch.length)
        log.debug(
          { err: error, requests: batch.length },
          'requests: a batch was not written; its requests are missing in the request log',
        )
      }
    }

    return {
      add(row: Waiting, refused_by_limit: boolean): void {
        if (!share.take(row, refused_by_limit)) return leaveOut('share')
        batching.add(row).catch(() => leaveOut('memory'))
      },
      stop: batching.stop,
    }
  }

  return {
    record(answered) {
      const { by, status, elapsed_ms } = answered
      const { world, partner_id, key_id, last_four = null } = by
      const row: Waiting = {
        id: answered.id,
        partner_id,
        api_key_id: key_id,
        method: answered.method,
        route: answered.route,
        status,
        error_code: answered.error_code,
        duration_ms: Math.round(elapsed_ms),
        address: answered.address,
        object_id: answered.object_id,
        key_last_four: last_four,
        created_at: new Date(world.clock.now() - elapsed_ms),
      }
      lines[world.environment].add(row, status === 429)
    },
    async stop() {
      await Promise.all(Object.values(lines).map((line) => line.stop()))
    },
  }
}

/** How much of its daily share each partner has used; reset when the day changes. */
function openShare(per_day: number) {
  let day = 0
  const used = new Map<string, { all: number; refused: number }>()
  return {
    take({ partner_id, created_at }: Waiting, refused_by_limit: boolean): boolean {
      const today = Math.floor(created_at.getTime() / DAY_MS)
      if (today > day) {
        day = today
        used.clear()
      }
      const own = used.get(partner_id) ?? { all: 0, refused: 0 }
      if (own.all >= per_day || (refused_by_limit && own.refused >= per_day / REFUSED_SHARE)) return false
      own.all++
      if (refused_by_limit) own.refused++
      used.set(partner_id, own)
      return true
    },
  }
}
