import { auditState } from '../../../control/audit/state.ts'
import { act } from '../../../control/operator/act.ts'
import { countOperators } from '../../../control/operator/people.ts'
import { valuedPositions } from '../../../control/operator/treasury.ts'
import { Refusal } from '../../../core/errors.ts'
import type { Asset } from '../../../core/money.ts'
import { formatPrice } from '../../../core/price.ts'
import { countOpen } from '../../../db/due.ts'
import { networkNames } from '../../../money/onchain/address.ts'
import { networkCharges } from '../../../money/onchain/store.ts'
import { RAIL } from '../../../money/pix/settle.ts'
import { allAccruedFees, newestFeePayouts, oldestUnfolded } from '../../../money/treasury/store.ts'
import { mailState } from '../../../notifications/mail-store.ts'
import { listPartners } from '../../../parties/partners/partners.ts'
import { countOpenExceptions, type OpenExceptions } from '../../../records/exceptions/store.ts'
import { queueState } from '../../../webhooks/queue.ts'
import type { World } from '../../../world.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { openItems } from './desk-routes.ts'
import { getOperatorOverview, getRails, getTreasury, limitTreasury } from './house-contract.ts'
import { proposalsIn } from './proposals-routes.ts'
import { renderActed } from './shared-schemas.ts'

const FEE_PAYOUTS = 20

export const houseRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(getOperatorOverview, async ({ world, actor }) => {
    const { office } = parts
    const [desk, proposals, exceptions, audit, operators, partners] = await Promise.all([
      openItems(world, actor.email),
      proposalsIn(office, world.environment, actor.email),
      countOpenExceptions(world.reads),
      auditOf(world),
      countOperators(office.shared),
      listPartners(office.shared),
    ])
    const open = proposals.filter(({ state }) => state === 'open')
    return {
      desk: {
        open: desk.length,
        waiting: desk.filter(({ proposal }) => proposal !== null).length,
        oldest_at: desk[0]?.created_at ?? null,
      },
      proposals: { open: open.length, for_me: open.filter(({ mine }) => !mine).length },
      exceptions,
      audit,
      rails: await railsOf(world, exceptions),
      operators: { all: operators.all, deciding: operators.deciding },
      partners: partners.length,
    }
  }),

  answer(getTreasury, async ({ world }) => treasuryOf(world, parts)),

  answer(limitTreasury, async ({ actor, world, params, body }) => {
    const bound = (text: string | null | undefined) =>
      text === null || text === undefined ? (text as null) : BigInt(text)
    const details = {
      asset: params.asset as Asset,
      ...(body.lowest === undefined ? {} : { lowest: bound(body.lowest) }),
      ...(body.highest === undefined ? {} : { highest: bound(body.highest) }),
    }
    const { environment } = world
    const acted = await act(parts.office, actor, { name: 'set_treasury_limits', environment, details })
    return renderActed(acted)
  }),

  answer(getRails, async ({ world, actor }) => {
    const [exceptions, prices, queue, unfolded, audit, mail] = await Promise.all([
      countOpenExceptions(world.reads),
      pricesOf(world),
      queueState(world.reads),
      oldestUnfolded(world.reads),
      auditOf(world),
      mailState(parts.office.shares.shared(actor).db),
    ])
    const { role, version } = parts.node
    return {
      rails: await railsOf(world, exceptions),
      prices,
      price_max_age_ms: world.quoting.price_max_age_ms,
      queues: {
        events_fresh: queue.fresh,
        events_oldest_seconds: queue.oldest_fresh_seconds,
        webhooks_pending: queue.pending,
        webhooks_oldest_due_seconds: queue.oldest_due_seconds,
        trades_oldest_unfolded_seconds: unfolded,
      },
      audit,
      mail: {
        ...mail,
        sent_at: mail.sent_at?.toISOString() ?? null,
        failed_at: mail.failed_at?.toISOString() ?? null,
      },
      node: {
        role,
        version,
        up_seconds: Math.round(process.uptime()),
        connections: world.db.totalCount,
        waiting: world.db.waitingCount,
      },
    }
  }),
]

async function auditOf(world: World) {
  const { last_finished_at, ...state } = await auditState(world)
  return { last_finished_at: last_finished_at?.toISOString() ?? null, ...state }
}

/** Each rail with its open orders, and whether it accepts new ones. */
async function railsOf(world: World, exceptions: readonly OpenExceptions[]) {
  const [payouts, transfers] = await Promise.all([
    countOpen(world.reads, 'payouts', `'${RAIL}'`),
    countOpen(world.reads, 'transfers', 'network'),
  ])
  const open = [...payouts, ...transfers]
  return Promise.all(
    [RAIL, ...networkNames].map(async (rail) => {
      const own = open.filter((one) => one.rail === rail)
      const countOf = (status: string) => own.find((one) => one.status === status)?.count ?? 0
      const message = await refusalOf(() => (rail === RAIL ? world.pix.ready() : world.chain.feeInputs(rail)))
      return {
        rail,
        simulated: world.environment === 'sandbox',
        configured: message === null,
        message,
        pending: countOf('pending'),
        processing: countOf('processing'),
        oldest_seconds: Math.max(0, ...own.map(({ oldest_seconds }) => oldest_seconds)),
        exceptions: exceptions.filter((one) => one.rail === rail).reduce((sum, { count }) => sum + count, 0),
      }
    }),
  )
}

async function refusalOf(ask: () => Promise<unknown>): Promise<string | null> {
  try {
    await ask()
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.sentence
    throw error
  }
}

async function pricesOf({ prices, clock, quoting }: World) {
  const fed = await prices.latest()
  return Object.entries(fed).map(([pair, { price, at, source }]) => ({
    pair,
    price: formatPrice(price),
    at: at.toISOString(),
    source,
    fresh: clock.now() - at.getTime() <= quoting.price_max_age_ms,
  }))
}

async function treasuryOf(world: World, { office }: ConsoleParts) {
  const [positions, fees, charges, payouts, partners] = await Promise.all([
    valuedPositions(world),
    allAccruedFees(world.reads),
    networkCharges(world.reads),
    newestFeePayouts(world.reads, FEE_PAYOUTS),
    listPartners(office.shared),
  ])
  const textOf = (sum: bigint | null) => sum?.toString() ?? null
  return {
    limited: world.treasury_limits,
    positions: positions.map((one) => ({
      ...one,
      position: one.position.toString(),
      lowest: textOf(one.lowest),
      highest: textOf(one.highest),
      cost: one.cost.toString(),
      worth: textOf(one.worth),
      unrealised: textOf(one.unrealised),
      realised: one.realised.toString(),
    })),
    fees: partners
      .map(({ id, name }) => ({
        partner: { id, name },
        owed: fees
          .filter((fee) => fee.partner_id === id && fee.amount !== 0n)
          .map(({ asset, amount }) => ({ asset, amount: amount.toString() })),
      }))
      .filter(({ owed }) => owed.length > 0),
    charges: charges.map((one) => ({ ...one, fees: one.fees.toString(), charged: one.charged.toString() })),
    payouts: payouts.map(({ sequence: _, ...paid }) => ({
      ...paid,
      amount: paid.amount.toString(),
      created_at: paid.created_at.toISOString(),
    })),
  }
}
