import type { Db } from '../../db/pool.ts'
import { newestLineAbout } from '../../records/acts/store.ts'

/**
 * That a backup was made, or restored on trial: an act without an effect, whose line in the act log is the only record (decision
 * 0072). Backups lie on machines that no node reaches, so whoever makes one notes it.
 */
export type BackupNote = {
  /** Everything committed before this moment is in the backup. */
  readonly until: string
  /** The folder of the backup, or the tool that made it. */
  readonly source: string
  /** The backup was restored on trial and audited. */
  readonly verified: boolean
}

const NOTE_BACKUP = 'note_backup'

export const backupObject = (verified: boolean): string => (verified ? 'backup verified' : 'backup')

/** The newest note about a backup that was made, or verified. */
export async function backupNoteOf(db: Db, verified: boolean): Promise<BackupNote | undefined> {
  const line = await newestLineAbout(db, { object_id: backupObject(verified), action: NOTE_BACKUP })
  return line?.after ? (JSON.parse(line.after) as BackupNote) : undefined
}
