import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Encrypts secrets that must be read back, under SECRET_KEY. `of` says what a secret belongs to and is authenticated: a
 * sealed value that was moved to another row or environment does not open. During a key rotation both keys are known.
 */
export type Sealer = {
  /** The id of SECRET_KEY first, then those of the previous keys. */
  keyIds(): readonly string[]
  /** Seals under SECRET_KEY, unless `key_id` names another known key. */
  seal(secret: Buffer, of: string, key_id?: string): Sealed
  open(value: Buffer, of: string): Buffer
  /** The id of the known key that opens the value, if any. */
  openerOf(value: Buffer, of: string): string | undefined
}

export type Sealed = { readonly value: Buffer; readonly key_id: string }

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_BYTES = 8

type Key = { readonly id: string; readonly bytes: Buffer }

/** The public id of a key, from which the key cannot be derived. */
export function keyIdOf(secret_key: Buffer): string {
  return Buffer.from(hkdfSync('sha256', secret_key, '', 'trilho: key id', KEY_ID_BYTES)).toString('hex')
}

/** A derived key for sealing only, so that SECRET_KEY can serve other uses too. */
const derive = (secret_key: Buffer): Key => ({
  id: keyIdOf(secret_key),
  bytes: Buffer.from(hkdfSync('sha256', secret_key, '', 'trilho: sealed secrets', 32)),
})

/** `laterKeys`: reads keys that a rotation has added since; called when no known key fits. */
export function createSealer(secret_keys: readonly Buffer[], laterKeys?: () => readonly Buffer[]): Sealer {
  let keys = secret_keys.map(derive)

  function lookAgain(): void {
    const later = (laterKeys?.() ?? []).map(derive)
    keys = [...keys, ...later.filter(({ id }) => keys.every((key) => key.id !== id))]
  }

  const find = <T>(wanted: (key: Key) => T | undefined): T | undefined => {
    const first = () => {
      for (const key of keys) {
        const found = wanted(key)
        if (found !== undefined) return found
      }
      return undefined
    }
    const found = first()
    if (found !== undefined || !laterKeys) return found
    lookAgain()
    return first()
  }

  return {
    keyIds: () => keys.map(({ id }) => id),
    seal(secret, of, key_id = keys[0]!.id) {
      const key = find((one) => (one.id === key_id ? one : undefined))
      if (!key)
        throw new Error(`Secrets are sealed under the key ${key_id}, which this process does not have.`)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(Buffer.from(of))
      const hidden = Buffer.concat([cipher.update(secret), cipher.final()])
      return { value: Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), hidden]), key_id }
    },
    open(value, of) {
      if (value[0] !== VERSION)
        throw new Error('Cannot open a sealed secret: it was sealed by another version of the service.')
      return find((key) => openUnder(key, value, of)) ?? fail()
    },
    openerOf: (value, of) => find((key) => (openUnder(key, value, of) ? key.id : undefined)),
  }
}

function fail(): never {
  throw new Error(
    'Cannot open a sealed secret: it was sealed under another SECRET_KEY or for another row, or it was changed.',
  )
}

function openUnder(key: Key, value: Buffer, of: string): Buffer | undefined {
  if (value[0] !== VERSION || value.length < 1 + NONCE_BYTES + TAG_BYTES) return undefined
  const nonce = value.subarray(1, 1 + NONCE_BYTES)
  const tag = value.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(of)).setAuthTag(tag)
  try {
    return Buffer.concat([decipher.update(value.subarray(1 + NONCE_BYTES + TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
