/** Where a database may be: one host, or several of which one is the primary at any time. */
export type Host = { readonly host: string; readonly port: number }

export type Address = {
  readonly hosts: readonly Host[]
  readonly user: string
  readonly database: string
  /** The same database on one of the hosts, in the form that the driver reads. */
  urlOf(host: Host): string
}

const FORM = 'must look like postgresql://user:password@host:5432/database, or with hosts between commas'
const DEFAULT_PORT = 5432
/** What libpq calls a server that takes writes. This service has no use for any other. */
const WRITABLE = ['read-write', 'primary']

/** Reads the form of libpq, `postgresql://user:password@h1:5432,h2:5433/database`. Throws what is wrong with it. */
export function parseAddress(url: string): Address {
  const parts = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#@]*)(\/[^?#]*)?(\?[^#]*)?$/.exec(url)
  if (!parts) throw new Error(FORM)
  const [, scheme = '', login = '', authority = '', path = '', query = ''] = parts
  const hosts = authority.split(',').map(readHost)
  const search = new URLSearchParams(query)
  checkSession(search)
  const urlOf = ({ host, port }: Host) => {
    const name = host.includes(':') ? `[${host}]` : host
    const rest = search.size > 0 ? `?${search}` : ''
    // A socket's folder is named in the query; without a host there is no port to name either.
    return `${scheme}${login}${name === '' ? '' : `${name}:${port}`}${path}${rest}`
  }
  const single = hosts.length === 1 ? urlOf(hosts[0]!) : undefined
  if (single !== undefined && !URL.canParse(single)) throw new Error(FORM)
  const user = decodeURIComponent(login.slice(0, -1).split(':')[0] ?? '')
  return { hosts, user, database: decodeURIComponent(path.slice(1)) || user, urlOf }
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
