import { useCall } from '../api/queries.ts'
import { useSession } from '../session.tsx'
import type { Frame } from './use-frame.ts'

const EVERY_MS = 60_000

/** What waits at a place of the navigation, by its address; nothing where nothing waits. */
export function useNavCounts(frame: Frame): Readonly<Record<string, number>> {
  const partner = usePartnerCounts(frame)
  const operator = useOperatorCounts(frame)
  return frame.operator ? operator : partner
}

/** Webhooks that fail: no event tells of it, so it is looked at now and then. */
function usePartnerCounts({ operator, environment }: Frame) {
  const { data } = useCall(
    'console.webhooks.list',
    { params: { environment }, query: {} },
    { when: !operator, every: EVERY_MS },
  )
  const failing = data?.data.filter(({ status, failing_since }) => status === 'enabled' && failing_since)
  return { 'developers/webhooks': failing?.length ?? 0 }
}

/** Nobody of the operator sees anything without a second factor. */
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
