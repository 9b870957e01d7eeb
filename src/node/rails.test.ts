import { expect } from 'vitest'
import { startAnvil } from '../../test/chains/anvil.ts'
import { chainTest as test } from '../../test/chains/chain-test.ts'
import { silent } from '../../test/support/rail-bench.ts'
import { systemClock } from '../core/clock.ts'
import { readConfig } from './config.ts'
import { openProductionRails } from './rails.ts'

test('a node without a key knows the wallet by its address, as a resume of a rail needs it', async () => {
  const node = await startAnvil({ chain_id: 137 })
  const EVM_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const open = (env: Record<string, string>) =>
    openProductionRails({
      config: readConfig({ POLYGON_RPC: node.url, ROLE: 'api', ...env }),
      logKey: async () => Buffer.alloc(32, 1),
      signedBefore: async () => [],
      clock: systemClock(),
      log: silent,
    })
  const knowing = [open({ EVM_WALLET }), open({ EVM_WALLET: EVM_WALLET.toLowerCase() })]
  const unknowing = open({})
  try {
    for (const { chains } of knowing)
      expect(await chains.polygon.wallet()).toMatchObject({ wallet: EVM_WALLET, mined: 0n, pool: 0n })
    await expect(unknowing.chains.polygon.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
  } finally {
    for (const rails of [...knowing, unknowing]) await rails.stop()
    await node.stop()
  }
})
