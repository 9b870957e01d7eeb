import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { type Command, writeTo } from '../../ledger/command.ts'
import { findQuote } from '../../money/quotes/quotes.ts'
import { type Quote, quoteRows } from '../../money/quotes/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import type { World } from '../../world.ts'
import { markExpired } from './store.ts'

/** Expires a quote now, so that a partner can test what follows without waiting 30 seconds. */
export async function expireQuote(world: World, actor: AnyoneOfPartner, quote_id: string): Promise<Quote> {
  const { id } = await findQuote(world, actor, quote_id)
  return world.commit(onBehalfOf(actor, expiry(actor.partner_id, id)))
}

const expiry = (partner_id: string, id: string): Command<Quote> => ({
  partner_id,
  locks: { rows: [{ source: quoteRows, id }] },
  decide(held) {
    const quote = held.row(quoteRows, id) ?? refuse('quote_not_found', { param: 'quote_id' })
    if (quote.trade_id !== null) refuse('already_final')
    if (quote.expires_at <= held.now) return { result: quote }
    // A node's clock may be behind the time of this commit; its creation is past for every clock.
    const expired = { ...quote, expires_at: quote.created_at }
    return { writes: [writeTo(markExpired, expired)], result: expired }
  },
})
