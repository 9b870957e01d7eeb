import { type Anvil, hex } from './anvil.ts'

/**
 * A contract that pays tokens to many addresses in one transaction, as exchanges do. Its calldata is a list of pairs of 32 bytes: to whom,
 * and how much. If one payment fails, all of them do. Anybody may call it.
 */
export async function deployBatchPayer(node: Anvil, token: string): Promise<string> {
  const [from] = await node.call<string[]>('eth_accounts')
  const data = `0x${CREATION}${runtimeFor(token)}`
  const tx_hash = await node.call<string>('eth_sendTransaction', { from, gas: hex(500_000), data })
  await node.mine()
  const receipt = await node.call<{ status: string; contractAddress: string }>(
    'eth_getTransactionReceipt',
    tx_hash,
  )
  if (receipt.status !== '0x1') throw new Error('the batch payer was not deployed')
  return receipt.contractAddress
}

export type BatchEntry = { readonly address: string; readonly amount: bigint }

export const batchData = (entries: readonly BatchEntry[]): `0x${string}` =>
  `0x${entries.map(({ address, amount }) => word(BigInt(address)) + word(amount)).join('')}`

const word = (value: bigint): string => value.toString(16).padStart(64, '0')

/** Returns the 78 bytes that follow it. */
const CREATION = '604e80600b6000396000f3'

const runtimeFor = (token: string): string =>
  [
    '63a9059cbb60e01b600052', // memory 0: the selector of transfer(address,uint256)
    '6000', // i = 0
    '5b', // 0x0d: the loop
    '36811015604657', // at i ≥ calldatasize go to 0x46
    '604081600437', // memory 4: the pair at i
    `6000600060446000600073${token.slice(2).toLowerCase()}5af1`, // call the token
    '15604857', // at a failure go to 0x48
    '604001', // i += 64
    '600d56',
    '5b00', // 0x46: the end
    '5b60006000fd', // 0x48: revert
  ].join('')
