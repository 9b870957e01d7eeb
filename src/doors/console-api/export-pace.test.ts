import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openExportPace } from './export-pace.ts'

test('exports read one part at a time on a node, and take turns', async () => {
  const pace = openExportPace()
  const order: string[] = []
  let reading = 0
  async function* parts(name: string) {
    for (let i = 0; i < 3; i++) {
      expect(++reading).toBe(1)
      await sleep(5)
      reading--
      order.push(name)
      yield name
    }
  }
  const read = async (name: string) => {
    for await (const _ of pace.paced(name, parts(name), new AbortController().signal));
  }
  await Promise.all([read('a'), read('b'), read('c')])
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
})

test('an export whose client left reads nothing more and delays no other', async () => {
  const pace = openExportPace()
  const leaving = new AbortController()
  let ended = false
  async function* endless() {
    try {
      for (;;) yield 'part'
    } finally {
      ended = true
    }
  }
  const left = (async () => {
    for await (const _ of pace.paced('left', endless(), leaving.signal)) leaving.abort()
  })()
  await expect(left).rejects.toThrow()
  expect(ended).toBe(true)
  const other = pace.paced('other', endless(), new AbortController().signal)
  expect((await other.next()).value).toBe('part')
  await other.return(undefined)
})
