import { keyIdOf } from '../core/seal.ts'
import { type KeySettings, presentKeysOf } from '../db/open.ts'
import type { Manifest } from './manifest.ts'

/** The settings of a process that has the key of a backup. Throws when nobody gave it. */
export function settingsWithKey<Settings extends KeySettings>(
  settings: Settings,
  { secret_key: { fingerprint } }: Manifest,
): Settings & { readonly secret_key: Buffer } {
  const known = presentKeysOf(settings)
  const right = known.find((key) => keyIdOf(key) === fingerprint)
  if (!right) {
    const given = known.length === 0 ? 'none' : known.map(keyIdOf).join(', ')
    throw new Error(
      `This backup needs the secret key ${fingerprint}; given is ${given}. The key is not in the backup. Name a file that has it: SECRET_KEY_FILE=…/secret.key trilho backup …`,
    )
  }
  return { ...settings, secret_key: right, secret_keys_previous: known.filter((key) => key !== right) }
}
