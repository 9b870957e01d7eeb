const WRITES = /\b(insert|update|delete|merge|share|call|truncate|into)\b/i
/** A second statement; or a comment, which may stand between a function's name and its parenthesis. */
const UNCLEAR = /;\s*\S|--|\/\*/
/** A word before a parenthesis, except in `AS name (`, which names columns or a type. */
const BEFORE_PARENTHESIS = /(?<![\p{L}\p{N}_$."])(?<!\bas\s+)([\p{L}\p{N}_$."]+)\s*\(/giu
const HARMLESS = new Set(
  (
    'abs array_agg clock_timestamp coalesce count current_database current_setting date_trunc ended_orders extract greatest ' +
    'hashtextextended json_agg json_build_object json_to_record json_typeof lag least length log_end log_last log_start lower make_interval max ' +
    'min now row_number split_part sum to_json unnest upper ' +
    // Keywords of SQL.
    'all and any array as by case distinct else except exists filter from having in intersect join lateral materialized not ' +
    'on or over select some then union using values when where'
  ).split(' '),
)

function judge(text: string): boolean {
  if (!/^\s*(select|with)\b/i.test(text) || WRITES.test(text) || UNCLEAR.test(text)) return false
  return [...text.matchAll(BEFORE_PARENTHESIS)].every(([, name]) => HARMLESS.has(name!.toLowerCase()))
}

/** A cache: the service has few statements, and runs them often. */
const judged = new Map<string, boolean>()
const JUDGED_MAX = 500

/**
 * Whether a statement only reads rows. A function may write, so only known harmless functions are allowed. A read that is
 * not recognised is not retried, which is safe.
 */
export function isPlainRead(text: string): boolean {
  const known = judged.get(text)
  if (known !== undefined) return known
  const plain = judge(text)
  if (judged.size < JUDGED_MAX) judged.set(text, plain)
  return plain
}
