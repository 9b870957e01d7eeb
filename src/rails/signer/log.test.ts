import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  headText,
  openSignerLog,
  parseHeadText,
  type SignatureLine,
  SignerLogBroken,
  type TransferEntry,
  verifySignerLog,
} from './log.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-signer-log-'))
  file = join(folder, 'signatures.jsonl')
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
})

const entry = (nonce: number): TransferEntry => ({
  ...{ kind: 'transfer', transfer_id: `tr_${nonce}`, network: 'polygon', purpose: 'pay' },
  ...{ destination: '0x1', amount: '5', wallet: '0x2', nonce: `${nonce}`, cost: '7' },
  ...{ tx_hash: `0x${nonce}`, unsigned: 'ab'.repeat(32) },
})

async function open(now = Date.now) {
  const lines: SignatureLine[] = []
  const log = await openSignerLog({ folder, clock: { now }, onLine: (line) => lines.push(line) })
  return { ...log, lines }
}

async function written(count: number) {
  const log = await open()
  for (let nonce = 1; nonce <= count; nonce++) await log.append(entry(nonce))
  await log.close()
  return log.head()
}

const linesOf = async () => (await readFile(file, 'utf8')).split('\n').slice(0, -1)

describe('a log of signatures', () => {
  test('is read again at the next start, and goes on', async () => {
    const head = await written(3)
    const again = await open()
    expect(again.lines.map(({ n }) => n)).toEqual([1, 2, 3])
    expect(again.head()).toEqual(head)
    await again.append(entry(4))
    await again.close()
    expect(await verifySignerLog(folder, { expected: [head] })).toMatchObject({ lines: 4, cut_bytes: 0 })
    expect(parseHeadText(headText(head))).toEqual(head)
  })

  test('is the reader’s alone, and its times never go back', async () => {
    await written(1)
    const set_back = await open(() => 1000)
    await set_back.append(entry(2))
    await set_back.close()
    const [first, second] = (await linesOf()).map((line) => JSON.parse(line).at as string)
    expect(second).toBe(first)
    const { mode } = await (await import('node:fs/promises')).stat(file)
    expect(mode & 0o777).toBe(0o600)
  })

  test('that a line was changed in is refused, with the number of the line', async () => {
    await written(4)
    const lines = await linesOf()
    await writeFile(file, `${lines.with(1, lines[1]!.replace('"amount":"5"', '"amount":"4"')).join('\n')}\n`)
    await expect(open()).rejects.toThrow(/broken at line 3: it does not have the hash of the line before/)
  })

  test('that a line was removed from is refused', async () => {
    await written(4)
    await writeFile(file, `${(await linesOf()).toSpliced(1, 1).join('\n')}\n`)
    await expect(open()).rejects.toThrow(/broken at line 2: its number is not 2/)
  })

  test('whose last line was changed is refused: the head is noted beside it', async () => {
    await written(4)
    const lines = await linesOf()
    await writeFile(file, `${lines.with(3, lines[3]!.replace('"amount":"5"', '"amount":"4"')).join('\n')}\n`)
    await expect(open()).rejects.toThrow(/broken at line 4: its hash is not the one that was noted/)
  })

  test('whose end was cut off is refused, also at the border of a line, also whole', async () => {
    await written(4)
    await writeFile(file, `${(await linesOf()).slice(0, 3).join('\n')}\n`)
    await expect(open()).rejects.toThrow(/broken after line 3: it must have 4 lines or more/)
    await rm(file)
    await expect(open()).rejects.toThrow(SignerLogBroken)
  })

  test('whose end was cut off together with the noted head is found by a head that a person noted', async () => {
    const head = await written(4)
    await writeFile(file, `${(await linesOf()).slice(0, 3).join('\n')}\n`)
    await rm(join(folder, 'head.json'))
    expect(await verifySignerLog(folder)).toMatchObject({ lines: 3 })
    await expect(verifySignerLog(folder, { expected: [head] })).rejects.toThrow(/must have 4 lines or more/)
  })

  test('whose last line was half written loses it, and says so in a line', async () => {
    const head = await written(2)
    await appendFile(file, '{"n":3,"at":"2026-')
    const log = await open()
    expect(log.lines.at(-1)).toMatchObject({ n: 3, kind: 'cut', bytes: 18, prev: head.head })
    await log.append(entry(3))
    await log.close()
    expect(await verifySignerLog(folder)).toMatchObject({ lines: 4, cut_bytes: 0 })
  })

  test('that lost half of a line that was on disk is refused', async () => {
    await written(3)
    await truncate(file, (await readFile(file)).length - 20)
    await expect(open()).rejects.toThrow(/broken after line 2/)
  })

  test('with a line that no signer writes is refused', async () => {
    await written(1)
    const head = JSON.parse(await readFile(join(folder, 'head.json'), 'utf8')).head
    const at = new Date().toISOString()
    await appendFile(file, `${JSON.stringify({ n: 2, at, prev: head, kind: 'transfer', amount: '5' })}\n`)
    await expect(open()).rejects.toThrow(/broken at line 2: a field is missing or not valid/)
  })

  test('without the noted head beside it is taken as it is, and gets one', async () => {
    await written(2)
    await rm(join(folder, 'head.json'))
    await (await open()).close()
    expect(JSON.parse(await readFile(join(folder, 'head.json'), 'utf8'))).toMatchObject({ lines: 2 })
  })

  test('that cannot be written takes no more lines', async () => {
    const log = await open()
    await log.close()
    await expect(log.append(entry(1))).rejects.toThrow(/cannot be written/)
    await expect(log.append(entry(2))).rejects.toThrow(/cannot be written/)
  })
})
