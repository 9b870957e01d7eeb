import { renderDeposit } from '../../../money/deposits/contract.ts'
import { findDeposit } from '../../../money/deposits/deposits.ts'
import { renderCustomer } from '../../../parties/customers/contract.ts'
import { findCustomer } from '../../../parties/customers/customers.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { eventsAbout, movementsOf } from '../object-page.ts'
import { getDepositInConsole } from './contract.ts'

export const depositRoutes: readonly ConsoleHandler[] = [
  answer(getDepositInConsole, async ({ world, actor, params }) => {
    const reading = { ...world, db: world.reads }
    const deposit = await findDeposit(reading, actor, params.deposit_id)
    const { id, partner_id, customer_id, rail } = deposit
    const [customer, movements, events] = await Promise.all([
      findCustomer(reading, { id: customer_id, partner_id }),
      movementsOf(world.reads, id),
      eventsAbout(world.reads, deposit),
    ])
    return { deposit: renderDeposit(deposit), rail, customer: renderCustomer(customer), movements, events }
  }),
]
