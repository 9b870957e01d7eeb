import type { Db } from '../../db/pool.ts'
import type { PixStatus } from '../../rails/pix/rail.ts'
import type { AnswerSummary } from '../../records/steps/recorder.ts'
import { masked, type RailStep, stepsOf, stepsOfExchange } from '../../records/steps/store.ts'
import { isFinalPayout, type Payout } from './store.ts'

/** Summary of a rail answer about a payout, for the steps that the console shows. */
export function summarizeAnswer(status: PixStatus): AnswerSummary {
  switch (status.kind) {
    case 'settled':
      return { heard: 'answered', said: `settled ${status.end_to_end_id}`.slice(0, 100) }
    case 'refused':
      return { heard: 'answered', said: `refused ${masked(status.rail_code)}` }
    case 'absent':
      return { heard: 'answered', said: 'absent' }
    case 'later':
      return { heard: 'answered', said: 'later' }
    case 'accepted':
      return { heard: 'waiting', said: 'accepted' }
    case 'unknown':
      return { heard: 'unknown', said: null }
  }
}

/** The usual case: one send, with a final answer. The payout's row has all there is to show, so no step is stored. */
export const endedAtOnce = (payout: Pick<Payout, 'status' | 'attempts'>): boolean =>
  isFinalPayout(payout) && payout.attempts <= 1

/** Steps of a payout, oldest first. The caller must have checked that the payout belongs to the partner. */
export async function stepsOfPayout(db: Db, payout: Payout): Promise<RailStep[]> {
  const noted = await stepsOf(db, payout.id)
  return noted.length === 0 && endedAtOnce(payout) ? stepsOfExchange(firstOf(payout)) : noted
}

const firstOf = ({ end_to_end_id, rail_code, created_at, completed_at }: Payout) => {
  const heard: AnswerSummary = summarizeAnswer(
    end_to_end_id === null
      ? { kind: 'refused', rail_code: rail_code ?? '' }
      : { kind: 'settled', end_to_end_id },
  )
  return { did: 'sent', at: created_at, ...heard, last_at: completed_at!, times: 1 } as const
}
