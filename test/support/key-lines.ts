import type { Office } from '../../src/control/operator/office.ts'
import { transaction } from '../../src/db/pool.ts'
import type { ShownKey } from '../../src/parties/keys/keys.ts'
import { note } from '../../src/records/acts/log.ts'

/** The audit names a key of production whose values have no line in the log: tests that make one past the rules add the line. */
export async function noteProductionKey(
  { log, worlds }: Pick<Office, 'log' | 'worlds'>,
  action: 'create_key' | 'rotate_key',
  { key }: ShownKey,
): Promise<void> {
  const pen = await log.pen('production', { kind: 'shell' })
  const after = { last_four: key.last_four }
  await transaction(worlds.production.db, (tx) =>
    note(tx, pen, { action, object_id: key.id, before: null, after }),
  )
}
