import type { Logger } from 'pino'
import { type Client, openClient, type Pool, type Seat } from './pool.ts'

/**
 * Hints between nodes over LISTEN/NOTIFY. A hint only says "look now": a node that misses one finds the change at its next
 * poll. Never sent inside a money transaction: NOTIFY makes all commits of the server queue up.
 */
export type Hints = {
  on(channel: Channel, listener: (payload: string) => void): void
  /** Calls the listener whenever hints may have been missed: caches must be emptied. */
  onLost(listener: () => void): void
  stop(): Promise<void>
}

export type Channel = 'api_key_changed' | 'windows_shared' | 'stirred' | 'deliveries_waiting'

const RECONNECT_MS = 200

export async function sendHint(pool: Pool, channel: Channel, payload: string): Promise<void> {
  await pool.query('SELECT pg_notify($1, $2)', [channel, payload])
}

export function openHints(seat: Seat, log: Logger): Hints {
  const listeners = new Map<string, ((payload: string) => void)[]>()
  const lost: (() => void)[] = []
  let client: Client | undefined
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    let opened: Client | undefined
    try {
      const listening = await openClient(
        { ...seat, application_name: `${seat.application_name} hints` },
        { settings: { idle_in_transaction_session_timeout: '0' } },
      )
      opened = listening
      if (stopped) return void (await listening.end())
      client = listening
      listening.on('notification', ({ channel, payload }) => {
        for (const listener of listeners.get(channel) ?? []) listener(payload ?? '')
      })
      listening.once('end', () => client === listening && reconnect())
      for (const channel of listeners.keys()) await listening.query(`LISTEN ${channel}`)
      // Hints that were sent before this connection listened are lost.
      for (const listener of lost) listener()
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'hints: cannot listen; connecting again')
      reconnect()
      opened?.end().catch(() => {})
    }
  }

  function reconnect(): void {
    if (stopped) return
    client = undefined
    for (const listener of lost) listener()
    clearTimeout(timer)
    timer = setTimeout(connect, RECONNECT_MS)
  }

  // Listeners are added while the node is put together; the connection opens after that.
  timer = setTimeout(connect, 0)

  return {
    on(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener])
      client?.query(`LISTEN ${channel}`).catch(() => {})
    },
    onLost(listener) {
      lost.push(listener)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }
}
