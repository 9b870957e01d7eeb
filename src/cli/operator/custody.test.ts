import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliStage, isMistake, openCliStage, type Person } from '../../../test/support/cli-stage.ts'

let stage: CliStage
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

const move = (way: readonly string[], amount: string, reference: string, environment = 'sandbox') =>
  stage.trilho(
    ...['custody', 'move', 'polygon', ...way, '--amount', amount, '--reason', 'funding'],
    ...['--reference', reference, '--environment', environment, '--json'],
  )

test('a custody move is booked once per reference, and listed', async () => {
  const first = await move(['--in'], '5000000', 'hash-1')
  expect(first).toMatchObject({ code: 0, json: { status: 'completed' } })
  expect(first.json.id).toMatch(/^cm_/)
  expect((await move(['--in'], '5000000', 'hash-1')).json.id).toBe(first.json.id)
  isMistake(await move(['--out'], '5000000', 'hash-1'), /was used for another custody move/)
  expect(await move(['--out'], '2', 'hash-2')).toMatchObject({ code: 0 })
  const { data } = await stage.json('custody', 'moves', '--environment', 'sandbox')
  expect(data).toMatchObject([
    { rail: 'polygon', asset: 'USDT', direction: 'from_rail', amount: '2' },
    { rail: 'polygon', asset: 'USDT', direction: 'to_rail', amount: '5000000' },
  ])
  expect(await stage.json('audit')).toMatchObject({ ok: true })
})

test('a custody move says its direction, and takes two operators in production', async () => {
  expect(await move([], '1', 'hash-3')).toMatchObject({ code: 2 })
  expect(await move(['--in', '--out'], '1', 'hash-3')).toMatchObject({ code: 2 })
  isMistake(
    await move(['--in'], '1', 'hash-3', 'production'),
    /one operator proposes and another one approves/,
  )
})

test('in production one operator proposes a custody move, and another one approves it', async () => {
  const create = (email: string): Promise<Person> =>
    stage.json('users', 'create', '--email', email, '--operator')
  const ana = await create('ana@operator.example')
  stage.person = ana
  const bea = await create('bea@operator.example')
  const as = (user: Person, ...args: string[]) => stage.as(user, [...args, '--json'])
  const proposed = await as(
    ana,
    ...[
      'custody',
      'move',
      'ethereum',
      '--in',
      '--amount',
      '900',
      '--reason',
      'funding',
      '--reference',
      'hash-4',
    ],
  )
  expect(proposed).toMatchObject({ code: 0, json: { status: 'proposed' } })
  const { proposal_id } = proposed.json
  expect(await as(bea, 'proposals', 'approve', proposal_id)).toMatchObject({
    code: 0,
    json: { status: 'completed' },
  })
  // `audit` and `reconcile` are commands of the machine, which take no operator.
  const { data } = await stage.json('custody', 'moves')
  stage.person = undefined
  expect(data).toMatchObject([{ rail: 'ethereum', direction: 'to_rail', amount: '900', reference: 'hash-4' }])
  expect(await stage.json('audit')).toMatchObject({ ok: true })
})

test('reconcile compares nothing where no chain is configured', async () => {
  expect(await stage.json('reconcile')).toEqual({ ok: true, data: [] })
})
