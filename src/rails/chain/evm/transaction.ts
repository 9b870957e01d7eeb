import { addr, ethHex, Transaction } from 'micro-eth-signer'
import type { GasFees } from './fees.ts'

/** A transaction of type 2 (EIP-1559) without an access list: nothing else is ever signed. */
export type EvmTransaction = {
  readonly chain_id: bigint
  readonly nonce: bigint
  readonly to: string
  /** The network's coin, in wei. Absent: none. Only gas for deposit addresses is sent this way (`sweeping.ts`). */
  readonly value?: bigint
  readonly data: string
  readonly gas_limit: bigint
} & GasFees

/** The bytes that are signed, as hex. */
export function encodeUnsigned(transaction: EvmTransaction): string {
  const { chain_id, nonce, to, value = 0n, data, gas_limit, max_fee, priority } = transaction
  const prepared = Transaction.prepare(
    {
      type: 'eip1559',
      chainId: chain_id,
      nonce,
      to: addr.addChecksum(to.toLowerCase()),
      value,
      data,
      gasLimit: gas_limit,
      maxFeePerGas: max_fee,
      maxPriorityFeePerGas: priority,
      accessList: [],
    },
    // The library's limits are meant for people who type; ours are in fees.ts and in the signer.
    false,
  )
  return prepared.toHex({ includeSignature: false })
}

export type DecodedTransaction = EvmTransaction & {
  readonly value: bigint
  readonly is_signed: boolean
}

/**
 * Decodes a transaction of type 2 without an access list. Undefined for all other bytes, also for those that no encoder writes
 * (leading zeros, bytes behind the end).
 */
export function decodeTransaction(hex: string): DecodedTransaction | undefined {
  const decoded = decode(hex)
  if (decoded?.type !== 'eip1559') return undefined
  const { chainId, nonce, to, value, data, gasLimit, maxFeePerGas, maxPriorityFeePerGas, accessList } =
    decoded.raw
  if (accessList.length > 0) return undefined
  return {
    chain_id: chainId,
    nonce,
    to: to.toLowerCase(),
    value,
    data: data === '' ? '0x' : data.toLowerCase(),
    gas_limit: gasLimit,
    max_fee: maxFeePerGas,
    priority: maxPriorityFeePerGas,
    is_signed: decoded.isSigned,
  }
}

type Eip1559 = ReturnType<typeof Transaction.prepare<'eip1559'>>

const HEX_FORM = /^0x(?:[0-9a-f]{2})+$/

function decode(hex: string): Eip1559 | undefined {
  if (!HEX_FORM.test(hex)) return undefined
  try {
    const decoded = Transaction.fromBytes(ethHex.decode(hex))
    return decoded.toHex() === hex ? (decoded as Eip1559) : undefined
  } catch {
    return undefined
  }
}

/** Signs with RFC 6979: the same transaction always gets the same bytes, so a crash before they are stored leaves no second ones. */
export function signTransaction(unsigned: string, key: Uint8Array): string {
  const decoded = decode(unsigned)
  if (!decoded || decoded.isSigned) throw new Error('only an unsigned transaction can be signed')
  return decoded.signBy(key, false).toHex()
}

/** What a signature was made over, by whom, and its hash on the chain, all computed from the signed bytes alone. */
export type SignatureFacts = { readonly unsigned: string; readonly sender: string; readonly tx_hash: string }

export function factsOfSigned(signed: string): SignatureFacts | undefined {
  const decoded = decode(signed)
  if (!decoded?.isSigned) return undefined
  try {
    const unsigned = decoded.toHex({ includeSignature: false })
    return { unsigned, sender: decoded.sender.toLowerCase(), tx_hash: decoded.hash }
  } catch {
    return undefined
  }
}
