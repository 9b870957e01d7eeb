import { sqlState } from './failure.ts'
import type { Db } from './pool.ts'

/** SQL: system identifier and timeline, as one text. A restored copy and a promoted standby have another one than the original. */
export const INCARNATION = `(SELECT system_identifier::text FROM pg_control_system()) || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8)`

const DENIED = '42501'

/** Undefined if the role may not read the control data of the server. */
export async function incarnationOf(db: Db): Promise<string | undefined> {
  try {
    const { rows } = await db.query<{ incarnation: string }>({
      name: 'incarnation',
      text: `SELECT ${INCARNATION} AS incarnation`,
    })
    return rows[0]!.incarnation
  } catch (error) {
    if (sqlState(error) === DENIED) return undefined
    throw error
  }
}
