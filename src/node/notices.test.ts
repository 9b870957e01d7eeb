import Fastify from 'fastify'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../test/support/wait.ts'
import { readNotice } from '../rails/pix/efi/bodies.ts'
import type { World } from '../world.ts'
import { registerNotices } from './notices.ts'

/** A production world with a provider that answers so about a payment. */
const worldThat = (payment: () => Promise<never>) =>
  ({
    pix: { provider: 'stub', readNotice, charges: { payment } },
    db: {
      query: async ({ name, values }: { name: string; values: string[][] }) =>
        name === 'unknown pix received'
          ? { rows: values[0]!.map((id) => ({ id })) }
          : { rows: [], rowCount: 0 },
    },
  }) as unknown as World<'production'>

const notice = (n: number) => ({ pix: [{ endToEndId: `E${String(n).padStart(31, '0')}` }] })
const token = 't'.repeat(32)
const url = `/rails/pix/efi/${token}`

test('a flood of notices asks the provider about a few payments at once, and each notice is answered', async () => {
  const app = Fastify()
  let asked = 0
  const world = worldThat(() => {
    asked++
    return new Promise(() => {})
  })
  registerNotices(app, { token, world, wakeWorkers: () => {}, log: pino({ level: 'silent' }) })
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => app.inject({ method: 'POST', url, payload: notice(n) })),
  )
  expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true)
  expect(asked).toBeGreaterThan(0)
  expect(asked).toBeLessThanOrEqual(8)
  await app.close()
})

test('a payment of a notice that cannot be read is in the log of the node', async () => {
  const app = Fastify({ logger: false })
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const world = worldThat(() => Promise.reject(new Error('the provider is away')))
  registerNotices(app, { token, world, wakeWorkers: () => {}, log })
  await app.inject({ method: 'POST', url, payload: notice(7) })
  await until(() => lines.length > 0, 5000)
  expect(lines.join()).toContain('a payment was not read')
  await app.close()
})
