import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { money } from '../../src/core/money.ts'
import { deposit } from '../../src/money/deposits/deposits.ts'
import { inParallel, times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { openReceiver, type Received, verifies } from '../support/receiver.ts'
import { size } from '../support/size.ts'
import { openStage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

/** Contract §12: delivered at least once, whatever dies and whenever it dies. */
const EVENTS = size(2000, 120)
const KILLS = size(8, 2)
/** Deaths between the receiver's 200 and our mark. */
const CRASHES = size(2, 1)
const RECEIVERS = 2
const SETTLE_MS = 90_000
const TIMEOUT_MS = 300_000

/** Half of the time a receiver fails, each time in another way. */
const faults: readonly ((response: import('node:http').ServerResponse) => void)[] = [
  (response) => void response.writeHead(500).end('no'),
  (response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
  (response) => void response.destroy(),
  (response) => void response.writeHead(429).end(),
  () => {},
]

test(
  'receivers that fail half the time, processes killed also between the 200 and the mark: every event arrives, every signature holds',
  async () => {
    const stage = await openStage({
      nodes: 1,
      env: {
        WEBHOOK_ALLOW_PRIVATE: 'true',
        WEBHOOK_TIMEOUT_MS: '500',
        WEBHOOK_PER_SECOND: '100000',
        WEBHOOK_RETRY_MS: Array(60).fill('150').join(','),
        LEASE_MS: '500',
      },
    })
    let asked = 0
    const accepted: Received[][] = times(RECEIVERS, () => [])
    const receivers = await Promise.all(
      times(RECEIVERS, (n) =>
        openReceiver((request, response) => {
          const turn = asked++
          if (Math.random() < 0.5) return faults[turn % faults.length]!(response)
          accepted[n]!.push(request)
          response.end('ok')
        }),
      ),
    )
    try {
      const secrets: string[] = []
      for (const { url } of receivers) {
        const events = ['deposit.completed']
        const made = await stage.api(0).post('/v1/webhook_endpoints', { url, events })
        expect(made.status).toBe(201)
        secrets.push(made.json.secret)
      }
      const customer_id = await stage.customer({})
      const world = stage.worlds.sandbox
      const order = {
        partner_id: stage.partner_id,
        customer_id,
        rail: 'sandbox' as const,
        money: money('BRL', 1n),
      }
      const made = new Set<string>()
      const producing = inParallel(times(EVENTS, String), 4, async () => {
        made.add((await world.commit(deposit(world, order))).id)
        // Spread over the kills.
        if (process.env.PROVE) await sleep(20)
      })

      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(size(800, 300) * Math.random() + 200)
        await stage.crash(0)
      }
      // A second process joins, which dies right after a receiver said yes.
      for (let crash = 0; crash < CRASHES; crash++) {
        const dying = await stage.startDoomed({ CRASH_AT: 'after_delivery' })
        // The other process works too, so there must be enough for both.
        while (dying && dying.process.signalCode !== 'SIGKILL') {
          made.add((await world.commit(deposit(world, order))).id)
          await sleep(20)
        }
      }
      await producing

      const pending = async () => {
        const { rows } = await world.db.query(
          `SELECT count(*) AS n FROM webhook_deliveries WHERE status = 'pending'`,
        )
        return Number(rows[0].n)
      }
      await until(async () => (await pending()) === 0, SETTLE_MS)

      const { rows } = await world.db.query(
        `SELECT id, object_id FROM events WHERE type = 'deposit.completed' AND partner_id = $1`,
        [stage.partner_id],
      )
      expect(new Set(rows.map(({ object_id }) => object_id))).toEqual(made)
      for (const [n, { received }] of receivers.entries()) {
        // Everything that was owed was accepted, and nothing was made up.
        expect(new Set(accepted[n]!.map(({ json }) => json.id))).toEqual(new Set(rows.map(({ id }) => id)))
        const bodies = new Map<string, Set<string>>()
        for (const request of received) {
          const id = request.headers['webhook-id'] as string
          bodies.set(id, (bodies.get(id) ?? new Set()).add(request.body))
          expect(verifies(secrets[n]!, request)).toBe(true)
        }
        expect([...bodies.values()].filter(({ size }) => size !== 1)).toEqual([])
        const [one] = accepted[n]!
        const tampered = { ...one!, body: one!.body.replace('"amount":"1"', '"amount":"2"') }
        expect(tampered.body).not.toBe(one!.body)
        expect(verifies(secrets[n]!, tampered)).toBe(false)
        expect(verifies(secrets[(n + 1) % RECEIVERS]!, one!)).toBe(false)
        const another = { ...one!.headers, 'webhook-id': 'evt_another' }
        expect(verifies(secrets[n]!, { ...one!, headers: another })).toBe(false)
      }
      expect((await stage.audit()).sandbox.findings).toEqual([])
      const requests = receivers.reduce((sum, { received }) => sum + received.length, 0)
      const taken = accepted.reduce((sum, list) => sum + list.length, 0)
      const owed = made.size * RECEIVERS
      // The crash between 200 and mark is what makes some arrive twice.
      expect(taken).toBeGreaterThan(owed)
      noteFact(
        `${made.size} events to ${RECEIVERS} receivers that fail half the time (500, redirect, 429, hang up, silence), ${KILLS} × kill -9 and ${CRASHES} crashes between the receiver's 200 and the row that records it: ${owed} of ${owed} deliveries arrived, ${taken - owed} of them more than once, in ${requests} requests; every signature verified by standardwebhooks, none of the tampered ones, audit clean`,
      )
    } finally {
      await stage.stop()
      for (const receiver of receivers) await receiver.stop()
    }
  },
  TIMEOUT_MS,
)
