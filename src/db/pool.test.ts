import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { asAdmin, createDatabase } from '../../test/support/database.ts'
import { openPool, transaction } from './pool.ts'

test('a connection that is cut between two statements of a transaction fails that transaction, and nothing else', async () => {
  const database = await createDatabase()
  const pool = openPool({ url: database.url, schema: 'shared', application_name: 'cut', max: 1 })
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on('uncaughtException', note)
  try {
    const cut = transaction(pool, async (tx) => {
      await tx.query('SELECT 1')
      await asAdmin(database.url, [
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'`,
      ])
      await sleep(100)
      await tx.query('SELECT 2')
    })
    await expect(cut).rejects.toThrow()
    expect(await transaction(pool, async (tx) => (await tx.query('SELECT 3 AS n')).rows[0].n)).toBe(3)
    expect(uncaught).toEqual([])
  } finally {
    process.off('uncaughtException', note)
    await pool.end()
    await database.drop()
  }
})
