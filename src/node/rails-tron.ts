import { tronChain } from '../money/onchain/tron/chain.ts'
import { tronDrafts } from '../money/onchain/tron/drafts.ts'
import { openTronRpc } from '../rails/chain/tron/nodes.ts'
import { openTronRail } from '../rails/chain/tron.ts'
import type { RemoteSigner } from '../rails/signer/remote.ts'
import type { Signer } from '../rails/signer/signer.ts'
import { localTronSigner } from '../rails/signer/tron.ts'
import type { RailOptions } from './rails.ts'

type TronParts = Pick<RailOptions, 'config' | 'signedBefore' | 'db' | 'clock' | 'log'> & {
  readonly sealKey: () => Promise<Buffer>
  readonly remote: RemoteSigner | undefined
  /** A signer that has the address and no key. */
  readonly keyless: (addresses: Awaited<ReturnType<Signer['addresses']>>, setting: string) => Signer
}

/** USDT on Tron, from the settings. */
export function openTron({ config, sealKey, remote, signedBefore, db, clock, log, keyless }: TronParts) {
  const { chains, rail_timeout_ms: timeout_ms } = config
  const { rpc: urls, key, wallet, usdt, genesis, fee_most, expiry } = chains.tron
  const { count, amount, costs } = chains.signer
  const contract = usdt === undefined ? {} : { contract: usdt }
  const per_hour = { count, amount, cost: fee_most * BigInt(costs) }
  const signer = remote
    ? remote.transfers
    : key === undefined
      ? keyless(wallet === undefined ? {} : { tron: wallet }, 'TRON_WALLET_KEY')
      : localTronSigner({ key, sealKey, fee_most, per_hour, signedBefore, clock, ...contract })
  const rpc = openTronRpc({ urls, timeout_ms, clock, log, ...(genesis === undefined ? {} : { genesis }) })
  const rail = openTronRail({
    ...{
      rpc,
      signer,
      drafts: tronDrafts(db),
      fee_most,
      expiry_ms: expiry * 1000,
      order_most: amount,
      clock,
      log,
    },
    ...contract,
    ...(wallet === undefined ? {} : { wallet }),
  })
  return { chain: tronChain({ rail, db, clock, log }), signer, rpc }
}
