import pg from 'pg'
import { type Address, type Host, hostName } from './address.ts'
import type { Login } from './login.ts'
import { afterAwake, cut } from './pulse.ts'
import { askServer, explainRefusal, NoPrimary, type Said } from './server-state.ts'
import { explainTls } from './tls.ts'

/** How long opening a connection may take: a server may take its time to let one in, and be well. */
export const CONNECT_MS = 3000

export type Probed = { readonly client: pg.Client; readonly said: Said }

/** No answer within the time of a look. */
export class Silent extends Error {}

/** One look at a host, from the first packet to its answer. */
export async function probe(
  address: Address,
  host: Host,
  { login, ms }: { readonly login: Login | undefined; readonly ms: number },
): Promise<Probed> {
  const password = login?.password()
  const client = new pg.Client({
    ...driverConfig(address, host, login, password),
    application_name: 'trilho heartbeat',
    keepAlive: true,
  })
  client.on('error', () => {})
  const onTime = afterAwake(ms, () => cut(client, new Silent('does not answer')))
  try {
    await client.connect()
    return { client, said: await askServer(client) }
  } catch (error) {
    cut(client)
    throw explain(error, host, login, password)
  } finally {
    onTime()
  }
}

const WRONG_PASSWORD = '28P01'

/** What became of a connection that could not be opened, for whoever has to decide what to do. */
export function explain(
  error: unknown,
  host: Host,
  login: Login | undefined,
  password: string | undefined,
): unknown {
  const refused = error instanceof pg.DatabaseError && error.code === WRONG_PASSWORD
  // The password that follows from another key may be the right one: the next connection tries it.
  if (refused && login?.refused(password!))
    return new NoPrimary(`${login.user} has the password of another SECRET_KEY`, { cause: error })
  return explainTls(explainRefusal(error), hostName(host))
}

/** What the driver is told: where to, as whom, and how it is encrypted. */
export const driverConfig = (address: Address, host: Host, login: Login | undefined, password = '') => ({
  connectionString: address.urlOf(host, login && { user: login.user, password }),
  ssl: address.tls,
})
