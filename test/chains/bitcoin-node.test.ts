import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import { bitcoinTest, NodeRefusal, startBitcoinNode } from './bitcoin-node.ts'

bitcoinTest('a node mines, reorganizes, restarts, and leaves nothing behind', async () => {
  const node = await startBitcoinNode()
  const other = await startBitcoinNode({ has_cookie: true })
  const pids = [node.pid(), other.pid()]
  try {
    const script = `0014${'ab'.repeat(20)}`
    const hashes = await node.mine(3, script)
    expect(await node.head()).toEqual({ height: 3, hash: hashes[2] })
    const { tx } = await node.call<{ tx: { vout: { scriptPubKey: { hex: string } }[] }[] }>(
      'getblock',
      hashes[2],
      2,
    )
    expect(tx[0]!.vout[0]!.scriptPubKey.hex).toBe(script)

    await other.copyFrom(node)
    expect(await other.head()).toEqual(await node.head())

    await node.invalidate(hashes[1]!)
    const branch = await node.mineOnly()
    expect(await node.head()).toEqual({ height: 2, hash: branch })
    await node.mine(2)
    await node.reconsider(hashes[1]!)
    expect((await node.head()).height).toBe(4)

    await other.restart()
    pids.push(other.pid())
    expect(await other.head()).toEqual({ height: 3, hash: hashes[2] })
    await expect(other.call('getblockhash', 9)).rejects.toThrow(NodeRefusal)
  } finally {
    await Promise.all([node.stop(), other.stop()])
  }
  expect(existsSync(dirname(dirname(other.cookie_file)))).toBe(false)
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})
