import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDiskReader } from './disks.ts'

test('a disk that never answers is not known, holds up nothing else, and is asked once', async () => {
  const space = { bavail: 3n, blocks: 9n, bsize: 10n }
  const asked: string[] = []
  const readDisks = openDiskReader((path) => {
    asked.push(path)
    return path === '/dead' ? new Promise<never>(() => {}) : Promise.resolve(space)
  }, 30)
  for (let turn = 0; turn < 3; turn++)
    expect(await readDisks(['/data', '/dead', '/dead'])).toEqual([
      { path: '/data', space: { known: { free: 30n, size: 90n } } },
      { path: '/dead', space: { unknown: 'no answer within 0.03 seconds' } },
    ])
  expect(asked.filter((path) => path === '/dead')).toHaveLength(1)
  expect(asked.filter((path) => path === '/data')).toHaveLength(3)
})

test('a folder that is not on this machine is left out', async () => {
  const found = await openDiskReader()([tmpdir(), join(tmpdir(), 'trilho-no-such-folder')])
  expect(found).toEqual([{ path: tmpdir(), space: { known: expect.anything() } }])
})
