import type { RpcNode } from '../rpc-health.ts'
import { callContract } from './calls.ts'

/**
 * What optimism charges for the data of a transaction on ethereum, on top of gas × fee. The network takes it at the price of the
 * moment: no field of the transaction bounds it, so the rail can only look before it signs. Arbitrum charges for its data in
 * units of gas, which the estimate and the gas limit include.
 */
export const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000f'

/** getL1Fee(bytes): takes the unsigned transaction and adds the size of a signature itself. */
const GET_L1_FEE = '49948e0e'

/** Undefined if the oracle gives no figure, as on a test chain that has none. */
export async function readL1Fee(node: RpcNode, unsigned: string): Promise<bigint | undefined> {
  const bytes = unsigned.slice(2)
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
  const data = `0x${GET_L1_FEE}${word(32)}${word(bytes.length / 2)}${padded}`
  const outcome = await node.ask(callContract({ to: GAS_PRICE_ORACLE, data }))
  return outcome.kind === 'returned' && outcome.data.length === 66 ? BigInt(outcome.data) : undefined
}
