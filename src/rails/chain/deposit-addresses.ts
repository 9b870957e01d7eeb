import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { createBase58check } from '@scure/base'
import { p2wpkh } from '@scure/btc-signer/payment.js'
import { addr } from 'micro-eth-signer'
import type { Environment } from '../../core/environment.ts'
import { refuse } from '../../core/errors.ts'
import { type Network, networks } from '../../core/networks.ts'

/**
 * Addresses to which customers pay in. All are derived from an extended public key (BIP 32), so a node that hands them out
 * cannot spend from them. Like a rail, they belong to one environment by their type.
 */
export type DepositAddresses<E extends Environment = Environment> = {
  readonly environment: E
  /** The address at `m/0/index`. Refuses a network on which nobody would find the money. */
  addressOf(network: Network, index: number): string
}

/** An extended public key: a point of the curve, and what its children are derived with. */
type ExtendedKey = { readonly point: Uint8Array; readonly chain_code: Uint8Array }

const base58 = createBase58check(sha256)
const XPUB_VERSION = 0x0488b21e
const XPRV_VERSION = 0x0488ade4
const XPUB_BYTES = 78
/** From here on indexes are hardened, and need the private key. */
const HARDENED = 2 ** 31

/** Reads an extended public key of mainnet (`xpub…`). The message of an error never repeats the text, which may be a secret. */
export function readExtendedKey(text: string): ExtendedKey {
  const bytes = decodeBase58(text)
  if (bytes.length !== XPUB_BYTES) throw new Error('is no extended public key: its length is wrong')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = view.getUint32(0)
  if (version === XPRV_VERSION)
    throw new Error(
      'is an extended private key. Give the public key (xpub…): the service must not be able to spend',
    )
  if (version !== XPUB_VERSION)
    throw new Error('is no extended public key of mainnet: it does not begin with xpub')
  const point = bytes.slice(45)
  try {
    secp256k1.Point.fromBytes(point).assertValidity()
  } catch {
    throw new Error('is no extended public key: its point is not on the curve')
  }
  return { point, chain_code: bytes.slice(13, 45) }
}

function decodeBase58(text: string): Uint8Array {
  try {
    return base58.decode(text)
  } catch {
    throw new Error('is no extended public key: its checksum is wrong')
  }
}

/** BIP 32, public parent to public child. */
export function childOf({ point, chain_code }: ExtendedKey, index: number): ExtendedKey {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED)
    throw new Error(`${index} is no index of a child that is derived without the private key`)
  const data = new Uint8Array(37)
  data.set(point)
  new DataView(data.buffer).setUint32(33, index)
  const digest = hmac(sha512, chain_code, data)
  const tweak = numberOf(digest.subarray(0, 32))
  // Has never been seen, and never will be: one in 2^127.
  if (tweak === 0n || tweak >= secp256k1.Point.Fn.ORDER) throw new Error(`the key has no child ${index}`)
  const child = secp256k1.Point.BASE.multiply(tweak).add(secp256k1.Point.fromBytes(point))
  child.assertValidity()
  return { point: child.toBytes(true), chain_code: digest.slice(32) }
}

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

type Kind = (typeof networks)[Network]['kind']

/** The address of a public key, in the form of its networks. */
export const encodeAddress: Readonly<Record<Kind, (point: Uint8Array) => string>> = {
  bitcoin: (point) => p2wpkh(point).address!,
  evm: (point) => addr.fromPublicKey(point),
  tron: (point) => base58.encode(new Uint8Array([TRON_VERSION, ...accountOf(point)])),
}

const TRON_VERSION = 0x41

/** The last 20 bytes of the hash of the whole point: the account of an EVM chain, and of Tron. */
const accountOf = (point: Uint8Array): Uint8Array =>
  keccak_256(secp256k1.Point.fromBytes(point).toBytes(false).subarray(1)).subarray(12)

/** An address as it is stored: nodes and people also write EVM addresses without a checksum, and bech32 in upper case. */
export function canonicalAddress(address: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(address)) return addr.addChecksum(address.toLowerCase())
  return /^BC1[0-9A-Z]+$/.test(address) ? address.toLowerCase() : address
}

/** The hash of a transaction as it is stored: nodes and people write the same one in upper case, and with or without 0x. */
export function canonicalHash(network: Network, tx_hash: string): string {
  const hex = /^(?:0[xX])?([0-9a-fA-F]{64})$/.exec(tx_hash)?.[1]?.toLowerCase()
  if (hex === undefined) throw new Error(`${network}: ${tx_hash} is no hash of a transaction`)
  return networks[network].kind === 'evm' ? `0x${hex}` : hex
}

/** Derives from one key for each kind of network: the EVM networks of a customer share an address. */
export function derivedAddresses<E extends Environment>(
  environment: E,
  xpubs: Readonly<Record<Kind, string>>,
): DepositAddresses<E> {
  const external = (text: string) => childOf(readExtendedKey(text), 0)
  const chains = { bitcoin: external(xpubs.bitcoin), evm: external(xpubs.evm), tron: external(xpubs.tron) }
  return {
    environment,
    addressOf(network, index) {
      const { kind } = networks[network]
      return encodeAddress[kind](childOf(chains[kind], index).point)
    },
  }
}

/**
 * Keys of the sandbox: accounts of the mnemonic "abandon … about", which everybody knows. The addresses look real, so that
 * forms and QR codes can be tried; coins sent to them are lost.
 */
const sandboxKeys: Readonly<Record<Kind, string>> = {
  bitcoin:
    'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V',
  evm: 'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt',
  tron: 'xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd',
}

export const sandboxAddresses = (): DepositAddresses<'sandbox'> => derivedAddresses('sandbox', sandboxKeys)

/** Production: nothing watches the chains for deposits yet, so nobody is given an address. */
export const unavailableAddresses: DepositAddresses<'production'> = {
  environment: 'production',
  addressOf: (network) =>
    refuse('rail_unavailable', {
      message: `Deposits on ${network} are not available: this service does not watch that network for deposits yet. Nothing was created.`,
      retry_after_seconds: 3600,
    }),
}
