import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, everything, themes } from '../support/browser.ts'
import { consolePages, type PageOf, visitorOf } from '../support/console-pages.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { noteFact } from '../support/proof.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** From the narrowest phone to a large screen: no page scrolls sideways, and no text is cut without a sign that it is. */
const WIDTHS = [
  320, 360, 390, 480, 600, 720, 721, 768, 860, 960, 1024, 1100, 1101, 1200, 1280, 1366, 1440, 1680, 1920,
]
/** After so many changes the layout must be still: a list whose columns alternate never is. */
const MOST_CHANGES = 200
const PICTURED = [320, 390, 768, 1024, 1280, 1440, 1920]

let service: TestService
let stage: ConsoleStage
let longest: Awaited<ReturnType<ConsoleStage['writeTheLongest']>>
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
  await stage.fillOffice()
  await stage.setCharges()
  await stage.payTheMost()
  longest = await stage.writeTheLongest()
}, 300_000)
afterAll(async () => {
  await stage?.stop()
  await service?.stop()
})

const pages: readonly PageOf[] = [
  ...consolePages,
  { name: 'key-longest', who: 'owner', path: () => `/sandbox/developers/keys/${longest.key}` },
  { name: 'webhook-longest', who: 'owner', path: () => `/sandbox/developers/webhooks/${longest.endpoint}` },
]

const languages = ['en', 'pt-BR'] as const
const visits = pages.flatMap((each, at) =>
  languages.map((language, turn) => ({ ...each, language, at, turn })),
)

/** Both languages and both themes at every width are for `npm run prove`; every test run takes languages and themes in turn. */
const looksOf = (at: number, turn: number) =>
  WIDTHS.flatMap((width, i) =>
    themes.flatMap((theme, j) => {
      const in_turn = (i + at) % 2 === turn && ((i + at) >> 1) % 2 === j
      return everything || in_turn ? [{ width, theme }] : []
    }),
  )

let views = 0
afterAll(() =>
  noteFact(
    `${pages.length} pages and states of pages at ${WIDTHS.length} widths from ${WIDTHS[0]} to ${WIDTHS.at(-1)} pixels (${views} views): none scrolls sideways, none cuts a text without an ellipsis or a tooltip`,
  ),
)

/**
 * Waits until nothing loads and the layout is still in three frames after one another, and returns its faults: what is wider than
 * the window, what is cut by overflow that shows neither an ellipsis nor a bar to scroll, and rows that leave out a value without a
 * link or a button that shows it.
 */
const faultsOf = (page: Page) =>
  page.evaluate<string[]>(`(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done))
    const root = document.scrollingElement
    const shape = () => JSON.stringify([root.scrollWidth, root.scrollHeight, ...[...document.querySelectorAll('table')].map((one) =>
      [one.className, one.offsetWidth, one.offsetHeight, [...one.querySelectorAll('th')].map((head) => head.offsetWidth)])])
    const isLoading = () => document.querySelector('[aria-busy="true"]') !== null
    let equal = []
    let changes = 0
    while (equal.length < 3) {
      await frame()
      if (isLoading()) continue
      const now = shape()
      if (now === equal[0]) equal.push(now)
      else equal = [now]
      if (equal.length === 1 && ++changes > ${MOST_CHANGES}) return ['never still: ' + now]
    }
    const name = (one) => one.tagName.toLowerCase() + '.' + [...one.classList].join('.') + ' "' + one.innerText?.trim().slice(0, 40) + '"'
    const faults = []
    if (root.scrollWidth > innerWidth) {
      const over = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      faults.push('wider by ' + (root.scrollWidth - innerWidth) + ': ' + over.slice(-3).map(name).join(' | '))
    }
    for (const one of document.body.querySelectorAll('*')) {
      if (one.scrollWidth <= one.clientWidth + 1 || one.clientWidth < 2) continue
      const style = getComputedStyle(one)
      if (style.clipPath !== 'none') continue
      if (one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement || one instanceof SVGElement) continue
      if (one.closest('.cols > *') === one && style.overflowX === 'visible') faults.push('over its column: ' + name(one))
      const cut = ['hidden', 'clip'].includes(style.overflowX)
      if (cut && style.textOverflow !== 'ellipsis' && one.closest('[title]') === null) faults.push('cut: ' + name(one))
    }
    // The table of sums shows one asset at a time, and the asset is chosen above it.
    for (const row of document.querySelectorAll('.t:not(.sums) tbody tr')) {
      const isShown = (one) => one.getClientRects().length > 0
      const lost = [...row.cells].filter((cell) => !isShown(cell) && !row.innerText.includes(cell.textContent.trim()))
      const opens = [...row.querySelectorAll('a[href], button:not(.copy)')].some(isShown)
      if (lost.length > 0 && !opens) faults.push('left out, and nothing shows it: ' + name(lost[0]))
    }
    return faults
  })()`)

test.each(visits)(
  '$name, $language: every width',
  async ({ name, who, path, language, at, turn }) => {
    if (name === 'operator-desk' || name === 'overview') await stage.leaveUnanswered()
    const faults: string[] = []
    await browse({ url: service.url, ...visitorOf(stage, who), language, again: true }, async (visitor) => {
      const { page } = visitor
      if (who === 'nobody') visitor.allow(/status of 404 .*\/links\/look$/)
      await visitor.visit(path(stage))
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      for (const { width, theme } of looksOf(at, turn)) {
        await page.emulateMedia({ colorScheme: theme })
        await page.setViewportSize({ width, height: 900 })
        faults.push(...(await faultsOf(page)).map((fault) => `${width} ${theme}: ${fault}`))
        if (PICTURED.includes(width)) await visitor.screenshot(`${name}-${language}-${theme}-${width}`)
        views += 1
      }
    })
    expect(faults).toEqual([])
  },
  600_000,
)

const columnsOf = (page: Page) =>
  page.evaluate<string>(
    `(() => { const table = document.querySelector('.t'); return table.matches('.fold') ? 'folded' : [...table.querySelectorAll('th:not(.gone)')].map((head) => head.innerText).join() })()`,
  )

test('a list fits again when a text in it becomes longer, and when it becomes shorter again', async () => {
  await browse({ url: service.url, ...visitorOf(stage, 'owner'), width: 1366 }, async ({ page, visit }) => {
    await visit('/sandbox/developers/requests')
    expect(await faultsOf(page)).toEqual([])
    const before = await columnsOf(page)
    // As an age or a state changes: the text of a cell, in the same row.
    const write = (text: string) =>
      page.evaluate<string>(`(() => {
        const text = document.createTreeWalker(document.querySelector('.t td'), NodeFilter.SHOW_TEXT).nextNode()
        const before = text.data
        text.data = ${JSON.stringify(text)}
        return before
      })()`)
    const short = await write('9'.repeat(50))
    expect(await faultsOf(page)).toEqual([])
    expect(await columnsOf(page)).not.toBe(before)
    await write(short)
    expect(await faultsOf(page)).toEqual([])
    expect(await columnsOf(page)).toBe(before)
  })
})

test('a list that leaves out columns stays a table after other pages were open', async () => {
  await browse({ url: service.url, ...visitorOf(stage, 'owner'), width: 1100 }, async (visitor) => {
    const { page } = visitor
    await visitor.visit('/sandbox')
    await page.locator('.nav a[href$="/developers/requests"]').click()
    await page.waitForURL(/requests$/)
    await visitor.settled()
    await page.locator('.t th.gone').first().waitFor({ state: 'attached' })
    expect(await faultsOf(page)).toEqual([])
    const displays = await page.evaluate<string[]>(
      `[...new Set([...document.querySelectorAll('.t :is(th, td)')].map((cell) => getComputedStyle(cell).display))]`,
    )
    expect(displays.sort()).toEqual(['none', 'table-cell'])
  })
})

test('a scroll bar that comes and goes does not add and leave out columns in turn', async () => {
  const BAR = 15
  await browse({ url: service.url, ...visitorOf(stage, 'owner') }, async ({ page, visit }) => {
    await visit('/sandbox/developers/requests')
    const fitAt = async (width: number) => {
      await page.setViewportSize({ width, height: 900 })
      await faultsOf(page)
      return columnsOf(page)
    }
    // A width at which one column more fits than beside a scroll bar.
    let width = 1440
    while ((await fitAt(width)) === (await fitAt(width - BAR))) width -= BAR
    const wide = await fitAt(width)
    // The bar is there as long as the list has all these columns.
    const turns = await page.evaluate<number>(`(async () => {
      const table = document.querySelector('.t')
      const columns = () => table.matches('.fold') ? 'folded' : [...table.querySelectorAll('th:not(.gone)')].map((head) => head.innerText).join()
      let bar = '0px'
      let turns = 0
      for (let frame = 0; frame < 60; frame++) {
        const next = columns() === ${JSON.stringify(wide)} ? '${BAR}px' : '0px'
        if (next !== bar) turns += 1
        table.parentElement.style.marginRight = bar = next
        await new Promise((done) => requestAnimationFrame(done))
      }
      return turns
    })()`)
    expect(turns).toBe(2)
    expect(await faultsOf(page)).toEqual([])
  })
})
