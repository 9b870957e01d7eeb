import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliStage, isMistake, openCliStage } from '../../../test/support/cli-stage.ts'

let stage: CliStage
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

const sandbox = ['--environment', 'sandbox'] as const

const railOf = async (name: string) => {
  const { data } = await stage.json('rails', 'list', ...sandbox)
  return data.find(({ rail }: { rail: string }) => rail === name)
}

test('a rail is paused once, shown with who and why, and resumed', async () => {
  expect(await railOf('tron')).toMatchObject({ configured: true, paused_at: null, pending: 0 })
  const pause = (reason: string) => stage.trilho('rails', 'pause', 'tron', '--reason', reason, ...sandbox)
  const first = await pause('odd fees')
  expect(first).toMatchObject({ code: 0 })
  expect(first.out).toContain(
    'tron is paused. Resume it: trilho rails resume tron --environment sandbox --reason TEXT',
  )
  expect((await pause('other')).out).toContain('was paused before')
  expect(await railOf('tron')).toMatchObject({ paused_by: 'shell', paused_reason: 'odd fees' })
  const list = await stage.trilho('rails', 'list', ...sandbox)
  expect(list.out).toContain('by shell: odd fees')
  const resume = () => stage.trilho('rails', 'resume', 'tron', '--reason', 'right again', ...sandbox)
  expect((await resume()).out).toContain('tron resumed.')
  expect(await railOf('tron')).toMatchObject({ paused_at: null })
  isMistake(await resume(), /not paused/)
})

test('limits are set and removed, and mistakes are named', async () => {
  const set = (...options: string[]) =>
    stage.trilho('rails', 'set-limits', 'polygon', ...options, '--reason', 'new', ...sandbox)
  expect((await set('--order-most', '500', '--gas-floor', '1000000000000000000000')).code).toBe(0)
  expect((await set('--order-most', 'none', '--day-most', '900')).code).toBe(0)
  expect(await railOf('polygon')).toMatchObject({ order_most: null, day_most: '900', floor: null })
  isMistake(await set(), /Say at least one of --order-most/)
  isMistake(await set('--floor', '1.5'), /--floor must be a whole number/)
  const unknown = await stage.trilho('rails', 'pause', 'visa', '--reason', 'x', ...sandbox)
  isMistake(unknown, /must be one of pix, polygon/)
})

test('a rail without gas has no gas floor', async () => {
  for (const rail of ['bitcoin', 'pix']) {
    const set = (...limits: string[]) =>
      stage.trilho('rails', 'set-limits', rail, ...limits, '--reason', 'first week', ...sandbox)
    const refused = await set('--gas-floor', '1000')
    expect(refused.code).toBe(2)
    expect(refused.err).toContain(`${rail} has no coin for gas`)
    expect((await set('--gas-floor', 'none', '--floor', '1000')).code).toBe(0)
  }
})

test('the rule of sweeps needs a highest cost, and is for EVM networks', async () => {
  const set = (rail: string, ...limits: string[]) =>
    stage.trilho('rails', 'set-limits', rail, ...limits, '--reason', 'sweep', ...sandbox)
  isMistake(await set('arbitrum', '--sweep-from', '50000000'), /set sweep_fee_max together with sweep_from/)
  expect(await railOf('arbitrum')).toMatchObject({ sweep_from: null, sweep_fee_max: null })
  expect((await set('arbitrum', '--sweep-from', '50000000', '--sweep-fee-max', '900')).code).toBe(0)
  expect(await railOf('arbitrum')).toMatchObject({ sweep_from: '50000000', sweep_fee_max: '900' })
  isMistake(await set('arbitrum', '--sweep-fee-max', 'none'), /set sweep_fee_max together with sweep_from/)
  expect((await set('arbitrum', '--sweep-from', 'none', '--sweep-fee-max', 'none')).code).toBe(0)
  for (const rail of ['pix', 'bitcoin', 'tron'])
    expect((await set(rail, '--sweep-from', '1', '--sweep-fee-max', '1')).err).toContain(
      `Nothing is swept on ${rail}`,
    )
  expect(await stage.json('sweeps', 'list', ...sandbox)).toMatchObject({ data: [] })
})
