import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openBatching } from '../core/batching.ts'
import { isAnswer, isServerTrouble } from '../db/failure.ts'
import { type Db, type Pool, transaction } from '../db/pool.ts'
import { type AttemptResult, isGone, recordResults } from './attempt-results.ts'
import { type EndpointNews, noteEndpoints } from './store.ts'

/**
 * Records the results of attempts in batches: results that come while one statement runs go into the next. Many deliveries cost
 * few commits, and a single delivery is recorded at once.
 */
export type Recorder = {
  /** Resolves when the result is recorded, or could not be: then the lease ends, and the event is sent again. */
  record(result: AttemptResult): Promise<void>
  stop(): Promise<void>
}

/** Contract §12: an endpoint that only fails for this long is disabled. */
const DISABLE_AFTER_MS = 5 * 24 * 3600 * 1000
const BATCH_MAX = 200
/** How long results are gathered while batches have more than one. */
const GATHER_MS = 15

export function openRecorder(
  db: Pool,
  options: {
    readonly log: Logger
    readonly onLost?: (loss: { kept: boolean }) => void
    /** Records the event of a disabled endpoint, in the transaction that disables it. */
    readonly tell?: (tx: Db, endpoint: { id: string; partner_id: string }) => Promise<void>
    /** Called after an endpoint was disabled because it answered 410 or failed for too long. */
    readonly onDisabled?: (endpoint_id: string) => void
  },
): Recorder {
  const { log, onLost, onDisabled, tell } = options
  let has_several = false
  const batching = openBatching<AttemptResult>({
    run: (batch) => {
      has_several = batch.length > 1
      return keepOutcomes(batch).then(() => undefined)
    },
    gather: async (stopping) =>
      void (has_several && (await sleep(GATHER_MS, undefined, { signal: stopping }))),
    batch_max: BATCH_MAX,
  })

  /** Records a batch. If the database refuses a row, halving finds it in few steps and the other rows are kept. Never throws. */
  async function keepOutcomes(batch: readonly AttemptResult[]): Promise<void> {
    let failing: string[]
    try {
      failing = await recordResults(db, batch)
    } catch (error) {
      if (!isAboutRows(error)) return lose(batch, error)
      if (batch.length === 1) return keepBare(batch[0]!, error)
      const middle = batch.length >> 1
      await keepOutcomes(batch.slice(0, middle))
      return keepOutcomes(batch.slice(middle))
    }
    await noteNews(batch, failing)
  }

  /**
   * Records an attempt without its response, which the database refuses. Without the record the same event would be sent again
   * each time the lease ends.
   */
  async function keepBare(result: AttemptResult, reason: unknown): Promise<void> {
    const { event_id, endpoint_id, attempt } = result
    let failing: string[]
    try {
      failing = await recordResults(db, [bareOf(result)])
    } catch (error) {
      return lose([result], error)
    }
    onLost?.({ kept: true })
    log.error(
      { err: reason, event_id, endpoint_id, attempt },
      'webhooks: the response cannot be stored; attempt recorded without it',
    )
    await noteNews([result], failing)
  }

  function lose(batch: readonly AttemptResult[], error: unknown): void {
    for (const { event_id, endpoint_id, attempt } of batch) {
      onLost?.({ kept: false })
      log.debug({ event_id, endpoint_id, attempt }, 'webhooks: result not recorded')
    }
    const [first] = batch
    log.warn(
      { err: error, attempts: batch.length, event_id: first?.event_id, endpoint_id: first?.endpoint_id },
      'webhooks: results not recorded; the events will be sent again',
    )
  }

  async function noteNews(batch: readonly AttemptResult[], failing: readonly string[]): Promise<void> {
    const news = newsOf(batch, failing)
    if (news.length === 0) return
    try {
      for (const { id, disabled_reason } of await transaction(db, (tx) => noteAndTell(tx, news))) {
        log.warn(
          { endpoint_id: id, reason: disabled_reason },
          `webhooks: endpoint ${id} disabled (${disabled_reason}); its pending deliveries are canceled`,
        )
        onDisabled?.(id)
      }
    } catch (error) {
      log.warn(
        { err: error, endpoints: news.length },
        'webhooks: health of endpoints not recorded; the next attempts record it',
      )
    }
  }

  async function noteAndTell(tx: Db, news: readonly EndpointNews[]) {
    const disabled = await noteEndpoints(tx, news, DISABLE_AFTER_MS)
    for (const endpoint of disabled) await tell?.(tx, endpoint)
    return disabled
  }

  return { record: (result) => batching.add(result), stop: batching.stop }
}

/** Whether a row, or a lock on a row, caused the error. A server error such as a full disk would fail each half as well. */
const isAboutRows = (error: unknown): boolean => isAnswer(error) && !isServerTrouble(error)

/** The result without anything that the receiver sent. */
const bareOf = (result: AttemptResult): AttemptResult => ({
  ...result,
  headers: '{}',
  answer_headers: null,
  answer_body: null,
  error: result.error === null ? null : 'cannot be stored',
})

/**
 * The changes of endpoint health in a batch: failures, and successes of endpoints with `failing_since`. Later results win: an
 * endpoint that answered 200 and then 410 is gone.
 */
function newsOf(batch: readonly AttemptResult[], failing: readonly string[]): EndpointNews[] {
  const news = new Map<string, EndpointNews>()
  for (const result of batch) {
    const { endpoint_id: id, url, delivered } = result
    const gone = isGone(result)
    const about = `${id} ${url}`
    const known = news.get(about)
    if (delivered && !failing.includes(id) && !known) continue
    news.set(about, {
      id,
      url,
      works: delivered || (!gone && (known?.works ?? false)),
      gone: gone || (!delivered && (known?.gone ?? false)),
    })
  }
  return [...news.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}
