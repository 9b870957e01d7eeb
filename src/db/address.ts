import { type Tls, takeTls } from './tls.ts'

/** Where a database may be: one host, or several of which one is the primary at any time. */
export type Host = { readonly host: string; readonly port: number }

export type Address = {
  readonly hosts: readonly Host[]
  readonly user: string
  readonly database: string
  readonly tls: Tls
  /** The URL of the database on one host, in the form that the driver reads; `as` replaces the credentials. */
  urlOf(host: Host, as?: Credentials): string
}

export type Credentials = { readonly user: string; readonly password: string }

const FORM = 'must look like postgresql://user:password@host:5432/database, or with hosts between commas'
const DEFAULT_PORT = 5432
/** Values of libpq's `target_session_attrs` for a server that accepts writes. The service works with no other server. */
const WRITABLE = ['read-write', 'primary']

/** Parses the form of libpq, `postgresql://user:password@h1:5432,h2:5433/database`. Throws an error that says what is wrong. */
export function parseAddress(url: string): Address {
  const parts = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#@]*)(\/[^?#]*)?(\?[^#]*)?$/.exec(url)
  if (!parts) throw new Error(FORM)
  const [, scheme = '', login = '', authority = '', path = '', query = ''] = parts
  const hosts = authority.split(',').map(readHost)
  const search = new URLSearchParams(query)
  checkSession(search)
  const user = decode(login.slice(0, -1).split(':')[0] ?? '')
  const database = decode(path.slice(1)) || user
  const place = path.length > 1 ? path : `/${encodeURIComponent(database)}`
  // A `host` in the query takes precedence in the driver.
  const named = search.get('host') ?? undefined
  const tls = takeTls(
    search,
    hosts.map(({ host }) => named ?? (host || process.env.PGHOST || '')),
  )
  const urlOf = ({ host, port }: Host, as?: Credentials) => {
    const name = host.includes(':') ? `[${host}]` : host
    const query = new URLSearchParams(search)
    if (as) for (const option of ['user', 'password']) query.delete(option)
    const rest = query.size > 0 ? `?${query}` : ''
    const who = as ? `${encodeURIComponent(as.user)}:${encodeURIComponent(as.password)}@` : login
    // The folder of a Unix socket is in the query; without a host the URL cannot have a port.
    return `${scheme}${who}${name === '' ? '' : `${name}:${port}`}${place}${rest}`
  }
  const single = hosts.length === 1 ? urlOf(hosts[0]!) : undefined
  if (single !== undefined && !URL.canParse(single)) throw new Error(FORM)
  return { hosts, user, database, tls, urlOf }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(
      'has a % that is not followed by two hex digits of a character; a % itself is written %25',
    )
  }
}

function readHost(text: string): Host {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*))(?::([0-9]{1,5}))?$/.exec(text.trim())
  const port = Number(parts?.[3] ?? DEFAULT_PORT)
  if (!parts || port < 1 || port > 65_535) throw new Error(FORM)
  return { host: parts[1] ?? parts[2] ?? '', port }
}

function checkSession(search: URLSearchParams): void {
  const wanted = search.get('target_session_attrs')
  search.delete('target_session_attrs')
  search.delete('load_balance_hosts')
  if (wanted !== null && !WRITABLE.includes(wanted))
    throw new Error(
      `has target_session_attrs=${wanted}; the service works with the primary only: ${WRITABLE.join(' or ')}`,
    )
}

export const hostName = ({ host, port }: Host): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

const MASK = '********'

/** An address for people to read. Both the login part and the query may contain a password. */
export function withoutPasswords(url: string): string {
  const [, place = '', query = ''] = /^([^?]*)(.*)$/s.exec(url)!
  const shown = place.replace(/^(\w+:\/\/[^:@/]*):.*@/s, `$1:${MASK}@`)
  return shown + query.replace(/([^?&=]+)=[^&]*/g, (option, name) => maskedOption(option, name))
}

const maskedOption = (option: string, name: string) =>
  new URLSearchParams(name).toString().toLowerCase().includes('password') ? `${name}=${MASK}` : option
