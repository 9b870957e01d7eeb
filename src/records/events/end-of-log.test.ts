import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../test/support/database.ts'
import { openDirectAccess, someCpf } from '../../../test/support/service.ts'
import { addCustomer } from '../../parties/customers/customers.ts'

let direct: ReturnType<typeof openDirectAccess>
let customer_id: string
const world = () => direct.worlds.production

beforeAll(async () => {
  direct = openDirectAccess(await createDatabase())
  const { rows } = await direct.shared.db.query(
    `INSERT INTO partners (id, name) VALUES ('ptn_a', 'Acme') RETURNING id`,
  )
  const partner_id = rows[0].id
  for (const name of ['Rita', 'Rui'])
    customer_id = (await addCustomer(world(), { partner_id, name, document: someCpf() })).id
})
afterAll(() => direct.stop())

const insertAt = (position: string, sequence: number) =>
  world().db.query(
    `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position)
     SELECT '${world().newId('event')}', 'ptn_a', 'customer.updated', '${customer_id}', ${sequence}, '{}', now(), ${position}`,
  )

test.each([
  '(SELECT max(position) FROM events) - 1',
  '(SELECT min(position) FROM events) - 1',
  '(SELECT max(position) FROM events) + 1',
  'take_positions(1)',
  'take_positions(1) + 2',
])('the role of a world cannot put an event at another place of the log: %s', async (position) => {
  await expect(insertAt(position, 2)).rejects.toThrow('at the end of the log')
})

test('it puts an event at the end of the log', async () => {
  await insertAt('take_positions(1) + 1', 2)
  await insertAt('NULL', 3)
  const { rows } = await world().db.query('SELECT sequence FROM events ORDER BY position DESC LIMIT 2')
  expect(rows.map(({ sequence }) => sequence)).toEqual([3, 2])
})
