import { pino } from 'pino'
import { prove } from '../control/audit/proofs.ts'
import { type Office, openOffice } from '../control/operator/office.ts'
import { logChecks } from '../control/operator/verify.ts'
import { systemClock } from '../core/clock.ts'
import type { Environment } from '../core/environment.ts'
import { openSealer, seatsOf, secretKeysOf } from '../db/open.ts'
import { openPool } from '../db/pool.ts'
import type { AuditReport } from '../ledger/audit.ts'
import { openShared } from '../parties/partners/partners.ts'
import { openLogKey } from '../records/acts/log.ts'
import type { World } from '../world.ts'
import type { Config } from './config.ts'
import { openWorlds, sliceChecks } from './worlds.ts'

export type DatabaseAudit = readonly ({ readonly environment: Environment } & AuditReport)[]

/** Runs the whole audit on a database that no service uses. Starts no worker: no payment is sent, no webhook delivered. */
export async function auditDatabase(url: string, config: Config): Promise<DatabaseAudit> {
  const seats = await seatsOf(url, config)
  const db = openPool({ ...seats('shared', 'trilho audit'), max: 2 })
  const sealer = openSealer(config, await secretKeysOf(config))
  const logKey = openLogKey({ shared: db, sealer })
  const log = pino({ level: 'silent' })
  const opened = openWorlds({ seats, clock: systemClock(), log, config, pool: 2, logKey })
  try {
    const office = openOffice({ shared: openShared(db), worlds: opened.worlds, sealer })
    return await auditWorlds(Object.values<World<Environment>>(opened.worlds), office)
  } finally {
    await opened.stop()
    await db.end()
  }
}

/** Runs every check in each of these worlds. */
export const auditWorlds = (worlds: readonly World[], office: Office): Promise<DatabaseAudit> =>
  Promise.all(
    worlds.map(async (world) => ({
      environment: world.environment,
      ...(await prove(world, {
        checks: [...sliceChecks, ...logChecks(office, world.environment)],
        by: 'shell',
      })),
    })),
  )

/** One line for each world, and one for each check that fails. */
export function renderAudit(audit: DatabaseAudit): string {
  return audit
    .map(({ environment, entries, customers, findings }) => {
      const sum = findings.length === 0 ? 'all checks hold' : `${findings.length} CHECKS FAIL`
      const wrong = findings.map(({ check, found }) => `  ${check}: ${found}\n`).join('')
      return `${environment}: ${entries} entries, ${customers} customers, ${sum}\n${wrong}`
    })
    .join('')
}
