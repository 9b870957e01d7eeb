import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, everything } from '../support/browser.ts'
import { consolePages, visitorOf } from '../support/console-pages.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { noteFact } from '../support/proof.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** From the narrowest phone to a large screen: no page scrolls sideways, and no text is cut without a sign that it is. */
const WIDTHS = [320, 390, 768, 1024, 1280, 1440, 1920]
const PICTURED = [320, 390, 768, 1024, 1280, 1440, 1920]

let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
  await stage.fillOffice()
})
afterAll(async () => {
  await stage.stop()
  await service.stop()
})

const languages = ['en', 'pt-BR'] as const
/** Both languages are for `npm run prove`; every test run takes them in turn. */
const visits = consolePages.flatMap((each, i) =>
  (everything ? languages : [languages[i % 2]!]).map((language) => ({ ...each, language })),
)

let views = 0
afterAll(() =>
  noteFact(
    `${consolePages.length} pages and states of pages at ${WIDTHS.length} widths from ${WIDTHS[0]} to ${WIDTHS.at(-1)} pixels (${views} views): none scrolls sideways, none cuts a text without an ellipsis or a tooltip`,
  ),
)

/** What is wider than the window, and what is cut: by overflow that shows neither an ellipsis nor a bar to scroll. */
const faultsOf = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const name = (one) => one.tagName.toLowerCase() + '.' + [...one.classList].join('.') + ' "' + one.innerText?.trim().slice(0, 40) + '"'
    const faults = []
    const root = document.scrollingElement
    if (root.scrollWidth > innerWidth) {
      const over = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      faults.push('wider by ' + (root.scrollWidth - innerWidth) + ': ' + over.slice(-3).map(name).join(' | '))
    }
    for (const one of document.body.querySelectorAll('*')) {
      const style = getComputedStyle(one)
      if (one.scrollWidth <= one.clientWidth + 1 || one.clientWidth < 2 || style.clipPath !== 'none') continue
      if (one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement || one instanceof SVGElement) continue
      if (one.closest('.cols > *') === one && style.overflowX === 'visible') faults.push('over its column: ' + name(one))
      const cut = ['hidden', 'clip'].includes(style.overflowX)
      if (cut && style.textOverflow !== 'ellipsis' && one.closest('[title]') === null) faults.push('cut: ' + name(one))
    }
    return faults
  })()`)

/** The faults that are still there when everything has found its place. */
async function lastingFaults(page: Page): Promise<string[]> {
  let faults: string[] = []
  const isFree = async () => (faults = await faultsOf(page)).length === 0
  await until(isFree, 20_000).catch(() => undefined)
  return faults
}

test.each(visits)(
  '$name, $language: every width',
  async ({ name, who, path, language }) => {
    if (name === 'operator-desk' || name === 'overview') await stage.leaveUnanswered()
    const faults: string[] = []
    await browse({ url: service.url, ...visitorOf(stage, who), language, again: true }, async (visitor) => {
      const { page } = visitor
      if (who === 'nobody') visitor.allow(/status of 404 .*\/links\/look$/)
      await visitor.visit(path(stage))
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        // The lists choose their columns anew a moment after the window has another width.
        faults.push(...(await lastingFaults(page)).map((fault) => `${width}: ${fault}`))
        if (PICTURED.includes(width)) await visitor.screenshot(`${name}-${language}-${width}`)
        views += 1
      }
    })
    expect(faults).toEqual([])
  },
  600_000,
)
