import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { expect } from 'vitest'
import type { Person } from './console.ts'

const require = createRequire(import.meta.url)

/** Its own flags switch off what browsers guard against other sites: that is under test here. */
const FLAGS = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none']

/**
 * Where the browser of the package is unpacked, once per machine. It comes with the libraries that a bare machine lacks. The
 * package unpacks into the folder for temporary files and takes a half-written file for a whole one, so it works in a folder
 * of its own, which gets its name when everything is there.
 */
function unpacked(): string {
  const entry = require.resolve('@sparticuz/chromium')
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '../../package.json'), 'utf8'))
  const place = join(tmpdir(), `trilho-chromium-${version}-${userInfo().uid}`)
  if (existsSync(place)) return place
  const making = mkdtempSync(`${place}-`)
  const script = `import(${JSON.stringify(entry)}).then((all) => (all.default.default ?? all.default).executablePath())`
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], {
    // Where it believes to be decides whether it brings the libraries too.
    env: { ...process.env, TMPDIR: making, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the browser could not be unpacked: ${stderr}`)
  try {
    renameSync(making, place)
  } catch {
    // Another process was quicker.
    rmSync(making, { recursive: true, force: true })
  }
  return place
}

async function launch(): Promise<Browser> {
  const place = unpacked()
  const executablePath = join(place, 'chromium')
  try {
    return await chromium.launch({ executablePath, args: FLAGS })
  } catch {
    const env = {
      ...process.env,
      LD_LIBRARY_PATH: [join(place, 'al2023', 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
      FONTCONFIG_PATH: join(place, 'fonts'),
    } as Record<string, string>
    return chromium.launch({ executablePath, args: FLAGS, env })
  }
}

let browser: Promise<Browser> | undefined

/** One for all test files of a worker; it ends with the worker. */
export const openBrowser = (): Promise<Browser> => (browser ??= launch())

/** Of a picture; lists go on below it. */
const TALLEST = 1400

export const widths = { desktop: 1440, phone: 390 } as const
export const themes = ['light', 'dark'] as const

type Look = {
  readonly theme: (typeof themes)[number]
  readonly place: keyof typeof widths
  readonly width: number
  readonly language: 'en' | 'pt-BR'
}

const everyLook: readonly Look[] = themes.flatMap((theme) =>
  (Object.keys(widths) as Look['place'][]).map((place) => ({
    theme,
    place,
    width: widths[place],
    language: theme === 'dark' ? ('pt-BR' as const) : ('en' as const),
  })),
)

/** All four are for `npm run prove`, and for pictures; every test run takes the one in which most goes wrong. */
export const everything = process.env.PROVE !== undefined || process.env.SCREENSHOTS !== undefined
export const looks: readonly Look[] = everything
  ? everyLook
  : everyLook.filter(({ theme, place }) => theme === 'dark' && place === 'phone')

export type VisitOptions = {
  readonly url: string
  /** Whose session it has; nobody's when left out. */
  readonly as?: Person | undefined
  readonly theme?: (typeof themes)[number]
  readonly width?: number
  readonly height?: number
  readonly language?: 'en' | 'pt-BR'
  readonly zone?: string
  readonly forced_colours?: boolean
  readonly reduced_motion?: boolean
  /** Comes again as somebody who was here before, with what the browser kept: far less work than a first visit. */
  readonly again?: true
}

/**
 * Acts, and waits until the page has shown this text, if only for a moment: the page itself looks after every change, because a
 * question from here may come too late on a busy machine.
 */
export async function showsAfter(page: Page, text: string, act: () => Promise<void>): Promise<void> {
  await page.evaluate(`(() => {
    window.has_shown = false
    new MutationObserver((_, observer) => {
      if (!document.body.innerText.includes(${JSON.stringify(text)})) return
      window.has_shown = true
      observer.disconnect()
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  })()`)
  await act()
  await page.waitForFunction('window.has_shown')
}

/** A page of the console and what went wrong on it. */
export type Visitor = {
  readonly page: Page
  readonly context: BrowserContext
  /** Below /console; waits until nothing is loading any more. */
  visit(path: string): Promise<void>
  /** Waits until nothing is loading: no bars, no call under way. */
  settled(): Promise<void>
  /** Faults that belong to what is tested, as of a call that must be refused. */
  allow(fault: RegExp): void
  /** No serious finding of the rules for everybody's access. */
  axe(): Promise<void>
  /** Nothing is wider than the window, nor than the column it stands in. */
  fits(): Promise<void>
  /** To be looked at: under $SCREENSHOTS, or nowhere. */
  screenshot(name: string): Promise<void>
}

/** Opens a page, and fails unless the visit was without an error, a report of the policy or a request to elsewhere. */
export async function browse(
  options: VisitOptions,
  work: (visitor: Visitor) => Promise<void>,
): Promise<void> {
  const { context, page, faults, allowed } = await enter(options)
  try {
    await work(visitorOf(page, context, options, allowed))
    expect(faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault)))).toEqual([])
  } finally {
    await (options.again ? page : context).close()
  }
}

/** Of those who come again, by who they are and how they look. */
const kept = new Map<string, Promise<BrowserContext>>()

function contextOf(options: VisitOptions): Promise<BrowserContext> {
  if (!options.again) return openContext(options)
  const { url, as, theme, width, language } = options
  const key = JSON.stringify([url, as?.user.id, theme, width, language])
  const known = kept.get(key) ?? openContext(options)
  kept.set(key, known)
  return known
}

async function openContext(options: VisitOptions): Promise<BrowserContext> {
  const { width = widths.desktop, height = 900, theme = 'light', language = 'en' } = options
  return (await openBrowser()).newContext({
    viewport: { width, height },
    colorScheme: theme,
    locale: language,
    timezoneId: options.zone ?? 'America/Sao_Paulo',
    reducedMotion: options.reduced_motion === false ? 'no-preference' : 'reduce',
    forcedColors: options.forced_colours ? 'active' : 'none',
    hasTouch: width < 720,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
}

async function enter(options: VisitOptions) {
  const context = await contextOf(options)
  const page = await context.newPage()
  const faults: string[] = []
  watch(page, options.url, faults)
  if (options.as) await signIn(page, options.url, options.as)
  return { context, page, faults, allowed: [] as RegExp[] }
}

/** A violation of the policy is said on the console of the browser, as an error. */
function watch(page: Page, url: string, faults: string[]): void {
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      faults.push(`${message.type()}: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`))
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    // What the page itself gave up, as when one goes on before an answer came.
    if (why !== 'net::ERR_ABORTED') faults.push(`failed: ${request.method()} ${request.url()} ${why}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
      faults.push(`elsewhere: ${request.url()}`)
  })
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

/** A code works once, so whoever comes again comes with the session of before. */
const sessions = new Map<string, Cookies>()

async function signIn(page: Page, url: string, person: Person): Promise<void> {
  const key = `${url} ${person.user.id}`
  const before = sessions.get(key)
  if (before) return page.context().addCookies(before)
  await page.goto(`${url}/console/mark.svg`)
  const { email } = person.user
  const code = person.code()
  const body = { email, password: person.password, ...(code === '' ? {} : { code }) }
  const status = await page.evaluate(async (text) => {
    const answer = await fetch('/console/api/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    })
    return answer.status
  }, JSON.stringify(body))
  expect(status, `${email} signs in`).toBe(200)
  sessions.set(key, await page.context().cookies())
}

/** The session of this person is no longer one: after a sign-out or a new token. */
export const forgetSession = (url: string, person: Person): void =>
  void sessions.delete(`${url} ${person.user.id}`)

/** How long a page may take to end its calls: some never end, as one that waits for news. */
const CALLS_MS = 30_000

/** Frames without a call under way, after which a page counts as settled; a picture waits for more of them. */
const SETTLED_FRAMES = 2
const PICTURE_FRAMES = 5

/** Resolves when no call of the page is under way, nor one that follows from its answer. */
function callsOf(page: Page): { ended(frames: number): Promise<void> } {
  const under_way = new Set<Request>()
  // A page that is opened for the first time is a script that must be loaded before it can ask.
  const isCall = (call: Request) => ['fetch', 'script'].includes(call.resourceType())
  page.on('request', (call) => void (isCall(call) && under_way.add(call)))
  page.on('requestfinished', (call) => void under_way.delete(call))
  page.on('requestfailed', (call) => void under_way.delete(call))
  return {
    async ended(frames) {
      const until = Date.now() + CALLS_MS
      for (let quiet = 0; quiet < frames && Date.now() < until; ) {
        await page.evaluate(
          'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
        )
        const busy = under_way.size > 0 || (await page.locator('[aria-busy="true"]').count()) > 0
        quiet = busy ? 0 : quiet + 1
      }
    },
  }
}

function visitorOf(page: Page, context: BrowserContext, options: VisitOptions, allowed: RegExp[]): Visitor {
  const calls = callsOf(page)
  const settled = async () => {
    await page.waitForLoadState('load')
    await page.locator('#console > *').first().waitFor({ state: 'attached' })
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    // A page that keeps what it showed until the answer comes is not busy, and still shows what was asked for before.
    await calls.ended(SETTLED_FRAMES)
    await page.evaluate('document.fonts.ready.then(() => undefined)')
  }
  return {
    page,
    context,
    settled,
    async visit(path) {
      await page.goto(`${options.url}/console${path}`)
      await settled()
    },
    allow: (fault) => void allowed.push(fault),
    async axe() {
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
        .analyze()
      expect(
        violations.flatMap(({ id, impact, nodes }) =>
          nodes.map(({ html }) => `${impact} ${id}: ${html.slice(0, 200)}`),
        ),
      ).toEqual([])
    },
    async fits() {
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
      expect(over, 'wider than the window by').toBeLessThanOrEqual(0)
      const columns = await page.evaluate<string[]>(`[...document.querySelectorAll('.cols > *')]
        .filter((one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX === 'visible')
        .map((one) => one.innerText.slice(0, 40) + ': ' + (one.scrollWidth - one.clientWidth))`)
      expect(columns, 'over the edge of its column').toEqual([])
    },
    async screenshot(name) {
      const folder = process.env.SCREENSHOTS
      if (folder === undefined) return
      mkdirSync(folder, { recursive: true })
      await calls.ended(PICTURE_FRAMES)
      // As tall as the page, so that what stands beside it reaches down to its end. A dialog covers the window.
      const { width, height } = page.viewportSize() ?? { width: widths.desktop, height: 900 }
      const whole = (await page.locator('dialog[open]').count())
        ? height
        : await page.evaluate<number>('document.documentElement.scrollHeight')
      await page.setViewportSize({ width, height: Math.min(Math.max(whole, height), TALLEST) })
      await page.screenshot({ path: join(folder, `${name}.png`) })
      await page.setViewportSize({ width, height })
    },
  }
}
