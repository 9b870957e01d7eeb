import { maskDocument } from '../../../core/document.ts'
import { selectNewest } from '../../../db/newest.ts'
import { balancesOf } from '../../../ledger/balances.ts'
import { createCharge } from '../../../money/charges/contract.ts'
import { createTransfer } from '../../../money/onchain/contract.ts'
import { createPayout } from '../../../money/pix/contract.ts'
import { createQuote, executeQuote } from '../../../money/quotes/contract.ts'
import { renderBalance } from '../../../parties/customers/contract.ts'
import { type Customer, customerList } from '../../../parties/customers/store.ts'
import { findPlaygroundKey } from '../../../parties/keys/store.ts'
import type { World } from '../../../world.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import * as contract from './contract.ts'
import { openPlay } from './play.ts'

const CUSTOMERS_SHOWN = 20

export const playgroundRoutes = (parts: ConsoleParts): ConsoleHandler[] => {
  const play = openPlay(parts)

  return [
    answer(contract.getPlayground, async ({ world, actor }) => {
      const key = await findPlaygroundKey(world.reads, actor.partner_id)
      return {
        url: parts.public_url(),
        key: key ? { id: key.id, name: key.name } : null,
        customers: await payersOf(world, actor.partner_id),
      }
    }),

    answer(contract.playPayout, ({ body, ...call }) => {
      const { customer_id, amount, idempotency_key } = body
      return play({ ...call, endpoint: createPayout, body, about: { customer_id, amount, idempotency_key } })
    }),

    answer(contract.playCharge, ({ body, ...call }) => {
      const { customer_id, amount, idempotency_key } = body
      return play({ ...call, endpoint: createCharge, body, about: { customer_id, amount, idempotency_key } })
    }),

    answer(contract.playTransfer, ({ body, ...call }) => {
      const { customer_id, asset, amount, idempotency_key } = body
      const about = { customer_id, asset, amount, idempotency_key }
      return play({ ...call, endpoint: createTransfer, body, about })
    }),

    answer(contract.playQuote, ({ body, ...call }) => {
      const { customer_id, from_asset, to_asset, amount } = body
      const about = { customer_id, from_asset, to_asset, amount }
      return play({ ...call, endpoint: createQuote, body, about })
    }),

    answer(contract.playExecute, ({ params: { quote_id }, ...call }) =>
      play({ ...call, endpoint: executeQuote, params: { quote_id }, body: undefined, about: { quote_id } }),
    ),
  ]
}

async function payersOf({ reads: db }: World, partner_id: string) {
  const range = { after: undefined, before: undefined, position: undefined, limit: CUSTOMERS_SHOWN }
  const filters = { status: 'active' }
  const { rows } = await selectNewest<Customer>(db, customerList, { partner_id, filters, ...range })
  return Promise.all(
    rows.map(async ({ id, name, document }) => ({
      id,
      name,
      document: maskDocument(document),
      balances: (await balancesOf(db, id)).map(renderBalance),
    })),
  )
}
