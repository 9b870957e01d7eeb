import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import { encodeAddress } from '../deposit-addresses.ts'

/** Addresses of Tron: base58check over 0x41 and the 20 bytes of an account. Nodes also write the 21 bytes as hex. */
const base58check = createBase58check(sha256)
const VERSION = '41'
const LENGTH = 34

/** The 21 bytes as hex, 41…; undefined for a text that is no address. */
export function tronHexOf(address: string): string | undefined {
  // Decoding a longer text takes time that grows with the square of its length.
  if (address.length !== LENGTH) return undefined
  try {
    const hex = bytesToHex(base58check.decode(address))
    return isTronHex(hex) ? hex : undefined
  } catch {
    return undefined
  }
}

const isTronHex = (hex: string): boolean => /^41[0-9a-f]{40}$/.test(hex)

/** The 20 bytes of the account as hex, without the version: so contracts see an address. */
export function accountHexOf(address: string): string {
  const hex = tronHexOf(address)
  if (hex === undefined)
    throw new Error('an address of tron must be base58 with a checksum, and begin with T')
  return hex.slice(VERSION.length)
}

/** From 21 bytes as hex. Throws for anything else. */
export function tronAddressOf(hex: string): string {
  if (!isTronHex(hex)) throw new Error('an address of tron must be 41 and 40 hex digits')
  return base58check.encode(hexToBytes(hex))
}

/** From the 20 bytes of an account, as logs name it. */
export const addressOfAccount = (account: string): string => tronAddressOf(VERSION + account)

export const tronAddressOfKey = (secret: Uint8Array): string =>
  encodeAddress.tron(secp256k1.getPublicKey(secret))
