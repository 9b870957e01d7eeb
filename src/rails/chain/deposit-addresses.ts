import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
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

const base58 = createBase58check(sha256)
const XPUB_BYTES = 78
/** From here on indexes are hardened, and need the private key. */
const HARDENED = 2 ** 31

/** Reads an extended public key of mainnet (`xpub…`). The message of an error never repeats the text, which may be a secret. */
export function readExtendedKey(text: string): HDKey {
  const version = versionOf(text)
  if (version === BITCOIN_VERSIONS.private)
    throw new Error(
      'is an extended private key. Give the public key (xpub…): the service must not be able to spend',
    )
  if (version !== BITCOIN_VERSIONS.public)
    throw new Error('is no extended public key of mainnet: it does not begin with xpub')
  try {
    return HDKey.fromExtendedKey(text)
  } catch {
    throw new Error('is no extended public key: its point is not on the curve')
  }
}

/** What BIP 32 writes in front of keys of mainnet. */
export const BITCOIN_VERSIONS = { public: 0x0488b21e, private: 0x0488ade4 } as const

/** The first four bytes of an extended key: which network, and whether it is private. */
export function versionOf(text: string): number {
  const bytes = decodeBase58(text)
  if (bytes.length !== XPUB_BYTES) throw new Error('is no extended key: its length is wrong')
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0)
}

function decodeBase58(text: string): Uint8Array {
  try {
    return base58.decode(text)
  } catch {
    throw new Error('is no extended key: its checksum is wrong')
  }
}

/** The child of a public key, or of a private one, without hardening: both give the same address. */
export function childOf(key: HDKey, index: number): HDKey {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED)
    throw new Error(`${index} is no index of a child that is derived without the private key`)
  return key.deriveChild(index)
}

/** Deposit addresses are the children of this child of an extended key. */
export const DEPOSITS_CHILD = 0

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
  const hex = digitsOfHash(tx_hash)
  if (hex === undefined) throw new Error(`${network}: ${tx_hash} is no hash of a transaction`)
  return networks[network].kind === 'evm' ? `0x${hex}` : hex
}

/** The digits of the hash of a transaction, in lower case and without 0x; undefined if the text is no such hash. */
export const digitsOfHash = (text: string): string | undefined =>
  /^(?:0[xX])?([0-9a-fA-F]{64})$/.exec(text)?.[1]?.toLowerCase()

/** One extended public key for each kind of network: the EVM networks of a customer share an address. */
export type DepositXpubs = Readonly<Partial<Record<Kind, string>>>

/** `isWatched`: whether the service looks for deposits on the network. */
export function derivedAddresses<E extends Environment>(
  environment: E,
  xpubs: DepositXpubs,
  isWatched: (network: Network) => boolean = () => true,
): DepositAddresses<E> {
  const chains = new Map(
    Object.entries(xpubs).map(([kind, text]) => [kind, childOf(readExtendedKey(text), DEPOSITS_CHILD)]),
  )
  return {
    environment,
    addressOf(network, index) {
      const { kind } = networks[network]
      const chain = chains.get(kind)
      if (!chain || !isWatched(network)) return notWatched(network)
      return encodeAddress[kind](childOf(chain, index).publicKey!)
    },
  }
}

const notWatched = (network: Network): never =>
  refuse('rail_unavailable', {
    message: `Deposits on ${network} are not available: this service does not watch that network for deposits. Nothing was created.`,
    retry_after_seconds: 3600,
  })

/**
 * Keys of the sandbox: accounts of the mnemonic "abandon … about", which everybody knows. The addresses look real, so that
 * forms and QR codes can be tried; coins sent to them are lost.
 */
const sandboxKeys: DepositXpubs = {
  bitcoin:
    'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V',
  evm: 'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt',
  tron: 'xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd',
}

export const sandboxAddresses = (): DepositAddresses<'sandbox'> => derivedAddresses('sandbox', sandboxKeys)
