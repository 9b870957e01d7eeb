import { amountParts } from '../format/amount.ts'
import { useLanguage } from '../text/text.tsx'

type Props = {
  /** Smallest units, as in the API. */
  readonly units: string | bigint
  readonly asset: string
  /** `full` with R$ or the code; `bare` where the heading names the asset; `column` with the code in a column of its own. */
  readonly as?: 'full' | 'bare' | 'column'
  /** Lists of changes show `+`. */
  readonly change?: boolean
  /** Closes a sum with the double line. */
  readonly total?: boolean
}

export function Amount({ units, asset, as = 'full', change = false, total = false }: Props) {
  const { language } = useLanguage()
  const { sign, currency, figure, rest, unit } = amountParts(units, asset, { language, change })
  return (
    <span className={total ? 'amt total' : 'amt'}>
      {sign}
      {as === 'full' && currency !== '' && <span className="cur">{currency}&nbsp;</span>}
      {figure}
      {rest !== '' && <span className="rest">{rest}</span>}
      {as === 'full' && unit !== '' && <span className="unit">{unit}</span>}
      {as === 'column' && <span className="unit fix">{asset}</span>}
    </span>
  )
}
