import { ageText, durationText } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { useNow } from '../../ui/time.tsx'

type Ending = {
  readonly created_at: string
  readonly completed_at?: string | undefined
  readonly failed_at?: string | undefined
}

export const endOf = ({ completed_at, failed_at }: Ending): string | undefined => completed_at ?? failed_at

/** How long the order took, or has been in progress. */
export function OrderDuration({ order, no_answer }: { readonly order: Ending; readonly no_answer: boolean }) {
  const { language } = useLanguage()
  const end = endOf(order)
  if (end === undefined) return <Elapsed since={order.created_at} warn={no_answer} />
  return durationText(new Date(end).getTime() - new Date(order.created_at).getTime(), language)
}

function Elapsed({ since, warn }: { readonly since: string; readonly warn: boolean }) {
  const { ui } = useText()
  const age = ageText(useNow().getTime() - new Date(since).getTime())
  return <span className={warn ? 'warn' : undefined}>{ui.for(age)}</span>
}
