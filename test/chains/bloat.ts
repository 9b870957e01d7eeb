import { getContractAddress } from 'viem'
import { type Anvil, hex } from './anvil.ts'
import type { TestToken } from './token.ts'

/** What anybody may put into a block for a few cents: transactions whose receipts and logs are longer than usual. */
export type Bloat = {
  readonly to: string
  /** How often one unit of the token is transferred. */
  readonly transfers: number
  /** Bytes that are logged beside, in two entries. */
  readonly bytes?: number
}

const GAS = 29_000_000

const word = (value: bigint | number | string): string => BigInt(value).toString(16).padStart(64, '0')
const push4 = (value: number) => `63${value.toString(16).padStart(8, '0')}`
const store = (value: string, at: number) => `7f${value}${push4(at)}52`

/** Code that runs while a contract is made: a loop of `transfer(to, 1)`, then the logs. */
function codeOf(contract: string, { to, transfers, bytes = 0 }: Bloat): `0x${string}` {
  const calldata = [store(`a9059cbb${'0'.repeat(56)}`, 0), store(word(to), 4), store(word(1), 0x24)].join('')
  const begin = `${calldata}${push4(transfers)}`
  const loop_at = begin.length / 2
  // JUMPDEST; CALL(gas, contract, 0, 0, 0x44, 0, 0); POP; counter - 1; DUP1; JUMPI to the loop.
  const loop = `5b6000600060446000600073${contract.slice(2)}5af1506001900380${push4(loop_at)}57`
  const log = bytes === 0 ? '' : `${push4(bytes / 2)}6000a0`
  return `0x${begin}${loop}${log}${log}00`
}

/** Mines the transaction in a block of its own. Returns its hash. */
export async function bloat(node: Anvil, token: TestToken, what: Bloat): Promise<string> {
  const from = '0x00000000000000000000000000000000000b10a7'
  await node.call('anvil_impersonateAccount', from)
  await node.setBalance(from, 10n ** 20n)
  const nonce = BigInt(await node.call<string>('eth_getTransactionCount', from, 'latest'))
  await token.mint(getContractAddress({ from, nonce }), BigInt(what.transfers))
  const data = codeOf(token.contract, what)
  const tx_hash = await node.call<string>('eth_sendTransaction', { from, gas: hex(GAS), data })
  await node.mine()
  const { status } = await node.call<{ status: string }>('eth_getTransactionReceipt', tx_hash)
  if (status !== '0x1') throw new Error('the bloated transaction was reverted')
  return tx_hash
}
