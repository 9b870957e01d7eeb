import { Type as T, type TProperties } from 'typebox'
import { type Asset, assets } from '../core/money.ts'
import type { Tried } from '../ledger/once.ts'
import { AssetName, Fields, Units } from './schema.ts'
import { StoredReply } from './stored-reply.ts'

/** A dry run (contract §3): the same call with `?dry_run=true`, which moves, stores, claims and reserves nothing. */
export const dryRunQuery = Fields({
  dry_run: T.Optional(
    T.Enum(['true', 'false'], {
      'x-read': { type: 'boolean', default: false },
      description: 'true: check only',
    }),
  ),
})

/** Named, and with `dry_run`, which no other response has: so a typed client tells the two responses of a call apart. */
export const DryRun = <P extends TProperties>($id: string, more: P) =>
  T.Object(
    {
      dry_run: T.Literal(true),
      asset: AssetName,
      decimals: T.Integer({ description: 'Decimals of asset', examples: [2] }),
      fee: Units,
      balance_after: Units,
      ...more,
      would_replay: T.Boolean({
        description: 'This very request was made before: it would get that answer, and nothing would move',
      }),
    },
    { $id },
  )

/** The response to a dry run of a payout or transfer. */
export function replyToTried<Made extends { readonly fee: bigint }>(
  tried: Tried<Made>,
  about: (made: Made) => { asset: Asset; more?: Readonly<Record<string, unknown>> },
): StoredReply {
  if (tried.kind === 'refused') return new StoredReply(tried.response, tried.replayed)
  const { asset, more } = about(tried.made)
  return replyToDryRun({ ...tried, asset, fee: tried.made.fee }, more)
}

/** The response to a dry run. Undefined fields of `more` are left out. */
export function replyToDryRun(
  found: { asset: Asset; fee: bigint; balance_after: bigint; would_replay: boolean },
  more: Readonly<Record<string, unknown>> = {},
): StoredReply {
  const { asset, would_replay } = found
  const body = {
    dry_run: true,
    asset,
    decimals: assets[asset].decimals,
    fee: found.fee.toString(),
    balance_after: found.balance_after.toString(),
    ...more,
    would_replay,
  }
  return new StoredReply({ status: 200, body: JSON.stringify(body) }, false)
}
