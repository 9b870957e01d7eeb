import { formatMoney, money } from '../../core/money.ts'
import { check, DAY_MS, eachCheck, type GoliveCheck, known, railCheck, says, span, unknown } from './check.ts'
import type { RailFacts } from './facts.ts'

const RECONCILED_LEAST_MS = 30 * 60_000
const HELD_MOST_MS = 60_000
const TRIP_MOST_MS = 30 * DAY_MS
const ENDPOINTS_LEAST = 2
const SOURCES_LEAST = 2

const ask_again = 'Run the check of the rail, and this command again.'

const amountOf = ({ asset }: RailFacts, units: bigint) =>
  units < 0n ? `-${formatMoney(money(asset, -units))}` : formatMoney(money(asset, units))

/** What the first order on a rail is made with: the smallest amount that is sensible, and enough for its fee. */
const first_orders = {
  BRL: { amount: '1.00', credit: '1000' },
  USDT: { amount: '1.00', credit: '20000000' },
  BTC: { amount: '0.0001', credit: '100000' },
} as const

/** The checks of a rail, in the order in which docs/operate/going-live.md sets a rail up. */
export const railChecks: readonly GoliveCheck[] = [
  check({
    name: 'some_rail',
    area: 'rails',
    about: 'Production has a rail',
    says: {
      ok: { state: 'ok', found: 'Configured: {rails}.' },
      none: {
        state: 'red',
        found: 'No rail is configured: production refuses every payout and transfer.',
        to_do: 'Configure Pix or a network (docs/operate/going-live.md).',
        commands: ['trilho config check', 'trilho rails check'],
      },
    },
    judge: ({ rails }) =>
      rails.length === 0 ? says('none') : says('ok', { rails: rails.map(({ rail }) => rail).join(', ') }),
  }),
  eachCheck({
    name: 'unused_rail',
    area: 'rails',
    about: 'Rails that are not configured',
    says: { unused: { state: 'unused', found: '{subject} is not configured: orders on it are refused.' } },
    judgeEach: ({ unused_rails }) => unused_rails.map((subject) => ({ subject, ...says('unused') })),
  }),
  railCheck({
    name: 'rail_check',
    about: 'The rail is set up and answers',
    says: {
      ok: { state: 'ok', found: '{subject} passes its check.' },
      wrong: {
        state: 'red',
        found: '{subject}: {problem}',
        to_do: 'Correct what the message names. Until the check passes, nothing is accepted on this rail.',
        commands: ['trilho rails check'],
      },
      unknown: unknown(ask_again, ['trilho rails check']),
    },
    judgeRail: ({ check: checked }) =>
      known(checked, (problem) => (problem === null ? says('ok') : says('wrong', { problem }))),
  }),
  railCheck({
    name: 'rail_endpoints',
    about: 'Two endpoints agree on what is final',
    says: {
      ok: { state: 'ok', found: '{healthy} of {all} endpoints are healthy.' },
      alone: {
        state: 'red',
        found: 'One endpoint is configured: a node that lies is believed.',
        to_do: 'Add an endpoint of another provider to the setting that ends with _RPC.',
      },
      ill: {
        state: 'red',
        found: '{healthy} of {all} endpoints are healthy. Two are needed.',
        to_do: 'Replace the endpoints that fail. The page Rails & workers shows the last failure of each.',
        commands: ['trilho rails check'],
      },
    },
    judgeRail({ endpoints }) {
      if (!endpoints) return undefined
      if (endpoints.all < ENDPOINTS_LEAST) return says('alone', endpoints)
      return says(endpoints.healthy < ENDPOINTS_LEAST ? 'ill' : 'ok', endpoints)
    },
  }),
  railCheck({
    name: 'rail_signer',
    about: 'The signer answers',
    says: {
      ok: { state: 'ok', found: 'It signs for the wallet {wallet}.' },
      wrong: {
        state: 'red',
        found: '{subject}: {problem}',
        to_do: 'Start the signer, or correct what the message names (docs/operate/signer.md).',
        commands: ['trilho signer check'],
      },
      unknown: unknown(
        'Check the key of the wallet, or the signer, in the settings of a node that sends (ROLE all or worker). Run this command there.',
        ['trilho rails check'],
      ),
    },
    judgeRail: ({ wallet, signer }) =>
      wallet &&
      signer &&
      known(signer, (problem) =>
        problem === null
          ? known(wallet, (address) => says('ok', { wallet: address }))
          : says('wrong', { problem }),
      ),
  }),
  railCheck({
    name: 'rail_notices',
    about: 'The provider posts notices to this service',
    says: {
      ok: { state: 'ok', found: 'Notices go to {host}.' },
      none: {
        state: 'red',
        found: 'No address for notices is registered: Efí pays only from a key that has one.',
        to_do: 'Register PUBLIC_URL/rails/pix/efi/TOKEN at the provider (docs/operate/going-live.md, “Pix”).',
      },
      elsewhere: {
        state: 'red',
        found: 'Notices go to {host}, and not to PUBLIC_URL with EFI_NOTICE_TOKEN.',
        to_do: 'Register PUBLIC_URL/rails/pix/efi/TOKEN at the provider (docs/operate/going-live.md, “Pix”).',
      },
      unknown: unknown(
        'Give the application at the provider the scope webhook.read, and check the sign-in.',
        ['trilho rails check'],
      ),
    },
    judgeRail: ({ notices }) =>
      notices &&
      known(notices, (address) => {
        if (address === null) return says('none')
        return says(address.is_ours ? 'ok' : 'elsewhere', { host: address.host })
      }),
  }),
  railCheck({
    name: 'rail_open',
    about: 'The rail is not paused',
    says: {
      ok: { state: 'ok', found: '{subject} accepts orders.' },
      paused: {
        state: 'red',
        found: '{subject} is paused since {at} by {by}: {reason}',
        to_do: 'Read the reason. Two operators resume the rail.',
        commands: ['trilho rails resume {subject} --reason TEXT', 'trilho proposals approve PROPOSAL'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judgeRail: ({ control }) =>
      known(control, ({ paused_at, paused_by, paused_reason }) =>
        paused_at === null
          ? says('ok')
          : says('paused', { at: paused_at.toISOString(), by: paused_by ?? '', reason: paused_reason ?? '' }),
      ),
  }),
  railCheck({
    name: 'rail_limits',
    about: 'Operators have set limits',
    says: {
      ok: { state: 'ok', found: 'One order, a day and the floor are limited.' },
      missing: {
        state: 'red',
        found: '{subject} has no limit for: {missing}.',
        to_do: 'Set the limits low for the first week, in the smallest unit.',
        commands: ['trilho rails set-limits {subject} {options} --reason TEXT'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judgeRail: ({ control, gas_coin }) =>
      known(control, (limits) => {
        const needed = ['order_most', 'day_most', 'floor', ...(gas_coin ? ['gas_floor'] : [])] as const
        const missing = needed.filter((name) => limits[name as keyof typeof limits] === null)
        const options = missing.map((name) => `--${name.replace('_', '-')} UNITS`)
        return missing.length === 0
          ? says('ok')
          : says('missing', { missing: missing.join(', '), options: options.join(' ') })
      }),
  }),
  railCheck({
    name: 'rail_holdings',
    about: 'The wallet or account holds more than the floor',
    says: {
      ok: { state: 'ok', found: '{amount} are there; the floor is {floor}.' },
      low: {
        state: 'red',
        found: '{amount} are there, and the floor is {floor}: nothing can be paid.',
        to_do: 'Fund the wallet or the account, and book what arrived as a custody move.',
        commands: [
          'trilho custody move {subject} --in --amount UNITS --reason funding --reference TRANSACTION',
        ],
      },
      old: {
        state: 'unknown',
        found: 'What the wallet holds was last read {age} ago.',
        to_do:
          'Run a node with ROLE all or worker, which reads it every 15 seconds, and check the endpoints.',
        commands: ['trilho rails check'],
      },
      none: {
        state: 'unknown',
        found: 'What the wallet holds was never read.',
        to_do:
          'Run a node with ROLE all or worker, which reads it every 15 seconds, and check the endpoints.',
        commands: ['trilho rails check'],
      },
      unknown: unknown(ask_again, ['trilho rails check']),
    },
    judgeRail: (rail) =>
      known(rail.held, (held) => {
        if (!held) return says('none')
        if (held.age_ms === null || held.age_ms > HELD_MOST_MS)
          return says('old', { age: held.age_ms === null ? '?' : span(held.age_ms) })
        const floor = ('known' in rail.control && rail.control.known.floor) || 0n
        const values = { amount: amountOf(rail, held.amount), floor: amountOf(rail, floor) }
        return says(held.amount > floor ? 'ok' : 'low', values)
      }),
  }),
  railCheck({
    name: 'rail_gas',
    about: 'The wallet holds enough of the coin that pays the network',
    says: {
      ok: { state: 'ok', found: '{amount} wei of {coin} are there; the floor is {floor}.' },
      low: {
        state: 'red',
        found: '{amount} wei of {coin} are there, and the floor is {floor}: nothing can be sent.',
        to_do: 'Send {coin} to the wallet.',
      },
      none: {
        state: 'unknown',
        found: 'What the wallet holds was never read.',
        to_do:
          'Run a node with ROLE all or worker, which reads it every 15 seconds, and check the endpoints.',
      },
      unknown: unknown(ask_again, ['trilho rails check']),
    },
    judgeRail: ({ held, gas_coin, control }) => {
      if (gas_coin === null) return undefined
      return known(held, (stored) => {
        if (!stored) return says('none')
        const floor = ('known' in control && control.known.gas_floor) || 0n
        const values = { amount: stored.gas.toString(), coin: gas_coin, floor: floor.toString() }
        return says(stored.gas > floor ? 'ok' : 'low', values)
      })
    },
  }),
  railCheck({
    name: 'rail_reconciled',
    about: 'The books and the wallet or account are equal',
    says: {
      ok: { state: 'ok', found: 'The difference was 0, {age} ago.' },
      none: {
        state: 'red',
        found: 'The books were never compared with what {subject} holds.',
        to_do: 'Compare them. A node with ROLE all or worker does it every five minutes.',
        commands: ['trilho reconcile'],
      },
      differs: {
        state: 'red',
        found: 'The wallet or account holds {difference} beyond the books.',
        to_do:
          'Book what you moved as a custody move, or find the cause (docs/operate/incidents.md, “A wallet differs from the books”).',
        commands: ['trilho reconcile', 'trilho custody moves'],
      },
      old: {
        state: 'red',
        found: 'The last comparison is {age} old.',
        to_do: 'Run a node with ROLE all or worker, and check the endpoints.',
        commands: ['trilho reconcile'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judgeRail: (rail, { now, settings }) =>
      known(rail.reconciled, (made) => {
        if (!made) return says('none')
        const age_ms = now.getTime() - made.at.getTime()
        const most_ms = Math.max(RECONCILED_LEAST_MS, 2 * settings.reconcile_every_ms)
        if (made.difference !== 0n) return says('differs', { difference: amountOf(rail, made.difference) })
        return says(age_ms > most_ms ? 'old' : 'ok', { age: span(Math.max(0, age_ms)) })
      }),
  }),
  check({
    name: 'prices',
    area: 'rails',
    about: 'Prices are young, and two exchanges agree on each',
    says: {
      ok: { state: 'ok', found: 'Two or more exchanges agree on: {pairs}.' },
      file: { state: 'ok', found: 'PRICES_FILE has young prices of: {pairs}.' },
      nowhere: { state: 'unused', found: 'Production quotes no prices: conversions are refused.' },
      few: {
        state: 'red',
        found: 'Fewer than two exchanges agree on: {pairs}.',
        to_do: 'Check the way to the exchanges. The page Rails & workers says what each of them answered.',
        commands: ['trilho rails check'],
      },
      old: {
        state: 'red',
        found: 'PRICES_FILE has no young price of: {pairs}.',
        to_do: 'Restart the program that writes the file.',
      },
      unknown: unknown(ask_again, ['trilho rails check']),
    },
    judge: ({ prices }) =>
      known(prices, ({ from, pairs }) => {
        if (from === 'nowhere') return says('nowhere')
        const is_good = (one: (typeof pairs)[number]) =>
          one.is_fresh && (from === 'file' || one.good_sources >= SOURCES_LEAST)
        const bad = pairs.filter((one) => !is_good(one))
        const named = (some: typeof pairs) => ({ pairs: some.map(({ pair }) => pair).join(', ') })
        if (bad.length > 0) return says(from === 'file' ? 'old' : 'few', named(bad))
        return says(from === 'file' ? 'file' : 'ok', named(pairs))
      }),
  }),
  railCheck({
    name: 'round_trip',
    area: 'round_trips',
    about: 'A payment of your own went out and is final',
    says: {
      ok: { state: 'ok', found: '{id} paid {amount}, final since {at}.' },
      none: {
        state: 'red',
        found: 'No order has become final on {subject} with the present wallet or account.',
        to_do:
          'Pay the smallest amount to an address or a Pix key of your own, with a live key of a partner of your own. Two operators credit the customer.',
        commands: ['{make_partner}', '{make_key}', '{make_customer}', '{credit}', '{approve}', '{pay}'],
      },
      old: {
        state: 'red',
        found: '{id} was final {age} ago. Less than 30 d proves that the rail works now.',
        to_do: 'Pay the smallest amount to an address or a Pix key of your own once more.',
        commands: ['{pay}'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judgeRail: (rail, { now }) =>
      known(rail.round_trip, (order) => {
        if (!order) return says('none', commandsOf(rail))
        const age_ms = now.getTime() - order.at.getTime()
        const values = { id: order.id, amount: amountOf(rail, order.amount), at: order.at.toISOString() }
        if (age_ms <= TRIP_MOST_MS) return says('ok', values)
        return says('old', { ...values, age: span(age_ms), ...commandsOf(rail) })
      }),
  }),
]

/** What makes a first payment. Money moves only by what people type: this program pays nothing. */
function commandsOf({ rail, asset }: RailFacts) {
  const { amount, credit } = first_orders[asset]
  const name = `golive-${rail}`
  return {
    make_partner: "trilho partners create --name 'Own account'",
    make_key: 'trilho keys create --partner PARTNER --environment production',
    make_customer: "TRILHO_KEY=KEY trilho customers create --name 'YOUR NAME' --document YOUR_DOCUMENT",
    credit: `trilho customers credit CUSTOMER --asset ${asset} --amount ${credit} --reason 'first payment' --reference ${name}`,
    approve: 'trilho proposals approve PROPOSAL --as OTHER_OPERATOR',
    pay:
      rail === 'pix'
        ? `TRILHO_KEY=KEY trilho payouts create --customer CUSTOMER --amount ${amount} --to YOUR_PIX_KEY --idempotency-key ${name}`
        : `TRILHO_KEY=KEY trilho transfers create --customer CUSTOMER --asset ${asset} --network ${rail} --amount ${amount} --to YOUR_ADDRESS --idempotency-key ${name}`,
  }
}
