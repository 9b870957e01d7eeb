import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { asAdmin, createDatabase } from '../../test/support/database.ts'
import { isAnswer, isServerTrouble, isUnreachable, openPool, transaction } from './pool.ts'

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

test('what an error means is judged by its SQLSTATE, in whatever language the server speaks', () => {
  const error = (code: string, severity = 'ERRO') =>
    Object.assign(new pg.DatabaseError('mensagem', 1, 'error'), { code, severity })
  const verdicts = (code: string) => [
    isAnswer(error(code)),
    isServerTrouble(error(code)),
    isUnreachable(error(code)),
  ]
  // The statement was refused, and the connection goes on: a lock time-out, a deadlock, a broken constraint, a cancel.
  for (const code of ['55P03', '40P01', '40001', '23505', '57014', 'P0001'])
    expect(verdicts(code), code).toEqual([true, false, false])
  // The server as a whole cannot: disk full, out of memory, a standby, an I/O error.
  for (const code of ['53100', '53200', '25006', '58030'])
    expect(verdicts(code), code).toEqual([true, true, true])
  // The connection is over.
  for (const code of ['57P01', '57P02', '57P03', '08006'])
    expect(verdicts(code), code).toEqual([false, true, true])
  expect(isAnswer(error('25P03'))).toBe(false)
  expect(isUnreachable(new Error('Connection terminated unexpectedly'))).toBe(true)
  expect(isUnreachable(new Error('Client was closed and is not queryable'))).toBe(true)
  expect(isUnreachable(new TypeError('x is not a function'))).toBe(false)
})
