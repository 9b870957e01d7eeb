import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Misdeed, type Served, startExchangeStub } from '../../../test/support/exchange-stub.ts'
import { noteFact } from '../../../test/support/proof.ts'
import { size } from '../../../test/support/size.ts'
import { systemClock } from '../../core/clock.ts'
import { parsePrice } from '../../core/price.ts'
import { exchangePrices } from './exchanges.ts'

/**
 * The whole feed over HTTP while its three exchanges misbehave at random, alone and together. Whatever it quotes is compared with what the
 * exchanges have really said, by rules that are written again here.
 */
const STEPS = size(600, 80)
const STEP_MS = 120
const DARK_EVERY = 25
const [AGE_MOST_MS, TIMEOUT_MS, POLL_MS] = [2000, 300, 25]
const PATIENCE_MS = 60_000

const names = ['binance', 'bitso', 'mercado_bitcoin'] as const
const oneOf = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!
const book = (bid: string, ask = bid) =>
  JSON.stringify({
    ...{ symbol: 'USDTBRL', bidPrice: bid, askPrice: ask },
    ...{ success: true, payload: { book: 'usdt_brl', bid, ask, created_at: new Date().toISOString() } },
    ...{ bids: [[bid, '1']], asks: [[ask, '1']] },
  })

const misdeeds: Readonly<Record<string, () => Misdeed | undefined>> = {
  none: () => undefined,
  'right again': () => undefined,
  html: () => 'html',
  cut: () => 'cut',
  stalled: () => 'stalled',
  silent: () => 'silent',
  long: () => 'long',
  failing: () => 'failing',
  redirect: () => 'redirect',
  limited: () => ({ status: 429, retry_after: '1' }),
  frozen: () => ({ frozen_at: new Date(Date.now() - oneOf([9000, 11_000, 60_000])) }),
  ahead: () => ({ frozen_at: new Date(Date.now() + 60_000) }),
  'lies by 5 %': () => ({ factor_bps: oneOf([9500, 10_500]) }),
  'lies a little': () => ({ factor_bps: oneOf([9920, 10_080, 9900, 10_100]) }),
  'lies wildly': () => ({ factor_bps: oneOf([1, 5000, 20_000, 10_000_000]) }),
  huge: () => ({ text: book('99999999999999999999') }),
  negative: () => ({ text: book('-5.4') }),
  'not a number': () => ({ text: book('NaN') }),
  exponent: () => ({ text: book('5.4e0') }),
  zero: () => ({ text: book('0.00000000') }),
  crossed: () => ({ text: book('5.5', '5.3') }),
  wide: () => ({ text: book('5.0', '5.9') }),
  'in another form': () => ({ text: oneOf(['null', '[]', '{}', '', '"5.4"', '{"bidPrice": {}}']) }),
}

/** An answer that may be believed: a fresh stamp, where there is one, and at most two seconds ahead. */
const units = (text: string): bigint => parsePrice(text) ?? 0n
const isSound = ({ name, at, served_at, bid }: Served): boolean => {
  const lag_ms = served_at - at.getTime()
  return units(bid) > 0n && (name === 'binance' || (lag_ms <= 10_000 && lag_ms >= -3000))
}

/** Two exchanges said prices around this one, lately enough and near each other: the good ones are within 1 % of their median. */
function isConfirmed(price: bigint, served: readonly Served[], now: number): boolean {
  const recent = served.filter((one) => one.served_at >= now - AGE_MOST_MS - TIMEOUT_MS && isSound(one))
  return recent.some((low) =>
    recent.some((high) => {
      const [bid, ask] = [units(low.bid), units(high.ask)]
      return low.name !== high.name && bid <= price && price <= ask && (ask - bid) * 100n <= bid * 3n
    }),
  )
}

const isNear = (one: bigint, other: bigint) => (one > other ? one - other : other - one) * 100n <= other * 5n

test('exchanges that freeze, jump, lie, cut and answer nonsense at random get no price quoted that two of them did not say', {
  timeout: STEPS * 1000 + 2 * PATIENCE_MS,
}, async () => {
  const stub = await startExchangeStub()
  const log = { warn() {}, info() {} } as never
  const prices = exchangePrices({
    ...{ urls: stub.urls, age_most_ms: AGE_MOST_MS, clock: systemClock(), log },
    ...{ poll_ms: POLL_MS, timeout_ms: TIMEOUT_MS },
  })
  const served = () => stub.served.filter(({ market }) => /^usdt/i.test(market))
  const quoted: { readonly price: bigint; readonly at: number }[] = []
  const counts = { quoted: 0, refused: 0 }
  const played = new Set<string>()

  async function look(): Promise<void> {
    const { 'USDT/BRL': seen } = await prices.latest()
    const now = Date.now()
    if (!seen || seen.withdrawn || now - seen.at.getTime() > AGE_MOST_MS) return void counts.refused++
    counts.quoted++
    const { price } = seen
    expect(isConfirmed(price, served(), now), `${price} is confirmed by two exchanges`).toBe(true)
    const jumped = quoted.find(({ at, price: before }) => now - at < 59_000 && !isNear(price, before))
    expect(jumped, `${price} is no jump`).toBeUndefined()
    quoted.push({ price, at: now })
  }

  /** One exchange alone goes on for longer than any answer counts, while the market moves. */
  async function darken(lonely: (typeof names)[number]): Promise<void> {
    for (const name of names) stub.become(name, name === lonely ? undefined : 'failing')
    for (let elapsed_ms = 0; elapsed_ms < AGE_MOST_MS + 2 * TIMEOUT_MS; elapsed_ms += STEP_MS) {
      stub.move('USDT', 5.4 * (1 + elapsed_ms / 100_000))
      await sleep(STEP_MS)
      await look()
    }
  }

  try {
    for (let step = 0; step < STEPS || counts.quoted === 0 || counts.refused === 0; step++) {
      if (step > STEPS * 10) throw new Error(`not both were seen: ${JSON.stringify(counts)}`)
      if (step % DARK_EVERY === DARK_EVERY - 1) await darken(oneOf(names))
      // Every misdeed has its turn at every exchange; in between they meet at random.
      const all = Object.keys(misdeeds)
      const turn = all[Math.floor(step / names.length) % all.length]!
      for (const [index, name] of names.entries()) {
        const kind = index === step % names.length ? turn : oneOf(['none', 'none', 'none', oneOf(all)])
        played.add(kind)
        stub.become(name, misdeeds[kind]!())
      }
      // The market itself moves a little, and near the end by 6 %: after that there is no price for a minute.
      const is_jump = step >= STEPS * 0.9 && step % 5 === 4
      stub.move('USDT', 5.4 * (1 + (Math.random() - 0.5) / 100) * (is_jump ? 1.06 : 1))
      for (let i = 0; i < 4; i++) {
        await sleep(STEP_MS / 4)
        await look()
      }
    }
    expect([...played].sort()).toEqual(Object.keys(misdeeds).sort())
    noteFact(
      `prices: ${STEPS} steps with ${played.size} kinds of misdeeds of three exchanges over HTTP: ${counts.quoted} prices quoted, each confirmed by two exchanges and no jump; ${counts.refused} times there was none`,
    )
  } finally {
    await prices.stop()
    await stub.stop()
  }
})
