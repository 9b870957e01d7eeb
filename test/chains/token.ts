import { readFileSync } from 'node:fs'
import { type Abi, encodeDeployData, encodeFunctionData, type Hex } from 'viem'
import { type Anvil, hex } from './anvil.ts'

/** The test token on a node: see token/README.md. */
export type TestToken = {
  readonly contract: string
  mint(to: string, amount: bigint): Promise<void>
  setPaused(paused: boolean): Promise<void>
  setBlackListed(address: string, listed: boolean): Promise<void>
  setFee(amount: bigint): Promise<void>
  setBroken(broken: boolean): Promise<void>
  balanceOf(address: string): Promise<bigint>
  /** At the block with this number. */
  balanceAt(address: string, block: string): Promise<bigint>
}

type Artefact = { readonly source_sha256: string; readonly abi: Abi; readonly creation_code: Hex }

const folder = new URL('token/', import.meta.url)
export const tokenSource = (): string => readFileSync(new URL('TestToken.sol', folder), 'utf8')
export const tokenArtefact: Artefact = JSON.parse(readFileSync(new URL('TestToken.json', folder), 'utf8'))

/** Each act of the owner is mined in a block of its own. */
export async function deployToken(node: Anvil, as_owner?: string): Promise<TestToken> {
  const { abi, creation_code } = tokenArtefact
  const owner = as_owner ?? (await node.call<string[]>('eth_accounts'))[0]
  if (as_owner !== undefined) {
    await node.call('anvil_impersonateAccount', as_owner)
    await node.setBalance(as_owner, 10n ** 20n)
  }
  const act = async (fields: Readonly<Record<string, unknown>>) => {
    const tx_hash = await node.call<string>('eth_sendTransaction', {
      from: owner,
      gas: hex(3_000_000),
      ...fields,
    })
    await node.mine()
    const receipt = await node.call<{ status: string; contractAddress: string }>(
      'eth_getTransactionReceipt',
      tx_hash,
    )
    if (receipt.status !== '0x1') throw new Error('an act of the token’s owner was reverted')
    return receipt
  }
  const deployed = await act({ data: encodeDeployData({ abi, bytecode: creation_code }) })
  const contract = deployed.contractAddress
  const set = async (functionName: string, ...args: readonly unknown[]) =>
    void (await act({ to: contract, data: encodeFunctionData({ abi, functionName, args }) }))
  const balanceAt = async (address: string, block: string) => {
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [address] })
    return BigInt(await node.call<string>('eth_call', { to: contract, data }, block))
  }
  return {
    contract,
    mint: (to, amount) => set('mint', to, amount),
    setPaused: (paused) => set('setPaused', paused),
    setBlackListed: (address, listed) => set('setBlackListed', address, listed),
    setFee: (amount) => set('setFee', amount),
    setBroken: (broken) => set('setBroken', broken),
    balanceOf: (address) => balanceAt(address, 'latest'),
    balanceAt,
  }
}
