import { shareBps } from '../format/amount.ts'

type Props = {
  readonly used: string | bigint
  readonly of: string | bigint
  readonly label: string
  /** Shows the share that is left instead of the share used. */
  readonly emptying?: boolean
}

const HOT_BPS = 8_000

/** The share of a limit that is used or left; highlighted in the last fifth. */
export function Meter({ used, of, label, emptying = false }: Props) {
  const bps = Math.min(10_000, shareBps(used, of))
  const hot = emptying ? bps <= 10_000 - HOT_BPS : bps >= HOT_BPS
  return (
    // biome-ignore lint/a11y/useSemanticElements: the browser's own cannot be drawn on the tokens
    <div
      className={hot ? 'meter hot' : 'meter'}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={bps / 100}
    >
      <i style={{ width: `${bps / 100}%` }} />
    </div>
  )
}
