import { DATABASE, PASSWORD } from './manifest.ts'

/** Files that can make PostgreSQL run commands or read other files. They are never taken from a backup; a restore writes its own. */
const INSTRUCTIONS = /^(postgresql(\.auto)?\.conf|pg_(hba|ident)\.conf|tablespace_map|[^/]*\.signal)$/

/** `path` is relative to the folder of the cluster. */
export const isInstruction = (path: string): boolean => INSTRUCTIONS.test(path)

/** `path` is relative to the backup. */
export function belongsInBackup(path: string): boolean {
  if (path === PASSWORD) return true
  const [first, ...names] = path.split('/')
  if (first !== DATABASE || names.length === 0 || isInstruction(names.join('/'))) return false
  return names.every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0'))
}

const HEAD = '# Written by trilho backup. The service names its settings when it starts PostgreSQL.\n'

/** The content that a new cluster of the service has. */
export const WRITTEN_ANEW: Readonly<Record<string, string>> = {
  'postgresql.conf': `${HEAD}lc_messages = 'C'\ndefault_text_search_config = 'pg_catalog.english'\n`,
  'postgresql.auto.conf': HEAD,
  'pg_hba.conf': `${HEAD}host all all 127.0.0.1/32 scram-sha-256\nhost all all ::1/128 scram-sha-256\n`,
  'pg_ident.conf': HEAD,
}
