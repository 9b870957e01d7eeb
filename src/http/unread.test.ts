import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openUnreadWatch } from './unread.ts'

const STALL_MS = 15_000

/** A connection as the watch sees it: what was written to it, and how much of that the client has read. */
function client(written: number) {
  const socket = {
    bytesWritten: written,
    writableLength: written,
    destroyed: false,
    _handle: { bytesWritten: written, writeQueueSize: written },
    destroy: () => void (socket.destroyed = true),
  }
  return {
    socket: socket as unknown as Socket,
    isCut: () => socket.destroyed,
    /** As Node does, keeps a response whole until its last byte is read. */
    read(bytes: number) {
      socket._handle.writeQueueSize = Math.max(0, socket._handle.writeQueueSize - bytes)
      if (socket._handle.writeQueueSize === 0) socket.writableLength = 0
    },
    write(bytes: number) {
      socket.bytesWritten += bytes
      socket.writableLength += bytes
      socket._handle.bytesWritten += bytes
      socket._handle.writeQueueSize += bytes
    },
  }
}

function watch(
  clients: readonly (readonly [ReturnType<typeof client>, ...string[]])[],
  limits: { unread?: number; unread_per_address?: number } = {},
) {
  const warnings: string[] = []
  const { look } = openUnreadWatch({
    limits: { stall_ms: STALL_MS, unread: 1e9, unread_per_address: 1e9, ...limits },
    sockets: new Map(clients.map(([{ socket }, ...subjects]) => [socket, subjects])),
    responsesOf: () => [],
    factorOf: (index) => (index === 0 ? 1 : 4),
    log: { warn: (_, message) => void warnings.push(message) },
  })
  let now = 0
  /** Looks once a second, as often as told, after each client has read so much. */
  const go = (seconds: number, read: () => void = () => {}) => {
    for (let i = 0; i < seconds; i++) {
      read()
      look((now += 1000))
    }
  }
  return { go, warnings }
}

describe('a client that reads slowly', () => {
  test.each([
    { what: '2 KB in 15 seconds of a long response', waits: 500_000, every_s: 15, read: 2048, cut: true },
    { what: '30 KB in 15 seconds of a long response', waits: 500_000, every_s: 15, read: 30_000, cut: true },
    { what: '35 kbit/s of a long response', waits: 500_000, every_s: 1, read: 4375, cut: false },
    { what: '35 kbit/s, in parts of 60 KB', waits: 500_000, every_s: 14, read: 60_000, cut: false },
    { what: '2 KB in 15 seconds of its last 64 KB', waits: 65_000, every_s: 14, read: 2048, cut: false },
    { what: '1 KB in 15 seconds of its last 64 KB', waits: 65_000, every_s: 15, read: 1000, cut: true },
  ])('$what: cut $cut', ({ waits, every_s, read, cut }) => {
    const slow = client(waits)
    const { go } = watch([[slow, '192.0.2.1']])
    let second = 0
    go(300, () => ++second % every_s === 0 && slow.read(read))
    expect(slow.isCut()).toBe(cut)
  })

  test('is not cut in the last kilobytes of a long response', () => {
    const slow = client(500_000)
    const { go } = watch([[slow, '192.0.2.1']])
    go(10, () => slow.read(45_000))
    go(25, () => slow.read(200))
    expect(slow.isCut()).toBe(false)
  })
})

describe('where more waits than may', () => {
  const MB = 1_000_000

  test('the connection is cut for which the most has waited longest; its address is told', () => {
    const [first, second, other] = [client(3 * MB), client(4 * MB), client(6 * MB)]
    const { go, warnings } = watch(
      [
        [first, '192.0.2.1'],
        [second, '192.0.2.1'],
        [other, '192.0.2.2'],
      ],
      { unread_per_address: 6 * MB },
    )
    go(2)
    expect([first, second, other].map((each) => each.isCut())).toEqual([false, true, false])
    expect(warnings).toEqual([
      'http: 7 MB of responses waited to be read by 192.0.2.1, and 6 MB may; 1 connection was closed',
    ])
  })

  test('of a /48, with less of each /64, it may be four times as much', () => {
    const clients = Array.from({ length: 9 }, () => client(MB))
    const { go, warnings } = watch(
      clients.map((each, i) => [each, `2001:db8:1:${i}::/64`, '2001:db8:1::/48'] as const),
      { unread_per_address: 2 * MB },
    )
    go(2)
    expect(clients.filter((each) => each.isCut())).toHaveLength(1)
    expect(warnings).toEqual([expect.stringContaining('by 2001:db8:1::/48, and 8 MB may')])
  })

  test.each([
    { bound: 'the node', limits: { unread: 8 * MB }, address: '192.0.2.2', said: 'on this node' },
    {
      bound: 'an address',
      limits: { unread_per_address: 8 * MB },
      address: '192.0.2.1',
      said: 'by 192.0.2.1',
    },
  ])(
    'for $bound, a flood pays for it, and not the client with the slowest line',
    ({ limits, address, said }) => {
      const phone = client(600_000)
      const flood = Array.from({ length: 5 }, () => client(0))
      const { go, warnings } = watch(
        [[phone, '192.0.2.1'], ...flood.map((each) => [each, address] as const)],
        limits,
      )
      go(10, () => phone.read(10_000))
      for (const each of flood) each.write(8 * MB)
      go(3, () => phone.read(10_000))
      expect(phone.isCut()).toBe(false)
      expect(flood.filter((each) => each.isCut())).toHaveLength(5)
      expect(warnings).toEqual([
        expect.stringMatching(`^http: 41 MB .* ${said}, and 8 MB may; 5 connections were closed$`),
      ])
    },
  )

  test('a client that has read everything by the next look is spared', () => {
    const fast = client(0)
    const { go, warnings } = watch([[fast, '192.0.2.1']], { unread_per_address: 4 * MB })
    go(30, () => {
      fast.read(5 * MB)
      fast.write(5 * MB)
    })
    expect([fast.isCut(), warnings]).toEqual([false, []])
  })
})
