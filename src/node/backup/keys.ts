import { keyIdOf } from '../../core/seal.ts'
import { type KeySettings, presentKeysOf } from '../../db/open.ts'

/** Settings with exactly one key: a backup must not depend on another key, which may be lost. */
export type WithKey<Settings extends KeySettings> = Settings & { readonly secret_key: Buffer }

/** The settings with the key of a backup only. Throws when that key is not known. */
export function withKey<Settings extends KeySettings>(
  settings: Settings,
  fingerprint: string,
): WithKey<Settings> {
  const known = presentKeysOf(settings)
  const right = known.find((key) => keyIdOf(key) === fingerprint)
  if (!right) {
    const given = known.length === 0 ? 'none' : known.map(keyIdOf).join(', ')
    throw new Error(
      `This backup needs the secret key ${fingerprint}; given is ${given}. The key is not in the backup. Name a file that has it: SECRET_KEY_FILE=…/secret.key trilho backup …`,
    )
  }
  return { ...settings, secret_key: right, secret_keys_previous: [] }
}
