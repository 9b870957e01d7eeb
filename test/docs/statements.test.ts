import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin, createDatabase, type TestDatabase } from '../support/database.ts'

const folder = new URL('../../docs/operate/', import.meta.url)
const blocks = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) =>
    [...readFileSync(new URL(page, folder), 'utf8').matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(
      ([, sql], index) => ({ page, index, sql: sql! }),
    ),
  )
/** Makes the owner of the database, who exists already. */
const MAKES_THE_OWNER = 'CREATE ROLE'
const REMOVES_A_PERSON = 'DELETE FROM shared.users'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())

test.each(blocks.filter(({ sql }) => !sql.includes(MAKES_THE_OWNER)))(
  '$page: the statements of block $index run as the owner of the database',
  async ({ sql }) => {
    await asAdmin(database.url, [sql])
  },
)

test('the statements that remove an operator remove everything that refers to a person', async () => {
  const { sql } = blocks.find(({ sql }) => sql.includes(REMOVES_A_PERSON))!
  const email = /email = '([^']+)'/.exec(sql)![1]!
  const referring = await asAdmin(database.url, [
    `SELECT conrelid::regclass::text AS name FROM pg_constraint
     WHERE confrelid = 'shared.users'::regclass AND confdeltype = 'a' AND conrelid <> 'shared.links'::regclass`,
  ])
  expect(referring.length).toBeGreaterThan(5)
  for (const { name } of referring) expect(sql).toContain(`DELETE FROM ${name} `)
  await asAdmin(database.url, [
    `INSERT INTO shared.users (id, email, name, password_hash, role, operator_role) VALUES ('usr_1', '${email}', 'M', 'x', 'operator', 'admin')`,
    `INSERT INTO shared.saved_views (id, user_id, environment, page, name, filters) VALUES ('v', 'usr_1', '', 'p', 'n', '{}')`,
    `INSERT INTO shared.notification_settings (user_id, kind, mail) VALUES ('usr_1', 'k', true)`,
    sql,
  ])
  expect(await asAdmin(database.url, [`SELECT FROM shared.users WHERE email = '${email}'`])).toEqual([])
})
