import { useState } from 'react'
import { dayText } from '../format/time.ts'
import { useLanguage, useText } from '../text/text.tsx'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Chip, useFilters } from '../ui/filters.tsx'

/** `today`, `7d`, `30d`, or `2026-11-01..2026-11-15` with either end left out: days of the person's own zone. */
const OF = 'created'
const named = ['today', '7d', '30d'] as const
const days = { today: 0, '7d': 6, '30d': 29 } as const

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The start of a day in the person's time zone. */
const midnight = (day: string, later = 0): Date => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + later)
}

function readRange(text: string): { from: string; to: string } | undefined {
  const [from = '', to = ''] = text.split('..')
  const isDay = (day: string) => day === '' || DAY.test(day)
  return isDay(from) && isDay(to) && from + to !== '' ? { from, to } : undefined
}

/** The parameters of the API for a period. */
export function rangeOf(created: string | undefined): { created_after?: string; created_before?: string } {
  if (created === undefined) return {}
  if (Object.hasOwn(days, created)) {
    const now = new Date()
    const first = new Date(
      now.getFullYear(),
      now.getMonth(),
      now.getDate() - days[created as keyof typeof days],
    )
    return { created_after: first.toISOString() }
  }
  const range = readRange(created)
  // A malformed period is passed on: the service's error explains it.
  if (range === undefined) return { created_after: created }
  return {
    ...(range.from === '' ? {} : { created_after: midnight(range.from).toISOString() }),
    ...(range.to === '' ? {} : { created_before: midnight(range.to, 1).toISOString() }),
  }
}

function usePeriodText(created: string | undefined): string | undefined {
  const { lists } = useText()
  const { language } = useLanguage()
  if (created === undefined) return undefined
  if (created === 'today') return lists.period.today
  if (created === '7d') return lists.period.week
  if (created === '30d') return lists.period.month
  const range = readRange(created)
  if (range === undefined) return created
  const day = (text: string) => dayText(midnight(text).toISOString(), { language })
  if (range.to === '') return lists.period.since(day(range.from))
  if (range.from === '') return lists.period.until(day(range.to))
  return lists.period.between(day(range.from), day(range.to))
}

/** A chip that chooses a period of creation times, in the query parameter `created`. */
export function PeriodChip({ label }: { readonly label?: string }) {
  const { lists } = useText()
  const { values, set } = useFilters([OF])
  const text = usePeriodText(values[OF])
  return (
    <Chip label={label ?? lists.period.title} icon="calendar" value={text} onClear={() => set(OF, undefined)}>
      {(close) => (
        <AskPeriod
          onPeriod={(period) => {
            close()
            set(OF, period)
          }}
        />
      )}
    </Chip>
  )
}

function AskPeriod({ onPeriod }: { readonly onPeriod: (period: string) => void }) {
  const { lists, ui } = useText()
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const words = { today: lists.period.today, '7d': lists.period.week, '30d': lists.period.month }
  return (
    <form
      className="pop"
      onSubmit={(event) => {
        event.preventDefault()
        if (readRange(`${from}..${to}`) !== undefined) onPeriod(`${from}..${to}`)
      }}
    >
      <div className="picks">
        {named.map((name) => (
          <Button key={name} small onClick={() => onPeriod(name)}>
            {words[name]}
          </Button>
        ))}
      </div>
      <Field label={lists.period.from}>
        <Input type="date" value={from} onValue={setFrom} max={to || undefined} />
      </Field>
      <Field label={lists.period.to}>
        <Input type="date" value={to} onValue={setTo} min={from || undefined} />
      </Field>
      <Button kind="primary" type="submit" disabled={from + to === ''}>
        {ui.apply}
      </Button>
    </form>
  )
}
