import { refuse } from '../../core/errors.ts'
import type { Network } from '../../core/networks.ts'
import type { ChainRail } from './rail.ts'

/** Production without a configured chain: every order is refused before any money moves. */
export const unavailableChain = (network: Network): ChainRail<'production'> => {
  const unavailable = async () =>
    refuse('rail_unavailable', {
      message: `${network} is not configured in production yet.`,
      retry_after_seconds: 60,
    })
  return {
    environment: 'production',
    network,
    reserved_most: 0,
    replace_after_ms: 0,
    feeInputs: unavailable,
    wallet: unavailable,
    screen: async () => later(),
    attempt: async () => later(),
    broadcast: async () => ({ kind: 'unknown' }),
    look: async () => ({ kind: 'waiting' }),
  }
}

const later = () =>
  ({ kind: 'later', at: new Date(Date.now() + 60_000), why: 'endpoints_unavailable' }) as const
