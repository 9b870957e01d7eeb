import { readFileSync } from 'node:fs'
import * as fontkit from 'fontkit'
import { PDFDocument } from 'pdfkit'
import { toBytes } from 'pdfkit/output'
import { drawableText, SUBSTITUTE } from './drawable-text.ts'
import type { ReceiptPage, ReceiptRow, ReceiptSection } from './page.ts'
import { unpackWoff } from './woff.ts'

/** Draws a receipt in the look of the console, on one A4 page unless its texts are extremely long. */

/** Points. The label column ends where the value column begins. */
const PAGE = { width: 595.28, height: 841.89 }
const LEFT = 56
const RIGHT = PAGE.width - 56
const VALUES = 206
const FOOT = PAGE.height - 44
/** Rows end here: the foot has up to three lines. */
const ROWS_END = FOOT - 54

/** The light values of console/src/ui/tokens.css, as sRGB. */
const colours = {
  ink: '#19231f',
  quiet: '#4f5955',
  faint: '#656e6b',
  accent: '#036654',
  line: '#e1e5e3',
  rail: '#b1bab5',
  good: '#287141',
  warn: '#965d0d',
  warn_soft: '#fdf4e0',
  watermark: '#f4efe4',
} as const

/** The mark of the console, in a box of 24. */
const MARK = 'M8 2v12.5A6.5 6.5 0 0 0 14.5 21H20M13 2v12a2.2 2.2 0 0 0 2.2 2.2H20M3.5 8h14.5'

const fonts = {
  sans: openFont('IBMPlexSans-Regular.woff'),
  strong: openFont('IBMPlexSans-SemiBold.woff'),
  code: openFont('IBMPlexMono-Regular.woff'),
} as const

function openFont(file: string): fontkit.Font {
  return fontkit.create(unpackWoff(readFileSync(new URL(`./fonts/${file}`, import.meta.url))))
}

type Style = {
  readonly font: keyof typeof fonts
  readonly size: number
  readonly colour: keyof typeof colours
}

const styles = {
  brand: { font: 'strong', size: 13, colour: 'ink' },
  partner: { font: 'sans', size: 9.5, colour: 'quiet' },
  banner: { font: 'strong', size: 10, colour: 'warn' },
  explanation: { font: 'sans', size: 9, colour: 'warn' },
  title: { font: 'sans', size: 13, colour: 'quiet' },
  amount: { font: 'strong', size: 30, colour: 'ink' },
  status: { font: 'strong', size: 10.5, colour: 'good' },
  ended: { font: 'sans', size: 9.5, colour: 'quiet' },
  section: { font: 'strong', size: 10.5, colour: 'ink' },
  label: { font: 'sans', size: 9, colour: 'quiet' },
  value: { font: 'sans', size: 9.5, colour: 'ink' },
  code: { font: 'code', size: 8.25, colour: 'ink' },
  link: { font: 'code', size: 8.25, colour: 'accent' },
  note: { font: 'sans', size: 8, colour: 'faint' },
} as const satisfies Record<string, Style>

const LEADING = 1.36

export async function drawReceipt(page: ReceiptPage): Promise<Uint8Array> {
  const sheet = openSheet(page)
  drawHead(sheet, page)
  drawSum(sheet, page)
  for (const section of page.sections) drawSection(sheet, section)
  drawFoot(sheet, page)
  return sheet.finish()
}

type Place = { readonly x: number; readonly y: number }

/** The page under the pen. Heights are baselines, counted from the top. */
type Sheet = {
  readonly doc: PDFDocument
  /** Where the next block begins. */
  y: number
  /** Goes on a new page if the block does not fit on this one. */
  reserve(height: number): void
  /** The text as it is drawn. */
  drawable(text: string): string
  width(drawn: string, style: Style): number
  /** Breaks at spaces, and inside a word only if the word is wider than the line. */
  lines(text: string, style: Style, width: number): string[]
  /** One line of text, with its tag for screen readers. */
  write(drawn: string, style: Style, at: Place, tag?: string): void
  /** Lines and shapes that screen readers leave out. */
  decorate(draw: (doc: PDFDocument) => void): void
  finish(): Promise<Uint8Array>
}

const locales = { pt: 'pt-BR', en: 'en' } as const

function openSheet(page: ReceiptPage): Sheet {
  const date = new Date(page.dated)
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    // Compressed bytes differ between versions of zlib, and the same receipt has the same bytes on every node.
    compress: false,
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang: locales[page.language],
    info: { Title: page.title, Producer: 'Trilho', Creator: 'Trilho', CreationDate: date, ModDate: date },
  })
  for (const [name, font] of Object.entries(fonts)) doc.registerFont(name, font)
  const root = doc.struct('Document')
  doc.addStructure(root)
  const hasGlyph = (code_point: number) =>
    Object.values(fonts).every((font) => font.hasGlyphForCodePoint(code_point))

  const width = (drawn: string, { font, size }: Style) => doc.font(font).fontSize(size).widthOfString(drawn)
  const drawable = (text: string) => drawableText(text, hasGlyph)
  const sheet: Sheet = {
    doc,
    y: 0,
    reserve(height) {
      if (sheet.y + height <= ROWS_END) return
      doc.addPage()
      drawHead(sheet, page)
      // A loose second page says which receipt it belongs to.
      sheet.y += 24
      sheet.write(`${page.title}, ${page.amount}`, styles.ended, { x: LEFT, y: sheet.y })
      sheet.y += 10
    },
    drawable,
    width,
    lines: (text, style, most) => breakLines(drawable(text), (part) => width(part, style) <= most),
    write(drawn, { font, size, colour }, { x, y }, tag = 'P') {
      const content = doc.markStructureContent(tag)
      doc.font(font).fontSize(size).fillColor(colours[colour])
      doc.text(drawn, x, y, { lineBreak: false, baseline: 'alphabetic' })
      doc.endMarkedContent()
      root.add(doc.struct(tag, content))
    },
    decorate(draw) {
      doc.markContent('Artifact', { type: 'Layout' })
      draw(doc.save())
      doc.restore()
      doc.endMarkedContent()
    },
    finish() {
      root.end()
      doc.end()
      return toBytes(doc)
    },
  }
  return sheet
}

function breakLines(text: string, fits: (part: string) => boolean): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (fits(longer)) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    line = word
    while (!fits(line)) {
      const count = countFitting([...line], fits)
      lines.push([...line].slice(0, count).join(''))
      line = [...line].slice(count).join('')
    }
  }
  return [...lines, line]
}

/** How many of the characters fit on one line: at least one. */
function countFitting(characters: readonly string[], fits: (part: string) => boolean): number {
  let some = 1
  let all = characters.length
  while (some < all) {
    const half = Math.ceil((some + all) / 2)
    if (fits(characters.slice(0, half).join(''))) some = half
    else all = half - 1
  }
  return some
}

/** The motif of the console: two parallel lines. */
function drawRails(
  sheet: Sheet,
  { x, y }: Place,
  width: number,
  colour: keyof typeof colours = 'rail',
): void {
  sheet.decorate((doc) => {
    doc.lineWidth(0.75).strokeColor(colours[colour])
    for (const at of [y, y + 2.5]) doc.moveTo(x, at).lineTo(x + width, at)
    doc.stroke()
  })
}

/** The head of every page. A page of a sandbox receipt says that it has no value. */
function drawHead(sheet: Sheet, { partner, sandbox }: ReceiptPage): void {
  if (sandbox) {
    drawWatermark(sheet, sandbox.watermark)
    drawSleepers(sheet)
  }
  sheet.decorate((doc) => {
    doc
      .translate(LEFT - 3, 41)
      .lineWidth(2.2)
      .strokeColor(colours.accent)
      .path(MARK)
      .stroke()
  })
  sheet.write('trilho', styles.brand, { x: LEFT + 25, y: 58 })
  const [first = '', ...others] = sheet.lines(partner, styles.partner, RIGHT - LEFT - 120)
  const shown = others.length > 0 ? `${first}…` : first
  sheet.write(shown, styles.partner, { x: RIGHT - sheet.width(shown, styles.partner), y: 58 })
  drawRails(sheet, { x: 0, y: 80 }, PAGE.width)
  sheet.y = 82
  if (sandbox) drawBanner(sheet, sandbox)
}

/** In the console a strip of sleepers marks the sandbox. */
function drawSleepers(sheet: Sheet): void {
  sheet.decorate((doc) => {
    for (let x = 3; x < PAGE.width; x += 12) doc.rect(x, 0, 5, 9)
    doc.fill(colours.warn)
  })
}

function drawBanner(sheet: Sheet, { banner, explanation }: NonNullable<ReceiptPage['sandbox']>): void {
  const top = sheet.y + 14
  sheet.decorate((doc) => doc.rect(LEFT, top, RIGHT - LEFT, 40).fill(colours.warn_soft))
  sheet.write(banner, styles.banner, { x: LEFT + 12, y: top + 17 })
  sheet.write(explanation, styles.explanation, { x: LEFT + 12, y: top + 31 })
  sheet.y = top + 40
}

function drawWatermark(sheet: Sheet, text: string): void {
  const style: Style = { font: 'strong', size: 104, colour: 'watermark' }
  const width = sheet.width(text, style)
  sheet.decorate((doc) => {
    doc.rotate(-52, { origin: [PAGE.width / 2, PAGE.height / 2] })
    doc.fillColor(colours.watermark)
    const at = { x: (PAGE.width - width) / 2, y: PAGE.height / 2 + 60 }
    doc.text(text, at.x, at.y, { lineBreak: false, baseline: 'alphabetic' })
  })
}

/** Title, amount and status. */
function drawSum(sheet: Sheet, { title, amount, status, ended }: ReceiptPage): void {
  const top = sheet.y
  sheet.write(title, styles.title, { x: LEFT, y: top + 34 }, 'H1')
  const style = fitted(sheet, amount, styles.amount)
  sheet.write(amount, style, { x: LEFT, y: top + 70 })
  drawRails(sheet, { x: LEFT, y: top + 79 }, sheet.width(amount, style), 'ink')
  const y = top + 103
  sheet.decorate((doc) => {
    doc.translate(LEFT, y - 10.5).scale(0.95)
    doc.circle(7, 7, 6.2).fill(colours.good)
    doc.path('m4.2 7.2 2 2 3.7-4.2').lineWidth(1.6).lineCap('round').lineJoin('round').stroke('#ffffff')
  })
  sheet.write(status, styles.status, { x: LEFT + 19, y })
  sheet.write(ended, styles.ended, { x: LEFT + 19 + sheet.width(`${status}   `, styles.status), y })
  sheet.y = y + 12
}

/** The style in a size in which the text fits between the margins. */
function fitted(sheet: Sheet, text: string, style: Style): Style {
  const size = (style.size * (RIGHT - LEFT)) / sheet.width(text, style)
  return { ...style, size: Math.min(style.size, Math.floor(size)) }
}

function drawSection(sheet: Sheet, { title, rows }: ReceiptSection): void {
  sheet.reserve(19 + 6 + rowHeight(1))
  sheet.y += 19
  sheet.write(title, styles.section, { x: LEFT, y: sheet.y }, 'H2')
  sheet.y += 6
  for (const row of rows) drawRow(sheet, row)
}

/** No value that the API accepts is longer; a longer one, from a rail, ends with an ellipsis. */
const LINES_MAX = 6
const ROW_PAD = 4.2
const ROW_LEADING = styles.value.size * LEADING
const rowHeight = (lines: number) => 2 * ROW_PAD + lines * ROW_LEADING

function drawRow(sheet: Sheet, { label, value, is_code, link }: ReceiptRow): void {
  const style = link ? styles.link : is_code ? styles.code : styles.value
  const all = sheet.lines(value, style, RIGHT - VALUES)
  const lines = all.length > LINES_MAX ? [...all.slice(0, LINES_MAX - 1), `${all[LINES_MAX - 1]}…`] : all
  sheet.reserve(rowHeight(lines.length))
  sheet.decorate((doc) =>
    doc.moveTo(LEFT, sheet.y).lineTo(RIGHT, sheet.y).lineWidth(0.6).stroke(colours.line),
  )
  const first = sheet.y + ROW_PAD + styles.value.size
  sheet.write(label, styles.label, { x: LEFT, y: first })
  for (const [i, line] of lines.entries()) {
    const at = { x: VALUES, y: first + i * ROW_LEADING }
    sheet.write(line, style, at)
    if (link) sheet.doc.link(at.x, at.y - style.size, sheet.width(line, style), ROW_LEADING, link)
  }
  sheet.y += rowHeight(lines.length)
}

function drawFoot(sheet: Sheet, { notes, substitute_note, sections, partner }: ReceiptPage): void {
  const values = [partner, ...sections.flatMap(({ rows }) => rows.map(({ value }) => value))]
  const has_substitute = values.some((value) => sheet.drawable(value).includes(SUBSTITUTE))
  const text = [...notes, ...(has_substitute ? [substitute_note] : [])].join(' ')
  const lines = sheet.lines(text, styles.note, RIGHT - LEFT)
  const leading = styles.note.size * LEADING
  const top = FOOT - lines.length * leading
  drawRails(sheet, { x: LEFT, y: top - 14 }, RIGHT - LEFT)
  for (const [i, line] of lines.entries())
    sheet.write(line, styles.note, { x: LEFT, y: top + i * leading + 4 })
}
