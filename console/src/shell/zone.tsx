import { offsetText, zoneName } from '../format/time.ts'
import { useText } from '../text/text.tsx'

/** At the foot of every page: where its times are told. */
export function Zone() {
  const { ui } = useText()
  return (
    <p className="zone faint small">
      {ui.times_in(zoneName())}, {offsetText()}
    </p>
  )
}
