import { addr } from 'micro-eth-signer'

const KEY_FORM = /^(?:0x)?[0-9a-fA-F]{64}$/

/** The private key of a wallet, from hex. The error does not show it. */
export function secretOf(key: string): Uint8Array {
  const secret = KEY_FORM.test(key) ? Buffer.from(key.slice(-64), 'hex') : undefined
  if (!secret || !addr.isValidPrivateKey(new Uint8Array(secret)))
    throw new Error(
      'The key of the wallet is not valid: it must be 32 bytes as hex, and a key of the curve secp256k1.',
    )
  return new Uint8Array(secret)
}
