import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { readNotice } from '../rails/pix/efi/bodies.ts'
import type { World } from '../world.ts'
import { registerNotices } from './notices.ts'

test('a flood of notices asks the provider about a few payments at once, and each notice is answered', async () => {
  const app = Fastify()
  let asked = 0
  const world = {
    pix: {
      provider: 'stub',
      readNotice,
      charges: {
        payment: () => {
          asked++
          return new Promise(() => {})
        },
      },
    },
    db: {
      query: async ({ name, values }: { name: string; values: string[][] }) =>
        name === 'unknown pix received'
          ? { rows: values[0]!.map((id) => ({ id })) }
          : { rows: [], rowCount: 0 },
    },
  } as unknown as World<'production'>
  registerNotices(app, { token: 't'.repeat(32), world, wakeWorkers: () => {} })
  const notice = (n: number) => ({ pix: [{ endToEndId: `E${String(n).padStart(31, '0')}` }] })
  const url = `/rails/pix/efi/${'t'.repeat(32)}`
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => app.inject({ method: 'POST', url, payload: notice(n) })),
  )
  expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true)
  expect(asked).toBeGreaterThan(0)
  expect(asked).toBeLessThanOrEqual(8)
  await app.close()
})
