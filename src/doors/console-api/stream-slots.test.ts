import { expect, test } from 'vitest'
import { times } from '../../../test/support/parallel.ts'
import type { Signed } from './session.ts'
import { openStreamSlots } from './stream-slots.ts'

const signed = (partner_id: string, i: number) =>
  ({ user: { id: `${partner_id} ${i}`, partner_id } }) as unknown as Signed

test('users who wait for their own team’s export keep no other team from exporting', async () => {
  const places = openStreamSlots()
  const leaving = new AbortController()
  const exportAs = (partner_id: string, i: number) =>
    places.take('text/csv', signed(partner_id, i), leaving.signal)
  const waiting: Promise<unknown>[] = []
  for (const partner_id of ['ptn_1', 'ptn_2', 'ptn_3']) {
    await exportAs(partner_id, 0)
    waiting.push(...times(2, (i) => exportAs(partner_id, i + 1)))
  }
  const refused = Promise.allSettled(waiting)
  const first = await Promise.race([
    exportAs('ptn_4', 0).then(() => 'ptn_4'),
    refused.then(() => 'the end of the waits'),
  ])
  expect(first).toBe('ptn_4')
  leaving.abort()
  await refused
})
