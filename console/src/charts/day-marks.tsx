import './chart.css'

type Props = {
  /** One for each day or hour. */
  readonly marks: readonly ('none' | 'good' | 'bad')[]
  /** The chart in words, for screen readers. */
  readonly label: string
}

const WIDTH = 104
/** Top and height of each mark. */
const shapes = { none: [5.5, 3], good: [3, 8], bad: [0, 14] } as const

/** One mark per day or hour, like the ties of a rail: short if no order ended, tall and red if too many failed. */
export function DayMarks({ marks, label }: Props) {
  const slot = WIDTH / marks.length
  return (
    <svg className="ties" width={WIDTH} height="14" viewBox={`0 0 ${WIDTH} 14`} role="img" aria-label={label}>
      {marks.map((mark, i) => {
        const [y, height] = shapes[mark]
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: the order is that of time
            key={i}
            x={i * slot}
            y={y}
            width={Math.min(2, slot * 0.6)}
            height={height}
            className={mark === 'bad' ? 'x' : undefined}
          />
        )
      })}
    </svg>
  )
}
