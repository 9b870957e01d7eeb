/** Charts as SVG, readable on light and on dark pages. */

const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.quiet { fill: #59636e }
.bar { fill: #2f6fd0 }
.other { fill: #9aa4b0 }
.mark { stroke: #b3261e; stroke-width: 1.5; stroke-dasharray: 4 3 }
.dot { fill: #2f6fd0 }
.over { fill: #b3261e }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .quiet { fill: #9198a1 } .bar, .dot { fill: #6aa5ff } .other { fill: #59636e } .mark { stroke: #ff8a80 } .over { fill: #ff8a80 }
}
</style>`

const WIDTH = 720
const LABELS = 280
const VALUES = 90
const ROW = 26
const TOP = 44

export type Bar = {
  readonly label: string
  readonly value: number
  readonly text?: string
  /** A baseline, drawn in another colour. */
  readonly other?: boolean
}

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')

function frame(height: number, title: string, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
${STYLE}
<text x="0" y="18" class="title">${escaped(title)}</text>
${body}
</svg>
`
}

/** `mark` draws a line across the bars at this value. */
export function barChart(
  title: string,
  bars: readonly Bar[],
  mark?: { value: number; text: string },
): string {
  const most = Math.max(...bars.map(({ value }) => value), mark?.value ?? 0, 1e-9)
  const widthOf = (value: number) => Math.round((value / most) * (WIDTH - LABELS - VALUES))
  const rows = bars.map(({ label, value, text, other }, i) => {
    const y = TOP + i * ROW
    const end = LABELS + widthOf(value)
    return `<text x="${LABELS - 8}" y="${y + 12}" text-anchor="end">${escaped(label)}</text>
<rect class="${other ? 'other' : 'bar'}" x="${LABELS}" y="${y}" width="${Math.max(1, end - LABELS)}" height="16" rx="2"/>
<text x="${end + 6}" y="${y + 12}" class="quiet">${escaped(text ?? String(value))}</text>`
  })
  const bottom = TOP + bars.length * ROW
  if (mark) {
    const x = LABELS + widthOf(mark.value)
    rows.push(`<line class="mark" x1="${x}" y1="${TOP - 8}" x2="${x}" y2="${bottom - 4}"/>
<text x="${x}" y="${bottom + 12}" text-anchor="middle" class="quiet">${escaped(mark.text)}</text>`)
  }
  return frame(bottom + (mark ? 20 : 0), title, rows.join('\n'))
}

/** Draws sorted values as dots, and a line that none should exceed. */
export function dotChart(
  title: string,
  values: readonly number[],
  mark: { value: number; text: string },
): string {
  const height = 220
  const sorted = [...values].sort((a, b) => a - b)
  const most = Math.max(mark.value * 1.2, ...sorted)
  const yOf = (value: number) => Math.round(height - 20 - (value / most) * (height - 60))
  const xOf = (i: number) => 40 + Math.round((i / Math.max(1, sorted.length - 1)) * (WIDTH - 60))
  const dots = sorted.map(
    (value, i) =>
      `<circle class="${value > mark.value ? 'over' : 'dot'}" cx="${xOf(i)}" cy="${yOf(value)}" r="3"/>`,
  )
  const scale = [0.5, 1, 1.5, 2, 3, 5, 10, 20, 50]
    .filter((value) => value <= most)
    .map((value) => `<text x="30" y="${yOf(value) + 4}" text-anchor="end" class="quiet">${value}</text>`)
  const y = yOf(mark.value)
  return frame(
    height,
    title,
    [
      ...scale,
      `<line class="mark" x1="40" y1="${y}" x2="${WIDTH - 20}" y2="${y}"/>`,
      `<text x="44" y="${y - 6}" class="quiet">${escaped(mark.text)}</text>`,
      ...dots,
    ].join('\n'),
  )
}
