import { transferData as evmTransferData, TRANSFER_TOPIC } from '../evm/token.ts'
import { accountHexOf } from './address.ts'

/** The contract of USDT (TRC-20): its calls and logs are those of ERC-20, with the 20 bytes of an account and without 0x. */
export const trc20TransferData = (destination: string, amount: bigint): string =>
  evmTransferData(`0x${accountHexOf(destination)}`, amount).slice(2)

const TRON_TRANSFER_TOPIC = TRANSFER_TOPIC.slice(2)

/** An address as an argument of a call, and as a topic of a log. */
export const addressWord = (address: string): string => accountHexOf(address).padStart(64, '0')

export const amountWord = (amount: bigint): string => amount.toString(16).padStart(64, '0')

/** `address` is the 20 bytes of the contract's account. */
export type TronLog = {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** Transfers of the token among logs. A log of another form is left out. */
export type TronTransfer = {
  /** The place of the log among those of the transaction. */
  readonly log_index: number
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

const WORD = /^[0-9a-f]{64}$/
const ADDRESS_WORD = /^0{24}[0-9a-f]{40}$/

/** Accounts, as 20 bytes in hex. */
export function trc20TransfersIn(logs: readonly TronLog[], contract: string): TronTransfer[] {
  const account = accountHexOf(contract)
  return anyTransfersIn(logs).flatMap(({ token, ...transfer }) => (token === account ? [transfer] : []))
}

/** Of any contract, whose account is `token`. A log of another form, as of an NFT, is left out. */
export function anyTransfersIn(logs: readonly TronLog[]): (TronTransfer & { readonly token: string })[] {
  return logs.flatMap(({ address: token, topics, data }, log_index) => {
    const [topic, from, to] = topics
    const is_transfer = topic === TRON_TRANSFER_TOPIC && topics.length === 3 && WORD.test(data)
    if (!is_transfer || !ADDRESS_WORD.test(from!) || !ADDRESS_WORD.test(to!)) return []
    return [{ token, log_index, from: from!.slice(24), to: to!.slice(24), amount: BigInt(`0x${data}`) }]
  })
}

/** Whether the logs show exactly one movement of the token, and it is this one. */
export function showsTrc20Transfer(
  logs: readonly TronLog[],
  wanted: { readonly contract: string; readonly from: string; readonly to: string; readonly amount: bigint },
): boolean {
  const account = accountHexOf(wanted.contract)
  const moved = logs.filter(({ address, topics }) => address === account && topics[0] === TRON_TRANSFER_TOPIC)
  const [only] = trc20TransfersIn(moved, wanted.contract)
  return (
    moved.length === 1 &&
    only !== undefined &&
    only.from === accountHexOf(wanted.from) &&
    only.to === accountHexOf(wanted.to) &&
    only.amount === wanted.amount
  )
}
