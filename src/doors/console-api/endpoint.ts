import { type Static, Type as T, type TObject, type TSchema } from 'typebox'
import type { OperatorActor, PersonActor } from '../../core/actor.ts'
import type { Environment } from '../../core/environment.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { FileReply } from '../../http/file-reply.ts'
import { assertNamed } from '../../http/schema.ts'
import type { World } from '../../world.ts'
import type { Permit } from './permits.ts'
import type { Signed } from './session.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * A call of the console's own pages, declared once as data, like the endpoints of the API: its checks, its document
 * and the types of the pages follow from it. `{environment}` in the route selects the world.
 */
export type ConsoleEndpoint = {
  /** The name that pages use, such as console.keys.create. */
  readonly name: `console.${string}`
  readonly route: `${Method} /console/api/${string}`
  readonly summary: string
  readonly permit: Permit
  /** Where a permit of kind `proof` needs the proof: everywhere if absent. `always`: even if the permit needs none. */
  readonly proof?: 'production' | 'always'
  /** Where the call needs a user with a second factor. */
  readonly factor?: 'always' | 'production'
  /**
   * The call takes access away, such as revoking a key. It has its own rate window, so that other changes cannot
   * block it.
   */
  readonly protects?: true
  /**
   * The call reads up to thousands of rows or index entries: few such calls are answered at once (call-queue.ts). A list names its
   * filters that no index answers: with one of them, or with several filters, a page walks on until it is full.
   */
  readonly heavy?: true | readonly string[]
  /** Exists in the sandbox only. */
  readonly sandbox_only?: true
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TObject
  readonly reply: {
    readonly status: 200 | 201 | 204
    readonly schema?: TSchema
    /** Content type of a reply that is a file; the handler returns a `FileReply`. */
    readonly file?: 'application/pdf'
    /** Content type of a streamed reply. */
    readonly type?: 'text/csv' | 'text/event-stream'
  }
  /** Error codes beyond those that every call of the console has. */
  readonly errors?: readonly ErrorCode[]
}

/** Fields of a list's query that every index of the list answers. */
const PAGE_FIELDS: readonly string[] = ['limit', 'cursor', 'order', 'created_after', 'created_before']

export function isHeavy({ heavy }: Pick<ConsoleEndpoint, 'heavy'>, query: object): boolean {
  if (heavy === undefined || heavy === true) return heavy === true
  const filters = Object.keys(query).filter((name) => !PAGE_FIELDS.includes(name))
  return filters.length > 1 || filters.some((name) => heavy.includes(name))
}

export function consoleEndpoint<const E extends ConsoleEndpoint>(declared: E): E {
  assertNamed(declared.query, `the query of ${declared.name}`)
  assertNamed(declared.body, `the body of ${declared.name}`)
  return declared
}

/** The id that a page gives a form, so that the form takes effect once even if it arrives twice. */
export const FormId = T.String({
  pattern: '^[A-Za-z0-9_-]{16,64}$',
  'x-must-be': '16 to 64 letters, digits, hyphens or underscores',
  description: 'Made by the page for this form: what is sent twice happens once',
  examples: ['f4b1d9c27e5a40d8'],
})

type Part<S> = S extends TSchema ? Static<S> : undefined
type PermitOf<E extends ConsoleEndpoint> = E['permit']

/** The actor's type, as the permit implies it. */
type ActorOf<E extends ConsoleEndpoint> =
  PermitOf<E> extends 'anybody'
    ? undefined
    : PermitOf<E> extends 'self'
      ? PersonActor | OperatorActor
      : PermitOf<E> extends `operator.${string}`
        ? OperatorActor
        : PersonActor

type WorldOf<E extends ConsoleEndpoint> = E['route'] extends `${string}{environment}${string}`
  ? E extends { sandbox_only: true }
    ? World<'sandbox'>
    : World
  : undefined

export type ConsoleCall<E extends ConsoleEndpoint> = {
  readonly actor: ActorOf<E>
  /** The session, if the caller is signed in. */
  readonly signed: PermitOf<E> extends 'anybody' ? Signed | undefined : Signed
  readonly world: WorldOf<E>
  readonly params: Part<E['params']>
  readonly query: Part<E['query']>
  readonly body: Part<E['body']>
  readonly request_id: string
  readonly address: string
  readonly agent: string | undefined
  /** Aborted when the client has left or the node stops. */
  readonly gone: AbortSignal
  /** Sets the session cookie, or deletes it. */
  setSession(token: string | undefined): void
}

/** A streamed reply. */
export class TextStream {
  readonly chunks: AsyncIterable<string>
  readonly filename: string | undefined
  constructor(chunks: AsyncIterable<string>, filename?: string) {
    this.chunks = chunks
    this.filename = filename
  }
}

export type ConsoleHandler = {
  readonly endpoint: ConsoleEndpoint
  run(call: ConsoleCall<ConsoleEndpoint>): Promise<unknown>
}

/** Binds a handler to its endpoint. The handler parses, calls one rule of a slice, and renders. */
export const answer = <const E extends ConsoleEndpoint>(
  declared: E,
  run: (
    call: ConsoleCall<E>,
  ) => Promise<
    E['reply'] extends { type: string }
      ? TextStream
      : E['reply'] extends { file: string }
        ? FileReply
        : E['reply'] extends { schema: infer S extends TSchema }
          ? Static<S>
          : undefined
  >,
): ConsoleHandler => ({ endpoint: declared, run: run as unknown as ConsoleHandler['run'] })

export const isEnvironment = (text: string | undefined): text is Environment =>
  text === 'production' || text === 'sandbox'
