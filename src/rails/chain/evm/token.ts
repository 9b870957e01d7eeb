import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { RpcNode } from '../rpc-health.ts'
import { type BlockTag, callContract, type EvmLog } from './calls.ts'

/** The token's contract (ERC-20): what is sent to it and what it logs. */
const ADDRESS_FORM = /^0x[0-9a-fA-F]{40}$/
const WORD_MAX = 2n ** 256n - 1n

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

export const isEvmAddressForm = (text: string): boolean => ADDRESS_FORM.test(text)

export const isSameAddress = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase()

const hashOf = (signature: string): string => bytesToHex(keccak_256(utf8ToBytes(signature)))
const selectorOf = (signature: string): string => `0x${hashOf(signature).slice(0, 8)}`

/** An address as a topic of a log. */
export const addressTopic = (address: string): string => `0x${addressWord(address)}`

function addressWord(address: string): string {
  if (!isEvmAddressForm(address)) throw new Error('an address must be 0x and 40 hex digits')
  return address.slice(2).toLowerCase().padStart(64, '0')
}

function amountWord(amount: bigint): string {
  if (amount < 0n || amount > WORD_MAX) throw new Error('an amount must fit into 256 bits')
  return amount.toString(16).padStart(64, '0')
}

/** `transfer(address,uint256)`. */
const TRANSFER_SELECTOR = '0xa9059cbb'

/** The only call of a contract that is ever signed. */
export const transferData = (destination: string, amount: bigint): string =>
  `${TRANSFER_SELECTOR}${addressWord(destination)}${amountWord(amount)}`

export const TRANSFER_TOPIC = `0x${hashOf('Transfer(address,address,uint256)')}`

/** Whether the logs show exactly one movement of the token, and it is this one. */
export function showsTransfer(
  logs: readonly EvmLog[],
  wanted: { contract: string; from: string; to: string; amount: bigint },
): boolean {
  const moved = logs.filter(
    ({ address, topics }) => isSameAddress(address, wanted.contract) && topics[0] === TRANSFER_TOPIC,
  )
  const [only] = moved
  return (
    moved.length === 1 &&
    only!.topics.length === 3 &&
    only!.topics[1] === `0x${addressWord(wanted.from)}` &&
    only!.topics[2] === `0x${addressWord(wanted.to)}` &&
    only!.data === `0x${amountWord(wanted.amount)}`
  )
}

export type TokenTransfer = { readonly from: string; readonly to: string; readonly amount: bigint }

const TRANSFER_TOPICS = 3
/** 0x and 12 bytes before an address that fills a word. */
const ADDRESS_OFFSET = 26
const addressIn = (word: string): string => `0x${word.slice(ADDRESS_OFFSET)}`

/** Addresses are in lower case. Undefined for a log that is no transfer of the contract. */
export function transferIn({ address, topics, data }: EvmLog, contract: string): TokenTransfer | undefined {
  const [topic, from, to] = topics
  if (!isSameAddress(address, contract) || topic !== TRANSFER_TOPIC || topics.length !== TRANSFER_TOPICS)
    return undefined
  if (data.length !== WORD_LENGTH) return undefined
  return { from: addressIn(from!), to: addressIn(to!), amount: BigInt(data) }
}

type TokenGetter =
  | { readonly signature: 'decimals()' }
  | { readonly signature: `${string}(address)`; readonly of: string }

/** Reads a number from the contract. Undefined if the contract has no such function. */
export async function readToken(
  node: RpcNode,
  contract: string,
  { tag = 'latest', ...getter }: TokenGetter & { readonly tag?: BlockTag },
): Promise<bigint | undefined> {
  const argument = 'of' in getter ? addressWord(getter.of) : ''
  const outcome = await node.ask(
    callContract({ to: contract, data: `${selectorOf(getter.signature)}${argument}` }, tag),
  )
  return outcome.kind === 'returned' && outcome.data.length === WORD_LENGTH ? BigInt(outcome.data) : undefined
}

/** 0x and 32 bytes. */
const WORD_LENGTH = 66

/** Undefined if there is no ERC-20 token at the address. */
export const readBalance = (node: RpcNode, contract: string, of: string, tag: BlockTag = 'latest') =>
  readToken(node, contract, { signature: 'balanceOf(address)', of, tag })
