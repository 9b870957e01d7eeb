import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { encodeAddress } from '../deposit-addresses.ts'
import { tronAddressOf, tronHexOf } from './address.ts'
import { bytesField, type ProtoField, readFields, varintField } from './protobuf.ts'

/** One call of a contract (TriggerSmartContract) that carries neither TRX nor a TRC-10 token: nothing else is ever signed. */
export type TronTransaction = {
  readonly owner: string
  readonly contract: string
  /** The call, as hex without 0x. */
  readonly data: string
  /** Two bytes of the height and eight bytes of the hash of a recent block, as hex. Only the chain with that block takes the transaction. */
  readonly ref_block: { readonly bytes: string; readonly hash: string }
  /** Milliseconds since 1970. No block whose predecessor is not older than `expiration` takes the transaction. */
  readonly expiration: bigint
  readonly timestamp: bigint
  /** The most that the energy of the call may cost, in sun. */
  readonly fee_limit: bigint
}

const TYPE_URL = 'type.googleapis.com/protocol.TriggerSmartContract'
const TRIGGER_SMART_CONTRACT = 31n
const HEX_FORM = /^(?:[0-9a-f]{2})+$/

/** Numbers of fields in `Transaction.raw`, `Contract`, `Any`, `TriggerSmartContract` and `Transaction` of java-tron’s Tron.proto. */
const RAW = { ref_bytes: 1, ref_hash: 4, expiration: 8, contract: 11, timestamp: 14, fee_limit: 18 } as const
const CONTRACT = { type: 1, parameter: 2 } as const
const ANY = { type_url: 1, value: 2 } as const
const TRIGGER = { owner: 1, contract: 2, data: 4 } as const
const TRANSACTION = { raw: 1, signature: 2 } as const

/** The two parts of a block's id that a transaction names: bytes 6 and 7 are the end of the height, 8 to 15 the start of the hash. */
export const refBlockOf = (block_hash: string): TronTransaction['ref_block'] => ({
  bytes: block_hash.slice(12, 16),
  hash: block_hash.slice(16, 32),
})

/** The bytes that are signed, `raw_data`, as hex. */
export function encodeRaw(transaction: TronTransaction): string {
  const { owner, contract, data, ref_block, expiration, timestamp, fee_limit } = transaction
  const call = [
    ...bytesField(TRIGGER.owner, addressBytes(owner)),
    ...bytesField(TRIGGER.contract, addressBytes(contract)),
    ...bytesField(TRIGGER.data, hexToBytes(data)),
  ]
  const any = [...bytesField(ANY.type_url, utf8ToBytes(TYPE_URL)), ...bytesField(ANY.value, call)]
  const raw = [
    ...bytesField(RAW.ref_bytes, hexToBytes(ref_block.bytes)),
    ...bytesField(RAW.ref_hash, hexToBytes(ref_block.hash)),
    ...varintField(RAW.expiration, expiration),
    ...bytesField(RAW.contract, [
      ...varintField(CONTRACT.type, TRIGGER_SMART_CONTRACT),
      ...bytesField(CONTRACT.parameter, any),
    ]),
    ...varintField(RAW.timestamp, timestamp),
    ...varintField(RAW.fee_limit, fee_limit),
  ]
  return bytesToHex(new Uint8Array(raw))
}

function addressBytes(address: string): Uint8Array {
  const hex = tronHexOf(address)
  if (hex === undefined) throw new Error('an address of the transaction is no address of tron')
  return hexToBytes(hex)
}

/**
 * Undefined for all bytes but those that `encodeRaw` writes: a second contract, a memo, a permission, TRX or a token in the call, and
 * unknown fields are all refused, because encoding what was read would not give the same bytes.
 */
export function decodeRaw(raw: string): TronTransaction | undefined {
  try {
    const transaction = readRaw(raw)
    return transaction && encodeRaw(transaction) === raw ? transaction : undefined
  } catch {
    return undefined
  }
}

function readRaw(hex: string): TronTransaction | undefined {
  if (!HEX_FORM.test(hex)) return undefined
  const raw = partsOf(hexToBytes(hex))
  const contract = partsOf(raw.bytes(RAW.contract))
  const any = partsOf(contract.bytes(CONTRACT.parameter))
  const call = partsOf(any.bytes(ANY.value))
  return {
    owner: tronAddressOf(bytesToHex(call.bytes(TRIGGER.owner))),
    contract: tronAddressOf(bytesToHex(call.bytes(TRIGGER.contract))),
    data: bytesToHex(call.bytes(TRIGGER.data)),
    ref_block: { bytes: bytesToHex(raw.bytes(RAW.ref_bytes)), hash: bytesToHex(raw.bytes(RAW.ref_hash)) },
    expiration: raw.varint(RAW.expiration),
    timestamp: raw.varint(RAW.timestamp),
    fee_limit: raw.varint(RAW.fee_limit),
  }
}

/** Throws for bytes that are missing. A number that is missing is 0, as everywhere in protocol buffers. */
function partsOf(bytes: Uint8Array) {
  const fields = readFields(bytes)
  if (!fields) throw new Error('the bytes are no message')
  const find = (wanted: number): ProtoField | undefined => fields.find(({ number }) => number === wanted)
  return {
    bytes(wanted: number): Uint8Array {
      const field = find(wanted)
      if (!field || !('bytes' in field)) throw new Error(`field ${wanted} has no bytes`)
      return field.bytes
    },
    varint(wanted: number): bigint {
      const field = find(wanted)
      if (field && !('varint' in field)) throw new Error(`field ${wanted} is no number`)
      return field?.varint ?? 0n
    },
  }
}

/** A transaction is known by the hash of what is signed; the signature is no part of it. */
export const txIdOf = (raw: string): string => bytesToHex(sha256(hexToBytes(raw)))

const RECOVERY_BASE = 27
const SIGNATURE_BYTES = 65

/**
 * The signed transaction as `broadcasthex` takes it. Signs with RFC 6979: the same bytes always get the same signature, which is
 * r‖s‖(27 + recovery).
 */
export function signRaw(raw: string, secret: Uint8Array): string {
  const [recovery, ...rs] = secp256k1.sign(sha256(hexToBytes(raw)), secret, {
    prehash: false,
    format: 'recovered',
  })
  return encodeSigned(raw, new Uint8Array([...rs, RECOVERY_BASE + recovery!]))
}

export const encodeSigned = (raw: string, signature: Uint8Array): string =>
  bytesToHex(
    new Uint8Array([
      ...bytesField(TRANSACTION.raw, hexToBytes(raw)),
      ...bytesField(TRANSACTION.signature, signature),
    ]),
  )

/** What a signature was made over, by whom, and its id on the chain, all computed from the signed bytes alone. */
export type TronSignatureFacts = { readonly raw: string; readonly signer: string; readonly tx_hash: string }

export function tronFactsOf(signed: string): TronSignatureFacts | undefined {
  if (!HEX_FORM.test(signed)) return undefined
  try {
    const parts = partsOf(hexToBytes(signed))
    const raw = bytesToHex(parts.bytes(TRANSACTION.raw))
    const signature = parts.bytes(TRANSACTION.signature)
    if (signature.length !== SIGNATURE_BYTES || encodeSigned(raw, signature) !== signed) return undefined
    const recovery = signature[SIGNATURE_BYTES - 1]! - RECOVERY_BASE
    const recovered = new Uint8Array([recovery, ...signature.subarray(0, SIGNATURE_BYTES - 1)])
    const tx_hash = txIdOf(raw)
    const point = secp256k1.recoverPublicKey(recovered, hexToBytes(tx_hash), { prehash: false })
    return { raw, signer: encodeAddress.tron(point), tx_hash }
  } catch {
    return undefined
  }
}
