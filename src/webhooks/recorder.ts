import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openBatching } from '../core/batching.ts'
import { isAnswer, isServerTrouble } from '../db/failure.ts'
import { type Db, type Pool, transaction } from '../db/pool.ts'
import { type AttemptResult, recordResults } from './attempt-results.ts'
import { type EndpointNews, noteEndpoints } from './store.ts'

/**
 * Writes down what came of attempts. Whatever ends while one statement is running goes into the next, so that a flood
 * of deliveries costs few commits and a lone one waits for nobody.
 */
export type Recorder = {
  /** Resolves when it is written, or when it could not be: then the lease ends, and the event is sent once more. */
  record(outcome: AttemptResult, about: { gone: boolean }): Promise<void>
  stop(): Promise<void>
}

/** Contract §12: after so long with nothing but failures an endpoint is disabled. */
const DISABLE_AFTER_MS = 5 * 24 * 3600 * 1000
const BATCH_MAX = 200
/** While deliveries pour in, results are gathered for so long. A lone one is written at once. */
const GATHER_MS = 15

type Ended = {
  readonly outcome: AttemptResult
  readonly gone: boolean
}

export function openRecorder(
  db: Pool,
  options: {
    readonly log: Logger
    readonly onLost?: (loss: { kept: boolean }) => void
    /** Tells of an endpoint that was disabled, in the transaction that did so. */
    readonly tell?: (tx: Db, endpoint: { id: string; partner_id: string }) => Promise<void>
    /** Told of an endpoint that is gone, or has failed for too long. */
    readonly onDisabled?: (endpoint_id: string) => void
  },
): Recorder {
  const { log, onLost, onDisabled, tell } = options
  let pouring = false
  const batching = openBatching<Ended>({
    run: (batch) => {
      pouring = batch.length > 1
      return keepOutcomes(batch).then(() => undefined)
    },
    gather: async (stopping) => void (pouring && (await sleep(GATHER_MS, undefined, { signal: stopping }))),
    batch_max: BATCH_MAX,
  })

  /** One that the database does not take must cost its neighbours nothing: halving finds it in few steps. Never throws. */
  async function keepOutcomes(batch: readonly Ended[]): Promise<void> {
    let failing: string[]
    try {
      failing = await recordResults(
        db,
        batch.map(({ outcome }) => outcome),
      )
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
   * What the receiver said cannot be stored. That the attempt was made, and how it ended, can: otherwise the same event
   * would be sent again and again, for as long as it is answered like that.
   */
  async function keepBare(one: Ended, reason: unknown): Promise<void> {
    const { event_id, endpoint_id, attempt } = one.outcome
    let failing: string[]
    try {
      failing = await recordResults(db, [bareOf(one.outcome)])
    } catch (error) {
      return lose([one], error)
    }
    onLost?.({ kept: true })
    log.error(
      { err: reason, event_id, endpoint_id, attempt },
      'webhooks: the answer cannot be stored, left out',
    )
    await noteNews([one], failing)
  }

  function lose(batch: readonly Ended[], error: unknown): void {
    for (const { outcome } of batch) {
      onLost?.({ kept: false })
      const { event_id, endpoint_id, attempt } = outcome
      log.debug({ event_id, endpoint_id, attempt }, 'webhooks: outcome not recorded')
    }
    const [first] = batch.map(({ outcome }) => outcome)
    log.warn(
      { err: error, attempts: batch.length, event_id: first?.event_id, endpoint_id: first?.endpoint_id },
      'webhooks: outcome not recorded, will be sent again',
    )
  }

  async function noteNews(batch: readonly Ended[], failing: readonly string[]): Promise<void> {
    const news = newsOf(batch, failing)
    if (news.length === 0) return
    try {
      for (const { id, disabled_reason } of await transaction(db, (tx) => noteAndTell(tx, news))) {
        log.warn({ endpoint_id: id, reason: disabled_reason }, 'webhooks: endpoint disabled')
        onDisabled?.(id)
      }
    } catch (error) {
      log.warn({ err: error, endpoints: news.length }, 'webhooks: state of endpoints not noted')
    }
  }

  async function noteAndTell(tx: Db, news: readonly EndpointNews[]) {
    const disabled = await noteEndpoints(tx, news, DISABLE_AFTER_MS)
    for (const endpoint of disabled) await tell?.(tx, endpoint)
    return disabled
  }

  return {
    record: (outcome, about) => batching.add({ outcome, ...about }),
    stop: batching.stop,
  }
}

/** The rows themselves, or somebody else's hold on one of them, are the reason; a full disk would meet each half just the same. */
const isAboutRows = (error: unknown): boolean => isAnswer(error) && !isServerTrouble(error)

/** Without what came from outside. */
const bareOf = (outcome: AttemptResult): AttemptResult => ({
  ...outcome,
  headers: '{}',
  answer_headers: null,
  answer_body: null,
  error: outcome.error === null ? null : 'cannot be stored',
})

/**
 * Only what changes something: failures, and a success of an endpoint that is said to fail. In the order in which they came:
 * whoever said yes and then asked for no more is gone.
 */
function newsOf(batch: readonly Ended[], failing: readonly string[]): EndpointNews[] {
  const news = new Map<string, EndpointNews>()
  for (const { outcome, gone } of batch) {
    const { endpoint_id: id, url, delivered } = outcome
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
