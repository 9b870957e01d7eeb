import { useId, useState } from 'react'
import { useLanguage, useText } from '../text/text.tsx'
import { Button } from '../ui/button.tsx'
import './chart.css'
import { axisText, heightOf, namedEvery, roomFor, startText, ticksFor } from './scale.ts'

export type Bar = {
  /** A date, or the start time of an hour. */
  readonly start: string
  readonly completed: bigint
  readonly failed: bigint
}

type Props = {
  /** A sentence that describes the chart, for screen readers. */
  readonly label: string
  readonly bars: readonly Bar[]
  /** Decimals of the figures; 0 for counts. */
  readonly decimals: number
  /** Formats the value of a bar for the table. */
  readonly figure: (value: bigint) => string
  /** The colour: that of an asset, or a neutral one for counts. */
  readonly look: 'brl' | 'usdt' | 'btc' | 'count'
  /** The names of the two parts of a bar, if they are not completed and failed. */
  readonly names?: { readonly completed: string; readonly failed: string }
  /** A further column of the table, one text per bar. */
  readonly more?: { readonly head: string; readonly cells: readonly string[] }
}

/**
 * Bars from zero, failed amounts stacked above completed ones, the current day pale; or the same as a table. Screen readers get
 * the table in any case.
 */
export function Bars(props: Props) {
  const { charts } = useText().overview
  const [as_table, setAsTable] = useState(false)
  const id = useId()
  return (
    <figure className={`figure ${props.look}`}>
      <div id={id}>
        {as_table ? (
          <BarTable {...props} />
        ) : (
          <>
            <Drawing {...props} width={760} height={214} className="chart no-phone" />
            <Drawing {...props} width={358} height={170} className="chart only-phone" />
            <div className="vh">
              <BarRows {...props} />
            </div>
          </>
        )}
      </div>
      <Button small kind="plain" aria-controls={id} onClick={() => setAsTable(!as_table)}>
        {as_table ? charts.as_chart : charts.as_table}
      </Button>
    </figure>
  )
}

type DrawingProps = Props & { readonly width: number; readonly height: number; readonly className: string }

const TOP = 8
const BELOW = 22
/** Gap between the completed part of a bar and the failed part above it. */
const GAP = 2

function Drawing({ label, bars, decimals, width, height, className }: DrawingProps) {
  const { language } = useLanguage()
  const highest = bars.reduce((most, bar) => {
    const all = bar.completed + bar.failed
    return all > most ? all : most
  }, 0n)
  const ticks = ticksFor(highest)
  const words = ticks.map((tick) => axisText(tick, decimals, language))
  const left = roomFor(words)
  const top = ticks.at(-1)!
  const floor = height - BELOW
  const points = floor - TOP
  const slot = (width - left) / bars.length
  const every = namedEvery(bars.length)
  return (
    <svg className={className} viewBox={`0 0 ${width} ${height}`} width="100%" role="img" aria-label={label}>
      {ticks.map((tick, i) => {
        const y = floor - heightOf(tick, top, points)
        return (
          <g key={tick.toString()}>
            <line className={tick === 0n ? 'axis' : 'grid'} x1={left} x2={width} y1={y} y2={y} />
            <text x={left - 8} y={y + 4} textAnchor="end">
              {words[i]}
            </text>
          </g>
        )
      })}
      {bars.map((bar, i) => {
        const x = left + slot * (i + 0.18)
        const done = heightOf(bar.completed, top, points)
        const lost = bar.failed === 0n ? 0 : Math.max(2, heightOf(bar.failed, top, points))
        const last = i === bars.length - 1
        return (
          <g key={bar.start} opacity={last ? 0.45 : undefined}>
            <rect className="bars" x={x} y={floor - done} width={slot * 0.64} height={done} />
            {lost > 0 && (
              <rect
                className="lost"
                x={x}
                y={Math.max(0, floor - done - lost - GAP)}
                width={slot * 0.64}
                height={lost}
              />
            )}
          </g>
        )
      })}
      {bars.map((bar, i) =>
        (bars.length - 1 - i) % every !== 0 ? null : (
          <text
            key={bar.start}
            x={i === bars.length - 1 ? width : left + slot * (i + 0.5)}
            y={height - 5}
            textAnchor={i === bars.length - 1 ? 'end' : 'middle'}
          >
            {startText(bar.start, language)}
          </text>
        ),
      )}
    </svg>
  )
}

function BarTable(props: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: it is a place to scroll in, not a part of the page
    <div className="chart-table" tabIndex={0} role="region" aria-label={props.label}>
      <BarRows {...props} />
    </div>
  )
}

function BarRows({ label, bars, figure, names, more }: Props) {
  const { charts } = useText().overview
  const { language } = useLanguage()
  return (
    <table className="t flat snug">
      <caption className="vh">{label}</caption>
      <thead>
        <tr>
          <th scope="col">{charts.when}</th>
          <th scope="col" className="r">
            {names?.completed ?? charts.completed}
          </th>
          <th scope="col" className="r">
            {names?.failed ?? charts.failed}
          </th>
          {more !== undefined && (
            <th scope="col" className="r">
              {more.head}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {bars.map((bar, i) => (
          <tr key={bar.start}>
            <th scope="row">{startText(bar.start, language)}</th>
            <td className="r">{figure(bar.completed)}</td>
            <td className="r">{figure(bar.failed)}</td>
            {more !== undefined && <td className="r">{more.cells[i]}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
