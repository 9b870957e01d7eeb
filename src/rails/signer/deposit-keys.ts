import { HDKey } from '@scure/bip32'
import {
  BITCOIN_VERSIONS,
  childOf,
  DEPOSITS_CHILD,
  readExtendedKey,
  versionOf,
} from '../chain/deposit-addresses.ts'

/**
 * The private keys of deposit addresses, for a signer. The service hands out addresses from the public key (`m/0/index`); only what
 * moves coins away from them needs this one.
 */
export type DepositKeys = {
  /** The private key of the address at `m/0/index`. */
  secretAt(index: number): Uint8Array
  /** The private key of the account that pays for gas when tokens are moved away from deposit addresses: `m/1/0`. */
  gasSecret(): Uint8Array
}

const GAS_CHILD = 1

/** The point of the account that pays for gas, from the extended public key: every node can tell its address. */
export const gasPointOf = (xpub: string): Uint8Array =>
  childOf(childOf(readExtendedKey(xpub), GAS_CHILD), 0).publicKey!

/** Reads an extended private key of mainnet (`xprv…`), whose public key must be `xpub`. No message repeats either. */
export function openDepositKeys(xprv: string, xpub: string): DepositKeys {
  const key = readExtendedPrivateKey(xprv)
  if (key.publicExtendedKey !== readExtendedKey(xpub).publicExtendedKey)
    throw new Error('is the private key of another extended public key: its coins could not be moved')
  const deposits = childOf(key, DEPOSITS_CHILD)
  return {
    secretAt: (index) => childOf(deposits, index).privateKey!,
    gasSecret: () => childOf(childOf(key, GAS_CHILD), 0).privateKey!,
  }
}

export function readExtendedPrivateKey(text: string): HDKey {
  if (versionOf(text) !== BITCOIN_VERSIONS.private)
    throw new Error('is no extended private key of mainnet: it does not begin with xprv')
  try {
    return HDKey.fromExtendedKey(text)
  } catch {
    throw new Error('is no extended private key')
  }
}
