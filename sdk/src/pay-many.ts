import type { Trilho } from './client.js'
import { ApiError, type ConnectionError } from './errors.js'
import type { PixPayout, PixPayoutsCreateParams } from './generated/types.js'
import { LONGEST_TIMER_MS, sleep } from './runtime.js'
import { isEnded, passes, pauseAfter } from './wait.js'

/** One payment of a run. `id` is yours and unique in the run, such as the number of the employee. */
export type PayLine = Omit<PixPayoutsCreateParams, 'idempotency_key'> & { readonly id: string }

export type PayManyOptions = {
  /**
   * Names this run, such as `payroll-2026-11`. A line of a run is paid once: to resume, run the same lines under the same name
   * and with the same API key, because an idempotency key belongs to the API key.
   * The idempotency key of each line is made of the two ids.
   */
  readonly run: string
  /** How many lines are under way at once. Default: 4. */
  readonly concurrency?: number | undefined
  /** Milliseconds to wait, after the last line was sent, for payouts that are still open. Default: 5 minutes. */
  readonly wait?: number | undefined
  /** Milliseconds without any progress after which the run ends. Default: 15 minutes. */
  readonly timeout?: number | undefined
  /** Aborting ends the run: no further line is sent, and each line gets its result. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The result of a line. `failed` and `refused`: nothing was paid. `unknown`: the line may be paid, or its payout is still open;
 * resume the run. If `error` names another payment under this line, do not pay the line before you have looked at that payment.
 * `unsent`: the run ended before this line was sent; resume the run.
 */
export type PaidLine = {
  readonly id: string
  readonly idempotency_key: string
  /** Whether `payout` was found and not sent: the run had paid the line before it was resumed. */
  readonly is_earlier: boolean
} & (
  | { readonly status: 'completed' | 'failed'; readonly payout: PixPayout; readonly error?: never }
  | { readonly status: 'refused'; readonly payout?: never; readonly error: Error }
  | { readonly status: 'unknown'; readonly payout?: PixPayout; readonly error?: Error }
  | { readonly status: 'unsent'; readonly payout?: never; readonly error?: Error }
)

type Payer = Pick<Trilho, 'pix'>
type Order = { readonly id: string; readonly order: PixPayoutsCreateParams }
type Pay = (orders: readonly Order[]) => AsyncGenerator<PaidLine, void, undefined>

/** The state of a run. */
type Run = {
  readonly trilho: Payer
  /** Aborted when no further line may be sent. */
  readonly stop: AbortController
  /** Whether Trilho has answered: from then on a foreign response is a temporary fault of a proxy. */
  connected: boolean
  /** The last temporary failure: the reason why there is no progress. */
  failure?: Error
}

/** A run in progress: `for await` iterates over the results as they come, `await` returns all, in the order of the lines. */
export class PayRun implements PromiseLike<PaidLine[]>, AsyncIterable<PaidLine> {
  readonly #orders: readonly Order[]
  readonly #pay: Pay

  constructor(orders: readonly Order[], pay: Pay) {
    this.#orders = orders
    this.#pay = pay
  }

  [Symbol.asyncIterator](): AsyncGenerator<PaidLine, void, undefined> {
    return this.#pay(this.#orders)
  }

  // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for
  then<A = PaidLine[], B = never>(
    done?: ((lines: PaidLine[]) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#all().then(done, failed)
  }

  async #all(): Promise<PaidLine[]> {
    const results = new Map<string, PaidLine>()
    for await (const line of this) results.set(line.id, line)
    return this.#orders.map(({ id }) => results.get(id)!)
  }
}

/**
 * Pays many lines, such as a payroll, each once. If the program is killed, or the network is cut, run the same lines under the
 * same `run` again: lines that were paid are found, and only the others are sent. Nothing is sent before you read the results.
 */
export function payMany(trilho: Payer, lines: Iterable<PayLine>, options: PayManyOptions): PayRun {
  return new PayRun(ordersOf(lines, options.run), (orders) => payOrders(trilho, orders, options))
}

const LONGEST_KEY = 255

/** The idempotency key of a line is `run:id`, as in the Python package. A run has no colon, so no two lines share a key. */
function ordersOf(lines: Iterable<PayLine>, run: string): Order[] {
  assertKeyPart('run', run)
  if (run.includes(':')) throw new TypeError(`\`run\` has no colon, unlike '${run}'.`)
  const known = new Set<string>()
  return [...lines].map(({ id, ...line }) => {
    assertKeyPart('id', id)
    const idempotency_key = `${run}:${id}`
    if (idempotency_key.length > LONGEST_KEY)
      throw new TypeError(
        `The run and the id of line '${id}' have more than ${LONGEST_KEY - 1} characters together.`,
      )
    if (known.has(id)) throw new TypeError(`Two lines have the id '${id}'. Each payment needs its own.`)
    known.add(id)
    return { id, order: { ...line, idempotency_key } }
  })
}

function assertKeyPart(name: string, text: unknown): void {
  if (typeof text !== 'string' || !/^[\x20-\x7e]+$/.test(text))
    throw new TypeError(
      `\`${name}\` is a text of your own of printable ASCII characters, unlike '${String(text)}'.`,
    )
}

const WAIT_MS = 300_000
const TIMEOUT_MS = 900_000

async function* payOrders(
  trilho: Payer,
  orders: readonly Order[],
  { concurrency = 4, wait = WAIT_MS, timeout = TIMEOUT_MS, signal }: PayManyOptions,
): AsyncGenerator<PaidLine, void, undefined> {
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new TypeError(`\`concurrency\` is a whole number from 1 on, unlike ${concurrency}.`)
  const run: Run = { trilho, stop: new AbortController(), connected: false }
  const leave = () => run.stop.abort(signal?.reason)
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave, { once: true })
  let timer = giveUpAfter(run, timeout)
  const open: OpenLine[] = []
  try {
    for await (const result of parallel(orders, concurrency, (order) => payOnce(run, order))) {
      clearTimeout(timer)
      if (result.status === 'unknown' && result.payout) open.push({ ...result, payout: result.payout })
      else yield result
      timer = giveUpAfter(run, timeout)
    }
    clearTimeout(timer)
    yield* endsOf(run, open, { concurrency, wait })
  } finally {
    clearTimeout(timer)
    run.stop.abort()
    signal?.removeEventListener('abort', leave)
  }
}

function giveUpAfter(run: Run, ms: number) {
  const giveUp = () => {
    const last = run.failure ? ` The last error: ${run.failure.message}` : ''
    run.stop.abort(
      new Error(`The run made no progress for ${ms / 1000} seconds.${last}`, { cause: run.failure }),
    )
  }
  return setTimeout(giveUp, Math.min(ms, LONGEST_TIMER_MS))
}

/** Runs at most `most` at once and yields the results as they come. */
async function* parallel<T, R>(
  items: Iterable<T>,
  most: number,
  run: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const active = new Set<Promise<{ done: R; self: Promise<unknown> }>>()
  const rest = items[Symbol.iterator]()
  for (;;) {
    while (active.size < Math.max(1, most)) {
      const next = rest.next()
      if (next.done) break
      const self: Promise<{ done: R; self: Promise<unknown> }> = run(next.value).then((done) => ({
        done,
        self,
      }))
      active.add(self)
    }
    if (active.size === 0) return
    const ended = await Promise.race(active)
    active.delete(ended.self as never)
    yield ended.done
  }
}

/** Pays one line, or finds that it was paid. A payout that is still open is `unknown`, with the payout. */
async function payOnce(run: Run, { id, order }: Order): Promise<PaidLine> {
  const head = { id, idempotency_key: order.idempotency_key, is_earlier: false }
  const { signal } = run.stop
  let sent = false
  let is_sending = false
  let doubt = false
  for (let attempt = 1; ; attempt++) {
    try {
      if (signal.aborted) throw signal.reason
      // A key is free again after 24 hours, so a run that is resumed later must not send what was paid.
      const found = await findPaid(run, order)
      run.connected = true
      if (found) return resultOf({ ...head, is_earlier: !sent }, found)
      sent = is_sending = true
      return resultOf(head, await run.trilho.pix.payouts.create(order, { signal }))
    } catch (caught) {
      const error = (caught ?? new Error('The run was aborted.')) as Error
      const is_left = signal.aborted && caught === signal.reason
      doubt ||= sent && ((error as Partial<ConnectionError>).outcome === 'unknown' || (is_left && is_sending))
      is_sending = false
      if (!signal.aborted && isTemporary(run, error)) {
        run.failure = error
        await sleep(pauseAfter(attempt, error), signal).catch(() => {})
        continue
      }
      // The reason of the end may be the error of another line, which says nothing about this one.
      if (is_left || (signal.aborted && passes(error)))
        return { ...head, status: doubt ? 'unknown' : 'unsent', error }
      if (isHopeless(error)) run.stop.abort(error)
      return { ...head, status: statusOf(error, { sent, doubt }), error }
    }
  }
}

type Head = Pick<PaidLine, 'id' | 'idempotency_key' | 'is_earlier'>

const resultOf = ({ id, idempotency_key, is_earlier }: Head, payout: PixPayout): PaidLine => ({
  id,
  idempotency_key,
  is_earlier,
  status: isEnded(payout) ? (payout.status as 'completed' | 'failed') : 'unknown',
  payout,
})

/** Another payment was made under the key of this line: the name of the run was used before, for other lines. */
class LineChangedError extends Error {
  override readonly name = 'LineChangedError'
}

async function findPaid(
  { trilho, stop }: Run,
  order: PixPayoutsCreateParams,
): Promise<PixPayout | undefined> {
  const { idempotency_key, customer_id, amount, counterparty } = order
  const { data } = await trilho.pix.payouts.list({ idempotency_key }, { signal: stop.signal })
  const found =
    data.find(({ status }) => status === 'completed') ??
    data.find(({ status }) => status !== 'failed') ??
    data[0]
  if (!found) return undefined
  const isSame =
    found.customer_id === customer_id &&
    found.amount === String(amount) &&
    placeOf(found.counterparty) === placeOf(counterparty)
  if (!isSame)
    throw new LineChangedError(
      `${found.id} was made under the same run and line for another customer, recipient or amount. Do not pay this line again before you have looked at it. Name each run once.`,
    )
  return found
}

type Place = {
  readonly pix_key?: string | null
  readonly ispb?: string
  readonly branch?: string
  readonly account_number?: string
}

/** Where the money goes, without the punctuation and the capitals that Trilho normalises. */
const placeOf = ({ pix_key, ispb, branch, account_number }: Place): string =>
  (pix_key ?? [ispb, branch, account_number].join(' ')).toLowerCase().replaceAll(/[^a-z0-9@+ ]/g, '')

/** Whether the line is tried again. A limit of a day is waited for, too. */
const isTemporary = ({ connected }: Run, error: Error): error is ApiError | ConnectionError =>
  passes(error) && (connected || (error as Partial<ApiError>).code !== 'unexpected_response')

/**
 * Whether no line can succeed any more: the API key was refused, or the address is not Trilho's. A blocked customer (403 too)
 * concerns its own lines only.
 */
const isHopeless = (error: Error): boolean =>
  error instanceof ApiError &&
  error.code !== 'customer_blocked' &&
  (error.status === 401 || error.status === 403 || error.code === 'unexpected_response')

/** A stored refusal settles what earlier attempts left in doubt; anything else leaves it. */
function statusOf(error: Error, { sent, doubt }: { sent: boolean; doubt: boolean }) {
  // Another request has the key, and may pay: with other fields, at the same time.
  if (error instanceof LineChangedError) return 'unknown'
  if (error instanceof ApiError && error.code === 'idempotency_conflict') return 'unknown'
  if (!sent) return 'unsent'
  const told = error instanceof ApiError && error.outcome === 'none'
  if (doubt && !(told && error.status === 422)) return 'unknown'
  if (error instanceof ApiError) return told ? 'refused' : 'unknown'
  return 'unsent'
}

type OpenLine = Head & { readonly payout: PixPayout }

/** Reads open payouts in rounds, so that one that never ends does not hold up the others. */
async function* endsOf(
  { trilho, stop: { signal } }: Run,
  open: readonly OpenLine[],
  { concurrency, wait }: { readonly concurrency: number; readonly wait: number },
): AsyncGenerator<PaidLine, void, undefined> {
  const until = Date.now() + wait
  let left = open
  for (let round = 1; left.length > 0 && !signal.aborted && Date.now() < until; round++) {
    await sleep(Math.min(pauseAfter(round), until - Date.now()), signal).catch(() => {})
    const still: OpenLine[] = []
    const read = async (line: OpenLine): Promise<OpenLine> => ({
      ...line,
      // A payout that cannot be read now is read in the next round.
      payout: await trilho.pix.payouts.get(line.payout.id, { signal }).catch(() => line.payout),
    })
    for await (const line of parallel(left, concurrency, read))
      if (isEnded(line.payout)) yield resultOf(line, line.payout)
      else still.push(line)
    left = still
  }
  for (const line of left) yield resultOf(line, line.payout)
}
