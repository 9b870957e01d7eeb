import { offsetText, zoneName } from '../format/time.ts'
import { useText } from '../text/text.tsx'

/** The time zone of all times on the page, shown at its foot. */
export function Zone() {
  const { ui } = useText()
  return (
    <p className="zone faint small">
      {ui.times_in(zoneName())}, {offsetText()}
    </p>
  )
}
