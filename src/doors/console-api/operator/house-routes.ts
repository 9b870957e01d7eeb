import { latestProofs } from '../../../control/audit/proofs.ts'
import { auditState } from '../../../control/audit/state.ts'
import { act } from '../../../control/operator/act.ts'
import { countOperators } from '../../../control/operator/people.ts'
import { valuedPositions } from '../../../control/operator/treasury.ts'
import type { Asset } from '../../../core/money.ts'
import { networkNames } from '../../../core/networks.ts'
import { formatPrice } from '../../../core/price.ts'
import { type OldestOpen, oldestOpen, sumOpen } from '../../../db/due.ts'
import type { Db } from '../../../db/pool.ts'
import { daysOfPartners } from '../../../money/daily/store.ts'
import { networkCharges } from '../../../money/onchain/store.ts'
import { RAIL } from '../../../money/pix/settle.ts'
import { isFresh } from '../../../money/quotes/prices.ts'
import { allAccruedFees, newestFeePayouts, oldestUnfolded } from '../../../money/treasury/store.ts'
import { mailState } from '../../../notifications/mail-store.ts'
import { listPartners } from '../../../parties/partners/partners.ts'
import type { Partner } from '../../../parties/partners/store.ts'
import { countOpenExceptions } from '../../../records/exceptions/store.ts'
import { queueState } from '../../../webhooks/queue.ts'
import type { World } from '../../../world.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { openItems } from './desk-routes.ts'
import { getOperatorOverview, getRails, getTreasury, limitTreasury } from './house-contract.ts'
import { proposalsIn } from './proposals-routes.ts'
import { renderRails } from './rails-routes.ts'
import { renderActed, renderHoldings } from './shared-schemas.ts'

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
      money: await moneyOf(world, partners),
      rails: await renderRails(world, exceptions),
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
      rails: await renderRails(world, exceptions),
      prices,
      markets: marketsOf(world),
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

const SHOWN_DAYS = 14
const A_DAY_MS = 24 * 3_600_000
const rails = [RAIL, ...networkNames] as const

/** Where the money is: stored sums of the latest proof and of the days, and the queues of what is open. */
async function moneyOf({ reads, clock }: World, partners: readonly Partner[]) {
  const day = new Date(clock.now() - SHOWN_DAYS * A_DAY_MS).toISOString().slice(0, 10)
  const partner_ids = partners.map(({ id }) => id)
  const [[proof], payouts, transfers, oldest, days] = await Promise.all([
    latestProofs(reads, 1),
    sumOpen(reads, 'payouts', { rail: `'${RAIL}'`, asset: `'BRL'`, amount: 'amount + fee' }),
    sumOpen(reads, 'transfers', { rail: 'network', asset: 'asset', amount: 'amount_net + fee' }),
    oldestOf(reads, partners),
    daysOfPartners(reads, { partner_ids, day, kinds: rails }),
  ])
  return {
    proved_at: proof?.finished_at.toISOString() ?? null,
    found: proof?.found ?? 0,
    holdings: proof ? await renderHoldings(reads, proof) : [],
    in_transit: [...payouts, ...transfers].map(({ rail, asset, count, amount }) => ({
      rail,
      asset: asset as Asset,
      count,
      amount: amount.toString(),
    })),
    oldest,
    paid_out: days.map(({ day, kind: rail, asset, completed_sum, completed, failed }) => ({
      day,
      rail,
      asset: asset as Asset,
      amount: completed_sum.toString(),
      completed: Number(completed),
      failed: Number(failed),
    })),
  }
}

const oldestOfRails = async (db: Db): Promise<OldestOpen[]> =>
  (await Promise.all([oldestOpen(db, 'payouts', `'${RAIL}'`), oldestOpen(db, 'transfers', 'network')])).flat()

async function oldestOf(db: Db, partners: readonly Partner[]) {
  const [found] = (await oldestOfRails(db)).toSorted(
    (a, b) => a.created_at.getTime() - b.created_at.getTime(),
  )
  if (!found) return null
  const { id, rail, partner_id, created_at } = found
  const name = partners.find((partner) => partner.id === partner_id)?.name ?? partner_id
  return { id, rail, partner: { id: partner_id, name }, created_at: created_at.toISOString() }
}

async function auditOf(world: World) {
  const { last_finished_at, ...state } = await auditState(world)
  return { last_finished_at: last_finished_at?.toISOString() ?? null, ...state }
}

async function pricesOf({ prices, clock, quoting }: World) {
  const fed = await prices.latest()
  const now = new Date(clock.now())
  return Object.entries(fed).map(([pair, fed_price]) => ({
    pair,
    price: formatPrice(fed_price.price),
    at: fed_price.at.toISOString(),
    source: fed_price.source,
    fresh: isFresh(fed_price, now, quoting.price_max_age_ms),
  }))
}

const marketsOf = ({ prices }: World) =>
  (prices.markets?.() ?? []).map(({ sources, ...market }) => ({
    ...market,
    sources: sources.map(({ source, state, price, age_ms, problem }) => ({
      source,
      state,
      price: price === undefined ? null : formatPrice(price),
      age_seconds: age_ms === undefined ? null : age_ms / 1000,
      problem: problem ?? null,
    })),
  }))

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
