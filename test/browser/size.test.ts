import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPages } from '../support/console-build.ts'
import { noteFact } from '../support/proof.ts'

const KB = 1000
/** Of the first load, without charts, and of what a page adds. */
const budget = { script: 161 * KB, style: 12 * KB, fonts: 65 * KB, all: 250 * KB, page: 15 * KB }

type Chunk = {
  readonly file: string
  readonly src?: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly css?: readonly string[]
}

let folder: string
let chunks: Readonly<Record<string, Chunk>>

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trilho-size-'))
  buildPages('console', ['--outDir', folder, '--emptyOutDir', '--manifest', 'manifest.json'])
  chunks = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const zipped = (file: string) => gzipSync(readFileSync(join(folder, file))).length
const total = (files: Iterable<string>) => [...files].reduce((sum, file) => sum + zipped(file), 0)

/** A chunk and all that it cannot do without. */
function reach(key: string, found = new Set<string>()): Set<string> {
  if (found.has(key)) return found
  found.add(key)
  for (const next of chunks[key]?.imports ?? []) reach(next, found)
  return found
}

const entry = () => Object.keys(chunks).find((key) => chunks[key]!.isEntry)!
const filesOf = (keys: Iterable<string>) => [...keys].map((key) => chunks[key]!.file)
const stylesOf = (keys: Iterable<string>) => new Set([...keys].flatMap((key) => chunks[key]!.css ?? []))

/** The variable sans, and the mono of ids; its heavier cut comes with the first secret. */
const firstFonts = () =>
  readdirSync(join(folder, 'assets')).filter((name) => /sans.*woff2$|mono.*-400-.*woff2$/.test(name))

test('the first load stays within its budget', () => {
  const first = reach(entry())
  const script = total(filesOf(first))
  const style = total(stylesOf(first))
  const fonts = total(firstFonts().map((name) => `assets/${name}`))
  expect(script).toBeGreaterThan(80 * KB)
  expect(script, 'script').toBeLessThanOrEqual(budget.script)
  expect(style, 'style').toBeLessThanOrEqual(budget.style)
  expect(firstFonts()).toHaveLength(2)
  expect(fonts, 'fonts').toBeLessThanOrEqual(budget.fonts)
  expect(script + style + fonts, 'all').toBeLessThanOrEqual(budget.all)
  const kB = (bytes: number) => `${(bytes / KB).toFixed(1)} kB`
  noteFact(`First load, compressed: ${kB(script)} of script, ${kB(style)} of style, ${kB(fonts)} of fonts`)
})

test('no page adds more than its share', () => {
  const first = reach(entry())
  const pages = Object.keys(chunks).filter((key) => /^src\/pages\/.*\.tsx$/.test(key))
  const heavy = pages
    .map((key) => ({ key, size: total(filesOf([...reach(key)].filter((each) => !first.has(each)))) }))
    .filter(({ size }) => size > budget.page)
  expect(heavy).toEqual([])
})

test('fonts and pictures are files: the policy refuses those inside a style sheet', () => {
  for (const sheet of stylesOf(Object.keys(chunks)))
    expect(readFileSync(join(folder, sheet), 'utf8')).not.toMatch(/url\(["']?data:/)
})

test('the tokens reach the browser as they are written', () => {
  const [sheet] = stylesOf([entry()])
  expect(readFileSync(join(folder, sheet!), 'utf8')).toMatch(/--ground:light-dark\(/)
})
