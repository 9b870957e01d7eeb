import { refuse } from '../../core/errors.ts'
import type { ChainRail } from './rail.ts'

/** Production without configured chains: every order is refused before any money moves. */
export const unavailableChain: ChainRail<'production'> = {
  environment: 'production',
  feeInputs: async (network) =>
    refuse('rail_unavailable', {
      message: `${network} is not configured in production yet.`,
      retry_after_seconds: 60,
    }),
  prepare: async () => ({ kind: 'later', at: new Date(Date.now() + 60_000) }),
  broadcast: async () => ({ kind: 'unknown' }),
  status: async () => ({ kind: 'waiting' }),
}
