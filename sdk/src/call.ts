/** What happens to a call that is sent twice, as the server declares it (`x-repeat` in openapi.json). */
export type Repeat = 'safe' | 'idempotency_key' | 'idempotent' | 'harmless' | 'once' | 'never'

/** One row of the generated table. */
export type Operation = {
  readonly method: string
  /** With the names of its parameters in braces. */
  readonly path: string
  readonly repeat: Repeat
  readonly takes?: 'query' | 'body'
  readonly list?: true
  /** A field that what it returns always has; empty where it returns nothing. By it the response is known as Trilho's. */
  readonly has?: string
}

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that each attempt may take; else that of the client. */
  readonly timeout?: number | undefined
  /** How often it may be sent again; else that of the client. */
  readonly maxRetries?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Answer<T> = {
  readonly data: T
  readonly response: Response
  readonly requestId: string | undefined
  /** The server had done this before under the same idempotency key, and gave the response of then. */
  readonly replayed: boolean
}

/** A call under way: `await` it for what it returns, or `.withResponse()` for what came around that. */
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
  /** A page may be short, or empty, before the last. */
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** What lists answer: some have all of it on one page. */
type AnyPage<T> = Pick<Page<T>, 'data'> & Partial<Page<T>>
type Query = Readonly<Record<string, unknown>>

/** A list, asked for when it is read: `await` is its first page, `for await` everything. */
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
    // What is read oldest first goes on behind the last page, all else goes on with a cursor.
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

  /** The first `limit` of them; a list may be longer than memory is large, so there is no default. */
  async toArray({ limit }: { readonly limit: number }): Promise<T[]> {
    const found: T[] = []
    if (limit <= 0) return found
    for await (const item of this) if (found.push(item) >= limit) break
    return found
  }
}
