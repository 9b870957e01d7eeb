import { expect, test } from 'vitest'
import { CHUNK_CHARS, csvOf, decimalOf, everyRow, PART, ROWS_MAX } from './csv.ts'

async function* once<Row>(...rows: readonly Row[]) {
  yield rows
}

async function written(text: string, language?: 'en' | 'pt-BR'): Promise<string> {
  const column = { name: 'cell', cell: (row: string) => row }
  let all = ''
  for await (const part of csvOf([column], once(text), language)) all += part
  return all.replace('\ufeffcell\r\n', '').replace(/\r\n$/, '')
}

test.each([
  ['=1+1', "'=1+1"],
  ['+5511998761271', "'+5511998761271"],
  ['-2', "'-2"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
  ['\u200b=1', "'\u200b=1"],
  ['＝1+1', "'＝1+1"],
  ['＋5511998761271', "'＋5511998761271"],
  ['－2', "'－2"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  [' =1', "' =1"],
  ['\u00a0＝1', "'\u00a0＝1"],
  ['a=1', 'a=1'],
  [' a=1', ' a=1'],
  ['a, "b"; c', '"a, ""b""; c"'],
  ['two\nlines', '"two\nlines"'],
  ['', ''],
])('%j is written as one cell and not as a formula', async (text, cell) => {
  expect(await written(text)).toBe(cell)
  expect(await written(text, 'pt-BR')).toBe(cell)
})

test.each([
  ['BRL', 1n, '0.01'],
  ['BRL', -482_000n, '-4820.00'],
  ['USDT', 999_999_999_999_999_999n, '999999999999.999999'],
  ['BTC', '-5', '-0.00000005'],
] as const)('%s %s is written to the last digit', (asset, units, number) => {
  expect(decimalOf(asset, units)).toEqual({ number })
})

test('a number has the decimal point of the language and is not quoted as text', async () => {
  const column = { name: 'n', cell: () => decimalOf('BRL', -105_000n) }
  const parts: string[] = []
  for await (const part of csvOf([column, column], once(1), 'pt-BR')) parts.push(part)
  expect(parts).toEqual(['\ufeffn;n\r\n', '-1050,00;-1050,00\r\n'])
})

test('a file with the maximum number of rows says so in its last line, and no other file does', async () => {
  const last = async (count: number, language: 'en' | 'pt-BR') => {
    const rows = once(...Array.from({ length: count }, () => 'row'))
    let line = ''
    for await (const part of csvOf([{ name: 'cell', cell: () => 'x' }], rows, language)) line = part
    return line
  }
  expect(await last(3, 'pt-BR')).toBe('x\r\nx\r\nx\r\n')
  expect(await last(ROWS_MAX, 'en')).toMatch(/^"# 100000 rows, the most that a file has/)
  expect(await last(ROWS_MAX, 'pt-BR')).toMatch(/^"# 100000 linhas, o máximo de um arquivo/)
})

test('long rows leave in small chunks, so that writing them never keeps the event loop from other work for long', async () => {
  const cell = '"'.repeat(20_000)
  const rows = once(...Array.from({ length: PART }, () => 'row'))
  const chunks: string[] = []
  for await (const chunk of csvOf([{ name: 'cell', cell: () => cell }], rows)) chunks.push(chunk)
  const written_row = `"${cell}${cell}"\r\n`
  expect(chunks.join('')).toBe(`\ufeffcell\r\n${written_row.repeat(PART)}`)
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(CHUNK_CHARS + written_row.length)
})

test('rows are read until the list ends, the client leaves, or the maximum is reached', async () => {
  const row = (n: number) => ({ id: `x_${n}`, created_at: new Date(n) })
  const count = async (length: number, gone = new AbortController().signal) => {
    let rows = 0
    const read = async (position: { id: string } | undefined, limit: number) => {
      const from = position ? Number(position.id.slice(2)) + 1 : 0
      return { rows: Array.from({ length: Math.min(limit, length - from) }, (_, i) => row(from + i)) }
    }
    for await (const part of everyRow(read, gone)) rows += part.length
    return rows
  }
  expect(await count(2500)).toBe(2500)
  expect(await count(2000)).toBe(2000)
  expect(await count(ROWS_MAX + 5)).toBe(ROWS_MAX)
  expect(await count(2500, AbortSignal.abort())).toBe(0)
})
