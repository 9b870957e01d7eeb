import type { Environment } from '../core/environment.ts'
import type { Sealer } from '../core/seal.ts'
import type { TakenDelivery } from './queue.ts'
import { secretSealContext } from './store.ts'

/** The secrets that sign an attempt: two while a secret is being rotated. */
type SecretsOf = (
  taken: Pick<TakenDelivery, 'endpoint_id' | 'secret' | 'previous_secret' | 'previous_secret_until'>,
  now: Date,
) => Buffer[]

const KEPT = 1000
const KEPT_MS = 60_000

/** Caches opened secrets for a minute: thousands of deliveries a second use the same one. */
export function openSecrets(
  environment: Environment,
  sealer: Pick<Sealer, 'open'>,
  clock: () => number = () => performance.now(),
): SecretsOf {
  const opened = new Map<string, Buffer>()
  let forget_at = clock() + KEPT_MS

  function open(sealed: Buffer, endpoint_id: string): Buffer {
    // The endpoint is part of the key: a value sealed for another endpoint must not be found here.
    const name = `${endpoint_id} ${sealed.toString('latin1')}`
    const known = opened.get(name)
    if (known) return known
    const secret = sealer.open(sealed, secretSealContext(environment, endpoint_id))
    opened.set(name, secret)
    return secret
  }

  return ({ endpoint_id, secret, previous_secret, previous_secret_until }, now) => {
    if (opened.size >= KEPT || clock() >= forget_at) {
      opened.clear()
      forget_at = clock() + KEPT_MS
    }
    const rotating = previous_secret && previous_secret_until && previous_secret_until > now
    return [open(secret, endpoint_id), ...(rotating ? [open(previous_secret, endpoint_id)] : [])]
  }
}
