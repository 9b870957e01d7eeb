import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startNode } from '../../test/support/node.ts'
import { startTestService, type TestService } from '../../test/support/service.ts'
import { eventually } from '../../test/support/wait.ts'
import { type Event, type StreamOptions, Trilho } from '../dist/index.js'
import { createTokenBucket } from '../dist/stream.js'
import { openWire, type Wire } from './support/wire.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

/** A partner of its own, whose log has nothing but what the test makes. */
async function partner(): Promise<{ trilho: Trilho; wire: Wire; make(count?: number): Promise<string[]> }> {
  const { key } = await service.partner()
  const wire = await openWire(service.url)
  onTestFinished(wire.stop)
  const trilho = new Trilho({ key, baseUrl: wire.url })
  // That of its key is on its way.
  await eventually(async () => expect((await trilho.events.list()).data).toHaveLength(1))
  return {
    trilho,
    wire,
    async make(count = 1) {
      const ids: string[] = []
      for (let i = 0; i < count; i++) ids.push((await trilho.sandbox.events.create('customer.created')).id)
      return ids
    },
  }
}

/** What a program keeps between its runs. */
function openStore() {
  const store = { cursor: undefined as string | undefined, saves: 0 }
  const options: StreamOptions = {
    load: () => store.cursor,
    save: async (cursor) => {
      store.cursor = cursor
      store.saves++
    },
  }
  return { store, options }
}

async function take(events: AsyncIterable<Event>, count: number): Promise<string[]> {
  const ids: string[] = []
  if (count > 0) for await (const { id } of events) if (ids.push(id) === count) break
  return ids
}

describe('what is saved', () => {
  test('a loop that is left repeats one event, and loses none', async () => {
    const { trilho, make } = await partner()
    const { store, options } = openStore()
    const first = take(trilho.events.stream(options), 3)
    // The first request said from where on; nothing that comes later is lost, also without an event yet.
    await eventually(() => expect(store.cursor).toBeDefined())
    const ids = await make(6)
    expect(await first).toEqual(ids.slice(0, 3))
    expect(store.cursor).toBe(ids[1])
    expect(await take(trilho.events.stream(options), 2)).toEqual(ids.slice(2, 4))
    const failing = async () => {
      for await (const { id } of trilho.events.stream(options)) throw new Error(`crashed at ${id}`)
    }
    await expect(failing()).rejects.toThrow(`crashed at ${ids[3]}`)
    expect(await take(trilho.events.stream(options), 3)).toEqual(ids.slice(3))
  })

  test('a program that ended before its first event goes on from where it began', async () => {
    const { trilho, make } = await partner()
    const { store, options } = openStore()
    const leaving = new AbortController()
    const run = take(trilho.events.stream({ ...options, signal: leaving.signal }), 1)
    await eventually(() => expect(store.saves).toBe(1))
    leaving.abort()
    expect(await run).toEqual([])
    const [missed] = await make()
    expect(await take(trilho.events.stream(options), 1)).toEqual([missed])
  })

  test('what fails to be saved ends the loop', async () => {
    const { trilho, make } = await partner()
    await make()
    const full = {
      after: 'start',
      save: () => {
        throw new Error('disk full')
      },
    }
    await expect(take(trilho.events.stream(full), 2)).rejects.toThrow('disk full')
  })
})

describe('where it begins', () => {
  test('at the start: everything there is, over all pages, then what comes', async () => {
    const { trilho, make } = await partner()
    const ids: string[] = (await Promise.all(Array.from({ length: 6 }, () => make(20)))).flat()
    const all = take(trilho.events.stream({ after: 'start' }), 122)
    ids.push(...(await make()))
    const [own, ...rest] = await all
    expect((await trilho.events.get(own!)).type).toBe('api_key.created')
    expect(new Set(rest)).toEqual(new Set(ids))
    expect(rest).toHaveLength(121)
  })

  test('behind an event', async () => {
    const { trilho, make } = await partner()
    const [first, second] = await make(2)
    expect(await take(trilho.events.stream({ after: first! }), 1)).toEqual([second])
  })

  test('behind an event that does not exist: it says so', async () => {
    const { trilho } = await partner()
    const stream = trilho.events.stream({ after: 'evt_01kc3v4x9zq8rj5m2t7w6y0ahb' })
    await expect(take(stream, 1)).rejects.toMatchObject({ code: 'event_not_found' })
  })
})

describe('what is asked for', () => {
  test('one type, or several; what is left out is not read again', async () => {
    const { trilho, make } = await partner()
    const { store, options } = openStore()
    await make(2)
    const wanted = await trilho.sandbox.events.create('trade.failed')
    for await (const event of trilho.events.stream({ ...options, after: 'start', types: ['trade.failed'] })) {
      expect(event.data.object.quote_id).toMatch(/^qt_/)
      expect(event.id).toBe(wanted.id)
      break
    }
    expect(store.cursor).toBeUndefined()
    const types = ['trade.failed', 'trade.completed'] as const
    const several = take(trilho.events.stream({ ...options, after: wanted.id, types }), 1)
    await make()
    await eventually(() => expect(store.cursor).toBeDefined())
    const other = await trilho.sandbox.events.create('trade.completed')
    expect(await several).toEqual([other.id])
  })
})

describe('what it survives', () => {
  test('cut connections, and a server that is away and comes back as another', async () => {
    const { trilho, wire, make } = await partner()
    const got: string[] = []
    const leaving = new AbortController()
    const run = (async () => {
      for await (const { id } of trilho.events.stream({ signal: leaving.signal })) got.push(id)
    })()
    const waiting = () => wire.seen.filter(({ path }) => path.includes('wait=30')).length
    await eventually(() => expect(waiting()).toBe(1))
    const ids = await make(2)
    await eventually(() => expect(got).toEqual(ids))

    const before = waiting()
    wire.cut()
    await eventually(() => expect(waiting()).toBeGreaterThan(before))

    wire.breakFor('wait=30', '503 before', 'cut within')
    ids.push(...(await make()))
    await eventually(() => expect(got).toEqual(ids))

    await wire.leadTo(undefined)
    const node = await startNode(service.database.url)
    onTestFinished(() => node.stop())
    await wire.leadTo(node.url)
    ids.push(...(await make(2)))
    await eventually(() => expect(got).toEqual(ids))

    leaving.abort()
    await run
  })

  test('a key that is refused ends it', async () => {
    const { wire } = await partner()
    const stranger = new Trilho({ key: 'svc_test_sk_nobody', baseUrl: wire.url })
    await expect(take(stranger.events.stream(), 1)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })
})

describe('its pace', () => {
  const DAY_MS = 86_400_000

  test('30 at once, then one per 10 seconds: at most 8,670 a day', () => {
    let now = 0
    const pace = createTokenBucket(() => now)
    const waits = Array.from({ length: 33 }, () => {
      const wait = pace()
      now += wait
      return wait
    })
    expect(waits).toEqual([...Array(30).fill(0), 10_000, 10_000, 10_000])
    let asked = 33
    while (now < DAY_MS) {
      now += pace()
      if (now < DAY_MS) asked++
    }
    expect(asked).toBeLessThanOrEqual(8670)
    expect(asked).toBeGreaterThan(8660)
  })

  test('who waited long may ask 30 times again, and not more', () => {
    let now = 0
    const pace = createTokenBucket(() => now)
    for (let i = 0; i < 30; i++) pace()
    now = DAY_MS
    expect(Array.from({ length: 30 }, pace)).toEqual(Array(30).fill(0))
    expect(pace()).toBe(10_000)
  })
})
