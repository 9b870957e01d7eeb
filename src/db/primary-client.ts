import pg from 'pg'
import { afterAwake, cut } from './heartbeat.ts'
import type { Login } from './login.ts'
import type { Primary, SeatFacts } from './primary.ts'
import { CONNECT_MS, driverConfig, explain } from './probe.ts'

const WATCH_MS = 1000
const WATCH_DEAD_MS = 2000

export type PrimaryConfig = pg.ClientConfig & {
  readonly primary: Primary
  /** Default: the user of the address. */
  readonly login?: Login
  /** The schema that the connection must be in after the login. */
  readonly schema?: string
  /** Sends a query every second while idle. Without it, the loss of this one connection shows only at its next use. */
  readonly watched?: boolean
}

/** Private fields of the driver that this class needs. */
type Inside = {
  _activeQuery: { name?: string } | null
  _queryQueue: readonly unknown[]
  _sentQueryQueue: readonly unknown[]
  connection: {
    parsedStatements: Record<string, string>
    on(event: 'errorMessage', listener: (error: pg.DatabaseError) => void): void
    close(what: { type: 'S'; name: string }): void
  }
}

const STALE_PLAN = '0A000'
const NO_SUCH_STATEMENT = '26000'
const READ_ONLY = '25006'

/** A connection to the primary, and to nothing else. */
export class PrimaryClient extends pg.Client {
  readonly #primary: Primary
  readonly #login: Login | undefined
  readonly #password: string | undefined
  readonly #schema: string | undefined
  readonly #watched: boolean

  constructor(config: PrimaryConfig) {
    const { primary, login, schema } = config
    const password = login?.password()
    super({ ...config, ...driverConfig(primary.address, primary.address.hosts[0]!, login, password) })
    this.#watched = config.watched === true
    this.#primary = primary
    this.#login = login
    this.#password = password
    this.#schema = schema
    // The statement that waits for an answer rejects; without a listener the 'error' event would end the process.
    this.on('error', () => {})
    const { connection } = this as unknown as Inside
    connection.on('errorMessage', (error) => this.#note(error))
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error | null, client?: pg.Client) => void): void
  override connect(callback?: (error: Error | null, client?: pg.Client) => void): unknown {
    const opening = this.#connect()
    if (!callback) return opening
    opening.then(
      () => callback(null, this),
      (error: Error) => callback(error),
    )
  }

  async #connect(): Promise<pg.Client> {
    const primary = this.#primary
    const place = await primary.hostOfPrimary(this.#login)
    if (primary.address.hosts.length > 1) Object.assign(this, place)
    primary.enter(this)
    const onTime = afterAwake(CONNECT_MS, () => cut(this, new Error('timeout expired')))
    try {
      await super.connect()
      this.#login?.accepted()
      await primary.approve(this, this.#seat())
      if (this.#watched) this.#watch()
      return this
    } catch (error) {
      primary.leave(this)
      primary.failed(error)
      cut(this)
      throw explain(error, place, this.#login, this.#password)
    } finally {
      onTime()
    }
  }

  #seat(): SeatFacts | undefined {
    return this.#login && this.#schema ? { user: this.#login.user, schema: this.#schema } : undefined
  }

  #watch(): void {
    const timer = setInterval(() => {
      if (!this.#idles()) return
      const answered = afterAwake(WATCH_DEAD_MS, () =>
        cut(this, new Error('Connection terminated: no answer for 2 s')),
      )
      this.query('SELECT 1').then(answered, answered)
    }, WATCH_MS)
    timer.unref()
    this.once('end', () => clearInterval(timer))
  }

  #idles(): boolean {
    const { _activeQuery, _queryQueue, _sentQueryQueue } = this as unknown as Inside
    const waiting = _queryQueue.length + _sentQueryQueue.length
    return !_activeQuery && waiting === 0 && this.getTransactionStatus() === 'I'
  }

  /**
   * Forgets a prepared statement that the server refuses, so that the next use prepares it again: after a migration its
   * result columns may differ. A read-only error may mean that this server is no longer the primary.
   */
  #note({ code }: pg.DatabaseError): void {
    if (code === READ_ONLY) this.#primary.checkNow()
    if (code !== STALE_PLAN && code !== NO_SUCH_STATEMENT) return
    const { _activeQuery, connection } = this as unknown as Inside
    const name = _activeQuery?.name
    if (!name || !connection.parsedStatements[name]) return
    delete connection.parsedStatements[name]
    connection.close({ type: 'S', name })
  }
}
