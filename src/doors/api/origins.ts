import type { Clock } from '../../core/clock.ts'
import type { Gate } from '../../http/gate.ts'
import { type Cidr, cidrContains, clientAddress, normalizeAddress } from '../../http/ip.ts'
import { type AddressLimit, openUnauthenticatedLimit, openVisitLimit } from '../../limits/addresses.ts'
import { tooMany } from '../../limits/refusal.ts'

/** The part of a gate that needs no key: the address of a request, and the limits of that address. */
type Origins = Pick<Gate, 'addressOf' | 'isTrusted' | 'windowOf' | 'visit' | 'takeBackVisit'> & {
  readonly unauthenticated: AddressLimit
}

export type OriginOptions = { readonly clock: Clock; readonly trusted_proxies: readonly Cidr[] }

const ADDRESSES_KEPT = 10_000

export function openOrigins({ clock, trusted_proxies }: OriginOptions): Origins {
  const unauthenticated = openUnauthenticatedLimit(clock)
  const visitors = openVisitLimit(clock)
  return {
    unauthenticated,
    addressOf: openAddressOf(trusted_proxies),
    isTrusted: (socket) => trusted_proxies.some((cidr) => cidrContains(cidr, socket)),
    windowOf: (address) => unauthenticated.windowOf(address),
    visit(address) {
      const { window, refused } = visitors.take(address)
      return refused ? { window, refusal: tooMany(refused) } : undefined
    },
    takeBackVisit: (address) => visitors.giveBack(address),
  }
}

/** Without a proxy the address is the socket's, and few addresses repeat often: so normalized ones are cached. */
function openAddressOf(trusted: readonly Cidr[]): Gate['addressOf'] {
  const normalized = new Map<string, string>()
  return (socket, forwarded_for) => {
    if (trusted.length > 0) return clientAddress({ socket, forwarded_for, trusted })
    const known = normalized.get(socket)
    if (known !== undefined) return known
    if (normalized.size >= ADDRESSES_KEPT) normalized.clear()
    const address = normalizeAddress(socket)
    normalized.set(socket, address)
    return address
  }
}
