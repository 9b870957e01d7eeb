import { createPrivateKey, type KeyObject } from 'node:crypto'

/** Reads the private key of a project. No message quotes the text. */
export function readProjectKey(text: string): KeyObject {
  const key = parseKey(text)
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'secp256k1')
    throw new Error('must be a private key of the curve secp256k1: openssl ecparam -name secp256k1 -genkey')
  return key
}

function parseKey(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    throw new Error('must be a private key in PEM, without a password')
  }
}
