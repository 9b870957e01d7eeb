import { type ComponentProps, lazy, Suspense } from 'react'
import type { DayBars } from './day-bars.tsx'

const Drawn = lazy(async () => ({ default: (await import('./day-bars.tsx')).DayBars }))

/** `DayBars`, loaded after the page: the figures come later than the page in any case. */
export const LaterDayBars = (props: ComponentProps<typeof DayBars>) => (
  <Suspense fallback={null}>
    <Drawn {...props} />
  </Suspense>
)
