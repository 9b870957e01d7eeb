import { heightOf } from './scale.ts'
import './chart.css'

type Props = {
  /** The balance at the end of each day; null before the first entry. */
  readonly values: readonly (bigint | null)[]
  readonly look: 'brl' | 'usdt' | 'btc'
  /** The chart in words, for screen readers. */
  readonly label: string
}

const WIDTH = 116
const LOW = 29
const HIGH = 3

/** The balance day by day as a step line, the last day marked. */
export function StepLine({ values, look, label }: Props) {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return null
  const lowest = known.reduce((a, b) => (b < a ? b : a))
  const span = known.reduce((a, b) => (b > a ? b : a)) - lowest
  const step = WIDTH / Math.max(1, values.length - 1)
  // A balance that never changed is drawn along the middle.
  const y = (value: bigint) =>
    span === 0n ? (LOW + HIGH) / 2 : LOW - heightOf(value - lowest, span, LOW - HIGH)
  const first = values.findIndex((value) => value !== null)
  const path = values
    .slice(first)
    .map((value, i) => {
      const at = y(value!).toFixed(1)
      return i === 0 ? `M${(first * step).toFixed(1)} ${at}` : `H${((first + i) * step).toFixed(1)}V${at}`
    })
    .join('')
  return (
    <svg
      className={`spark ${look}`}
      width="120"
      height="34"
      viewBox="0 0 120 34"
      fill="none"
      role="img"
      aria-label={label}
    >
      <path className="ground" d={`M0 33.5h${WIDTH}`} />
      <path className="line" d={path} />
      <circle className="end" cx={WIDTH} cy={y(known.at(-1)!)} r="2.5" />
    </svg>
  )
}
