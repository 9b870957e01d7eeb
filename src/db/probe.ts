import pg from 'pg'
import { type Address, type Host, hostName } from './address.ts'
import { afterAwake, cut } from './heartbeat.ts'
import type { Login } from './login.ts'
import { askServer, explainRefusal, NoPrimary, type ServerState } from './server-state.ts'
import { explainTls } from './tls.ts'

/** How long opening a connection may take: a busy server may accept slowly and still be healthy. */
export const CONNECT_MS = 3000

export type Probed = { readonly client: pg.Client; readonly said: ServerState }

/** The host did not answer within the time of the probe. */
export class Silent extends Error {}

/** Connects to a host and asks it for its state. The caller closes the connection. */
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

/** Turns the error of a connection attempt into one that says what to do, or that another try may succeed. */
export function explain(
  error: unknown,
  host: Host,
  login: Login | undefined,
  password: string | undefined,
): unknown {
  const refused = error instanceof pg.DatabaseError && error.code === WRONG_PASSWORD
  // The password derived from another SECRET_KEY may be the right one: the next connection tries it.
  if (refused && login?.refused(password!))
    return new NoPrimary(`${login.user} has the password of another SECRET_KEY`, { cause: error })
  return explainTls(explainRefusal(error), hostName(host))
}

export const driverConfig = (address: Address, host: Host, login: Login | undefined, password = '') => ({
  connectionString: address.urlOf(host, login && { user: login.user, password }),
  ssl: address.tls,
})
