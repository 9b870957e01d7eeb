import { useCall } from '../api/queries.ts'
import { useSession } from '../session.tsx'
import type { Frame } from './use-frame.ts'

const EVERY_MS = 60_000

/** Counts of waiting items per navigation entry, by its path; absent when zero. */
export function useNavCounts(frame: Frame): Readonly<Record<string, number>> {
  const partner = usePartnerCounts(frame)
  const operator = useOperatorCounts(frame)
  return frame.operator ? operator : partner
}

/** The number of failing webhooks, polled because no event announces it. */
function usePartnerCounts({ operator, environment }: Frame) {
  const { data } = useCall(
    'console.webhooks.list',
    { params: { environment }, query: {} },
    { when: !operator, every: EVERY_MS },
  )
  const failing = data?.data.filter(({ status, failing_since }) => status === 'enabled' && failing_since)
  return { 'developers/webhooks': failing?.length ?? 0 }
}

/** Counts for operators, who see nothing without a second factor. */
function useOperatorCounts({ operator, environment }: Frame) {
  const { factor } = useSession()
  const { data } = useCall(
    'console.operator.overview.get',
    { params: { environment } },
    { when: operator && factor, live: ['exceptions', 'proposals'], every: EVERY_MS },
  )
  return {
    desk: data?.desk.open ?? 0,
    proposals: data?.proposals.for_me ?? 0,
    proof: data?.audit.findings ?? 0,
  }
}
