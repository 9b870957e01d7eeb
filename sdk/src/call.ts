/** What happens if a call is sent twice, as the server declares it (`x-repeat` in openapi.json). */
export type Repeat = 'safe' | 'idempotency_key' | 'idempotent' | 'harmless' | 'once' | 'never'

/** A row of the generated table of operations. */
export type Operation = {
  readonly method: string
  /** The path template, with parameter names in braces. */
  readonly path: string
  readonly repeat: Repeat
  readonly takes?: 'query' | 'body'
  readonly list?: true
  /**
   * A field that every response of this operation has; empty if the response has no body. A response without the field did not
   * come from Trilho.
   */
  readonly has?: string
  /** The content type of a response that is a file; its bytes are the result. */
  readonly file?: string
}

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds per attempt; overrides the client's setting. */
  readonly timeout?: number | undefined
  /** Maximum number of retries; overrides the client's setting. */
  readonly maxRetries?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Answer<T> = {
  readonly data: T
  readonly response: Response
  readonly requestId: string | undefined
  /** The response is a replay: the server had already processed this idempotency key. */
  readonly replayed: boolean
}

/** A call in progress: `await` it for its result, or `.withResponse()` for status and headers too. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call'
  readonly #answer: Promise<Answer<T>>

  constructor(answer: Promise<Answer<T>>) {
    this.#answer = answer
  }

  withResponse(): Promise<Answer<T>> {
    return this.#answer
  }

  // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for
  then<A = T, B = never>(
    done?: ((value: T) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#answer.then(({ data }) => data).then(done, failed)
  }

  catch<B = never>(failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, failed)
  }

  finally(ended?: (() => void) | null): Promise<T> {
    return this.then().finally(ended)
  }
}

export type Page<T> = {
  readonly data: T[]
  /** A page may be short or empty although more pages follow. */
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** A list response; some lists have a single page without a cursor. */
type AnyPage<T> = Pick<Page<T>, 'data'> & Partial<Page<T>>
type Query = Readonly<Record<string, unknown>>

/** A list, requested when it is read: `await` returns the first page, `for await` iterates over all items. */
export class Listing<T, P extends AnyPage<T> = Page<T>> implements PromiseLike<P>, AsyncIterable<T> {
  readonly #query: Query
  readonly #read: (query: Query) => PromiseLike<P>

  constructor(query: Query, read: (query: Query) => PromiseLike<P>) {
    this.#query = query
    this.#read = read
  }

  // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for
  then<A = P, B = never>(
    done?: ((page: P) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return Promise.resolve(this.#read(this.#query)).then(done, failed)
  }

  async *pages(): AsyncGenerator<P, void, undefined> {
    // Lists read oldest first continue with `after`, all others with `cursor`.
    const next = this.#query.after === undefined && this.#query.wait === undefined ? 'cursor' : 'after'
    let query = this.#query
    for (;;) {
      const page = await this.#read(query)
      yield page
      if (!page.has_more) return
      query = { ...query, [next]: page.next_cursor }
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { data } of this.pages()) yield* data
  }

  /** Returns the first `limit` items. There is no default, because a list may not fit in memory. */
  async toArray({ limit }: { readonly limit: number }): Promise<T[]> {
    const found: T[] = []
    if (limit <= 0) return found
    for await (const item of this) if (found.push(item) >= limit) break
    return found
  }
}
