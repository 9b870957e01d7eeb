import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openClosing } from './closing.ts'

function openLog() {
  const lines: Record<string, unknown>[] = []
  return { lines, log: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }) }
}

const later = () => new Promise((resolve) => setTimeout(resolve, 5))

test('parts are closed in reverse order, one after the other', async () => {
  const { log } = openLog()
  const closing = openClosing(log)
  const order: string[] = []
  for (const name of ['first', 'second'])
    closing.add({
      [name]: async () => {
        order.push(`${name} begins`)
        await later()
        order.push(`${name} ends`)
      },
    })
  await closing.closeAll()
  expect(order).toEqual(['second begins', 'second ends', 'first begins', 'first ends'])
  await closing.closeAll()
  expect(order).toHaveLength(4)
})

test('parts that were added together are closed together', async () => {
  const closing = openClosing(openLog().log)
  let open: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  // Each of the two waits for the other.
  closing.add({ waits: () => gate, opens: async () => open() })
  await closing.closeAll()
})

test('a part that fails to close is logged, and the other parts are closed', async () => {
  const { lines, log } = openLog()
  const closing = openClosing(log)
  let closed = false
  closing.add({
    first: async () => {
      closed = true
    },
  })
  closing.add({ second: () => Promise.reject(new Error('stuck')) })
  await closing.closeAll()
  expect(closed).toBe(true)
  expect(lines).toMatchObject([
    { part: 'second', msg: 'stopping: second failed to close', err: { message: 'stuck' } },
  ])
})

test('a slow stop logs what it waits for, until that has ended', async () => {
  const { lines, log } = openLog()
  const closing = openClosing(log, 1)
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  closing.add({ 'payouts (sandbox)': () => ended, 'audit (sandbox)': async () => {} })
  const closingAll = closing.closeAll()
  while (lines.length === 0) await later()
  end()
  await closingAll
  const told = lines.length
  expect(lines[0]).toMatchObject({
    awaited: ['payouts (sandbox)'],
    msg: 'stopping: waiting for payouts (sandbox)',
  })
  await later()
  expect(lines).toHaveLength(told)
})
