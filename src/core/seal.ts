import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Secrets that must be read back, encrypted under SECRET_KEY. `of` says what a secret belongs to: a sealed value that was
 * moved to another row, or to the other environment, does not open.
 */
export type Sealer = {
  seal(secret: Buffer, of: string): Buffer
  open(sealed: Buffer, of: string): Buffer
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function createSealer(secret_key: Buffer): Sealer {
  // A key for this use alone, so that SECRET_KEY may serve other uses too.
  const key = Buffer.from(hkdfSync('sha256', secret_key, '', 'trilho: sealed secrets', 32))
  return {
    seal(secret, of) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(of))
      const hidden = Buffer.concat([cipher.update(secret), cipher.final()])
      return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), hidden])
    },
    open(sealed, of) {
      if (sealed[0] !== VERSION) throw new Error('this secret was sealed by another version')
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
      const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(of)).setAuthTag(tag)
      return Buffer.concat([decipher.update(sealed.subarray(1 + NONCE_BYTES + TAG_BYTES)), decipher.final()])
    },
  }
}
