import type { Logger } from 'pino'
import type { InvalidAnswer, ReportInvalid } from '../../rails/answers.ts'
import type { World } from '../../world.ts'
import { recordExceptionDaily } from '../exceptions/store.ts'

type Books = Pick<World, 'db' | 'clock'>

const CHECK = 'Compare the provider’s answer with the adapter of this rail. The service asks the rail again.'

/** Records an invalid answer of a rail about a payout or transfer. The order stays open, and an operator must check. */
export function reportInvalidAnswer(
  { db, clock }: Books,
  log: Logger,
  object: { readonly id: string; readonly partner_id: string },
  { rail, call, problem }: InvalidAnswer,
): Promise<void> {
  return recordExceptionDaily(db, clock, {
    kind: 'invalid_answer',
    rail,
    object_id: object.id,
    partner_id: object.partner_id,
    details: { call, problem, check: CHECK },
  }).catch((error: unknown) =>
    log.warn(
      { err: error, object_id: object.id },
      'rails: an invalid answer was not recorded as an exception',
    ),
  )
}

const AGAIN_MS = 60_000

/**
 * Like `reportInvalidAnswer`, for answers that belong to no order (a holder, fees, a price): at most one open exception per
 * rail, and at most one report per rail and minute.
 */
export function openInvalidAnswers({ db, clock }: Books, log: Logger): ReportInvalid {
  const reported_at = new Map<string, number>()
  return (error) => {
    const { rail, call, problem } = error
    const before = reported_at.get(rail)
    if (before !== undefined && performance.now() - before < AGAIN_MS) return
    reported_at.set(rail, performance.now())
    log.warn({ err: error }, 'rails: an answer is not valid and is treated as no answer')
    const details = { call, problem, check: CHECK }
    recordExceptionDaily(db, clock, {
      kind: 'invalid_answer',
      rail,
      object_id: rail,
      partner_id: null,
      details,
    }).catch((failure: unknown) => {
      reported_at.delete(rail)
      log.warn({ err: failure, rail }, 'rails: an invalid answer was not recorded as an exception')
    })
  }
}
