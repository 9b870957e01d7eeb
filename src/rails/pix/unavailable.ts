import { refuse } from '../../core/errors.ts'
import type { PixRail } from './rail.ts'

/** Production without a configured Pix provider: every order is refused before any money moves. */
export const unavailablePix: PixRail<'production'> = {
  environment: 'production',
  provider: 'none',
  sending: { visible_after_ms: 0 },
  ready: async () => notConfigured(),
  holder: async () => notConfigured(),
  send: async () => ({ kind: 'unknown' }),
  status: async () => ({ kind: 'unknown' }),
}

function notConfigured(): never {
  return refuse('rail_unavailable', {
    message: 'This service has no Pix provider in production. Its operator must configure one.',
    retry_after_seconds: 60,
  })
}
