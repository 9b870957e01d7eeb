import { asAdmin } from './database.ts'

/**
 * Moves what happened to one payout or transfer into the past, with everything that tells of it: its row, entries, events
 * and claim. So nobody has to wait for a day to see what comes after it, and the books stay right.
 */
export async function moveIntoThePast(
  url: string,
  {
    table,
    id,
    by,
    schema = 'sandbox',
  }: { table: 'payouts' | 'transfers'; id: string; by: string; schema?: 'sandbox' | 'live' },
): Promise<void> {
  const iso = (column: string) => `to_char((${column}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const aged = (text: string) => `replace(replace(${text},
         ${iso('r.created_at')}, ${iso(`r.created_at - interval '${by}'`)}),
         coalesce(${iso('r.completed_at')}, '-'), coalesce(${iso(`r.completed_at - interval '${by}'`)}, '-'))`
  const times = ['created_at', 'completed_at', ...(table === 'transfers' ? ['charged_at'] : [])]
  const moved = times.map((column) => `${column} = ${column} - interval '${by}'`).join(', ')
  await asAdmin(url, [
    `BEGIN; SET LOCAL session_replication_role = replica; SET LOCAL search_path = ${schema};
     UPDATE events e SET created_at = e.created_at - interval '${by}', data = ${aged('e.data::text')}::json
       FROM ${table} r WHERE r.id = '${id}' AND e.object_id = r.id;
     UPDATE entries SET created_at = created_at - interval '${by}' WHERE cause_id = '${id}';
     UPDATE claims c SET claimed_at = c.claimed_at - interval '${by}', expires_at = c.expires_at - interval '${by}',
         answer_body = ${aged('c.answer_body')}
       FROM ${table} r WHERE r.id = '${id}' AND c.resource_id = r.id;
     UPDATE ${table} SET ${moved} WHERE id = '${id}';
     ${table === 'transfers' ? `UPDATE transactions SET created_at = created_at - interval '${by}' WHERE transfer_id = '${id}';` : ''}
     UPDATE open_${table} SET created_at = created_at - interval '${by}' WHERE id = '${id}';
     COMMIT`,
  ])
}
