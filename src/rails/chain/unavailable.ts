import { refuse } from '../../core/errors.ts'
import type { Network } from '../../core/networks.ts'
import type { ChainRail } from './rail.ts'

/** Production without a configured chain: every order is refused before any money moves. */
export const unavailableChain = (network: Network): ChainRail<'production'> => {
  const unavailable = async () =>
    refuse('rail_unavailable', {
      message: `Transfers on ${network} are not available: this service has no nodes of that network.`,
      retry_after_seconds: 60,
    })
  return {
    environment: 'production',
    network,
    is_configured: false,
    check: unavailable,
    endpoints: () => [],
    has_wallet: false,
    reserved_most: 0,
    replace_after_ms: 0,
    feeInputs: unavailable,
    wallet: unavailable,
    holdings: unavailable,
    screen: async () => later(),
    attempt: async () => later(),
    broadcast: async () => ({ kind: 'unknown' }),
    look: async () => ({ kind: 'waiting' }),
  }
}

const later = () =>
  ({ kind: 'later', at: new Date(Date.now() + 60_000), why: 'endpoints_unavailable' }) as const
