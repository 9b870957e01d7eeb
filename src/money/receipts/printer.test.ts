import { afterAll, expect, test } from 'vitest'
import type { ReceiptPage } from './page.ts'
import { openReceiptPrinter } from './printer.ts'

/** On a busy machine a page may take seconds: here nobody gives up waiting. */
const printer = openReceiptPrinter({ wait_ms: 600_000 })
afterAll(() => printer.stop())

const page: ReceiptPage = {
  language: 'pt',
  title: 'Comprovante',
  partner: 'Lumen',
  amount: 'R$ 1,00',
  status: 'Concluído',
  ended: '15/11/2026',
  sections: [{ title: 'Pagamento', rows: [{ label: 'Valor', value: 'R$ 1,00' }] }],
  notes: [],
  substitute_note: '',
  dated: '2026-11-15T03:28:14.785Z',
}

test('partners take turns: a queue of one partner does not delay another', async () => {
  const order: string[] = []
  const print = (partner: string) => printer.print(partner, page).then(() => order.push(partner))
  await Promise.all([...Array.from({ length: 6 }, () => print('many')), print('one')])
  expect(order.indexOf('one')).toBeLessThanOrEqual(2)
})

test('of one partner eleven are taken at once, and the next one is told to wait', async () => {
  const asked = Array.from({ length: 12 }, () => printer.print('many', page))
  const other = printer.print('another', page)
  const results = await Promise.allSettled(asked)
  expect(results.map(({ status }) => status)).toEqual([...Array(11).fill('fulfilled'), 'rejected'])
  expect((results[11] as PromiseRejectedResult).reason).toMatchObject({
    code: 'rate_limit_exceeded',
    retry_after_seconds: 1,
  })
  expect((await other).length).toBeGreaterThan(1000)
})

test('a page that cannot be drawn fails alone', async () => {
  await expect(printer.print('one', { ...page, sections: null as never })).rejects.toThrow(
    /^receipts: TypeError/,
  )
  expect((await printer.print('one', page)).length).toBeGreaterThan(1000)
})

test('a thread that ended, idle or not, is replaced', async () => {
  const brief = openReceiptPrinter({ idle_ms: 0 })
  for (let i = 0; i < 3; i++) {
    expect((await brief.print('one', page)).length).toBeGreaterThan(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await brief.stop()
  expect((await brief.print('one', page)).length).toBeGreaterThan(1000)
  await brief.stop()
})
