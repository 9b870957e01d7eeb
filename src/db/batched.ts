import { setImmediate } from 'node:timers/promises'
import { type Batching, openBatching } from '../core/batching.ts'
import { texts } from './arrays.ts'
import { columnsOf, type TableName } from './columns.ts'
import type { Db } from './pool.ts'

const AT_ONCE = 2

/**
 * Looks many keys up with one statement: keys that are asked for in one turn of the event loop, or while AT_ONCE statements
 * are running, share a statement. A single key is looked up at once; thousands of keys cost a few statements.
 */
export function batched<Key, Row>(load: (db: Db, keys: readonly Key[]) => Promise<(Row | undefined)[]>) {
  const readers = new WeakMap<Db, Batching<Key, Row | undefined>>()
  return (db: Db, key: Key): Promise<Row | undefined> => {
    const reader =
      readers.get(db) ??
      openBatching({ run: (keys) => load(db, keys), at_once: AT_ONCE, begin: () => setImmediate() })
    readers.set(db, reader)
    return reader.add(key)
  }
}

/** Rows of a table by their ids. */
export const rowsById = <Row extends { id: string }>(table: TableName) =>
  batched<string, Row>(async (db, ids) => {
    const { rows } = await db.query({
      name: `${table} by id`,
      text: `SELECT ${columnsOf(table)} FROM ${table} WHERE id = ANY($1::text[])`,
      values: [texts(ids)],
    })
    const found = new Map<string, Row>(rows.map((row) => [row.id, row]))
    return ids.map((id) => found.get(id))
  })
