import { useEffect, useState } from 'react'
import { ageText, clockTime, dayText, detailTime, listTime, utcTime } from '../format/time.ts'
import { useLanguage } from '../text/text.tsx'

const written = { list: listTime, detail: detailTime, clock: clockTime, day: dayText }

type Props = { readonly at: string; readonly as?: keyof typeof written }

/** A time in the browser's zone; the tooltip has it in UTC. */
export function Time({ at, as = 'list' }: Props) {
  const { language } = useLanguage()
  return (
    <time dateTime={at} title={utcTime(at)}>
      {written[as](at, { language })}
    </time>
  )
}

/** The current time, updated at an interval: for ages and countdowns. */
export function useNow(every_ms = 1_000): Date {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), every_ms)
    return () => clearInterval(timer)
  }, [every_ms])
  return now
}

/** The elapsed time as text, such as `14 min`, updated every second. */
export function useAge(since: string): string {
  return ageText(useNow().getTime() - new Date(since).getTime())
}
