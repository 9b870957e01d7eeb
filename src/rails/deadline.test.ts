import { expect, test } from 'vitest'
import { unavailableChain } from './chain/unavailable.ts'
import { isOver, RailTimeout, withChainDeadline, withDeadline, within } from './deadline.ts'
import type { PixOrder } from './pix/rail.ts'
import { unavailablePix } from './pix/unavailable.ts'

const never = () => new Promise<never>(() => {})

test('a call that never returns ends at its deadline, and its signal is aborted', async () => {
  let told: AbortSignal | undefined
  const asked = within(20, (signal) => {
    told = signal
    return never()
  })
  await expect(asked).rejects.toBeInstanceOf(RailTimeout)
  expect(told?.aborted).toBe(true)
})

test('an answer that is read only after the deadline is ignored', async () => {
  const asked = within(20, async () => {
    const until = performance.now() + 60
    while (performance.now() < until);
    return 'refused'
  })
  await expect(asked).rejects.toBeInstanceOf(RailTimeout)
})

test('a call whose process stood still is over before its signal is aborted', async () => {
  let seen = {}
  const said = within(500, async (signal) => {
    const before = isOver(signal)
    const until = performance.now() + 600
    while (performance.now() < until);
    seen = { before, is_aborted: signal.aborted, is_over: isOver(signal) }
  })
  await expect(said).rejects.toBeInstanceOf(RailTimeout)
  expect(seen).toEqual({ before: false, is_aborted: false, is_over: true })
})

test('an answer in time is returned, and an error of the rail is passed on', async () => {
  expect(await within(1000, async () => 'settled')).toBe('settled')
  await expect(within(1000, () => Promise.reject(new Error('cut')))).rejects.toThrow('cut')
})

test('before an order is accepted, a silent rail is rail_unavailable after the deadline', async () => {
  const pix = withDeadline({ ...unavailablePix, holder: never, ready: never }, 20)
  const chain = withChainDeadline({ ...unavailableChain('tron'), feeInputs: never }, 20)
  for (const asked of [pix.holder('ana@example.com', undefined), pix.ready(), chain.feeInputs()])
    await expect(asked).rejects.toMatchObject({ code: 'rail_unavailable' })
  await expect(
    withDeadline({ ...unavailablePix, status: never }, 20).status({} as PixOrder),
  ).rejects.toBeInstanceOf(RailTimeout)
})
