import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import { type Network, type NetworkRow, networks } from '../../core/networks.ts'
import { scriptOf } from '../../rails/chain/bitcoin/transaction.ts'

const evmBurns = ['0x0000000000000000000000000000000000000000', '0x000000000000000000000000000000000000dead']

const TRON_VERSION = 0x41
const TRON_LENGTH = 34
const tronBase58 = createBase58check(sha256)

const BASE58 = '[1-9A-HJ-NP-Za-km-z]'
const BECH32 = 'ac-hj-np-z02-9'
/** The address forms of all networks, for schemas. `isPayableAddress` checks checksums. */
export const ADDRESS_PATTERN = [
  '^0x[0-9A-Fa-f]{40}$',
  `^T${BASE58}{33}$`,
  `^[13]${BASE58}{25,34}$`,
  `^bc1[pq][${BECH32}]{38,58}$`,
  `^BC1[PQ][${BECH32.toUpperCase()}]{38,58}$`,
].join('|')
/** Transaction hashes of all networks. */
export const TX_HASH_PATTERN = '^(0x)?[0-9a-f]{64}$'

/** Whether a holder could spend money sent to this address, as far as its text shows (interface §4.2, contract §9). */
export function isPayableAddress(
  network: Network,
  address: string,
  options: { require_checksum?: boolean } = {},
): boolean {
  const rules: NetworkRow = networks[network]
  if (rules.kind === 'bitcoin') return scriptOf(address) !== undefined
  if (rules.kind === 'tron') return isTronAddress(address) && !rules.usdt_contracts.includes(address)
  const lower = address.toLowerCase()
  return (
    isEvmAddress(address, options.require_checksum ?? false) &&
    !evmBurns.includes(lower) &&
    !rules.usdt_contracts.some((contract) => contract.toLowerCase() === lower)
  )
}

export function isEvmAddress(address: string, requireChecksum: boolean): boolean {
  if (!/^0x[0-9A-Fa-f]{40}$/.test(address)) return false
  // An address in lower case has no checksum.
  if (!requireChecksum && !/[A-F]/.test(address)) return true
  return address === withChecksum(address)
}

/** EIP-55: a letter is upper case if the hex digit at its position in the hash of the lower-case text is 8 or more. */
function withChecksum(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)))
  return `0x${[...digits].map((digit, index) => (hash.charAt(index) >= '8' ? digit.toUpperCase() : digit)).join('')}`
}

function isTronAddress(address: string): boolean {
  // Version 0x41 and 20 bytes always make 34 characters, and 34 characters with that version are never more or
  // fewer bytes. Decoding a longer text would take time that grows with the square of its length.
  if (address.length !== TRON_LENGTH) return false
  const payload = attempt(() => tronBase58.decode(address))
  if (payload?.[0] !== TRON_VERSION) return false
  return payload.some((byte, index) => index > 0 && byte !== 0)
}

function attempt<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}
