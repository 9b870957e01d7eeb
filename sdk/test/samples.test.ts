import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { installSdk } from './support/install.ts'

/** What the samples take for granted of the program around them. */
const around = `import type { Customer, PayLine, PixPayout, Quote } from '@trilho/sdk'
declare global {
  const customer: Customer
  const customer_id: string
  const invoice: { id: number }
  const order: { id: number }
  const employees: { number: string; salary: string; pix_key: string }[]
  const payroll: PayLine[]
  const quote: Quote
  const secret: string
  function readCursor(): Promise<string | null>
  function writeCursor(cursor: string): Promise<void>
  function settle(payout: PixPayout): Promise<void>
  function quoteAgain(): Promise<void>
  function tryLater(): Promise<void>
  function tell(available: string): void
}
`
const root = fileURLToPath(new URL('../../', import.meta.url))

test('every sample of the pages about the SDK compiles, as it is installed', () => {
  const folder = installSdk()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const pages = ['docs/sdk.md', 'sdk/README.md']
  for (const page of pages) {
    const samples = [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\b.*\n([\s\S]*?)^```$/gm)]
    expect(samples.length, page).toBeGreaterThan(0)
    writeFileSync(join(folder, `${page.replace('/', '-')}.ts`), samples.map(([, code]) => code).join('\n'))
  }
  writeFileSync(join(folder, 'around.ts'), around)
  const compilerOptions = {
    noEmit: true,
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const print = () => execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  expect(() => print()).not.toThrow()
})
