import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase } from '../../../test/support/database.ts'
import { openDirectAccess, someCpf } from '../../../test/support/service.ts'
import { transaction } from '../../db/pool.ts'
import { audit } from '../../ledger/audit.ts'
import { sliceChecks } from '../../node/worlds.ts'
import { addCustomer } from '../../parties/customers/customers.ts'
import { act } from './act.ts'
import { logChecks } from './verify.ts'

/** The role of production writes a row and the event that tells of it in one transaction. */
let hands: ReturnType<typeof openDirectAccess>
let partner_id: string
let customer_id: string
let key_id: string

const environment = 'production' as const
const shell = { kind: 'shell' } as const
const world = () => hands.worlds.production

beforeAll(async () => {
  hands = openDirectAccess(await createDatabase())
  const { office } = hands
  const partner = await act(office, shell, { name: 'create_partner', details: { name: 'Acme' } })
  partner_id = 'done' in partner ? partner.done.partner.id : ''
  customer_id = (await addCustomer(world(), { partner_id, name: 'Rita', document: someCpf() })).id
  const made = await act(office, shell, {
    name: 'create_key',
    environment,
    details: { partner_id, name: 'K' },
  })
  key_id = 'done' in made ? made.done.key.id : ''
})
afterAll(() => hands.stop())

const findings = async () => {
  const checks = [...sliceChecks, ...logChecks(hands.office, environment)]
  const report = await audit(world().db, checks)
  return report.findings.flatMap(({ examples }) => examples.map(({ object_id, wrong }) => [object_id, wrong]))
}

/** As the role, in one transaction: the statement, and the event with what the row then is. */
const forge = (statement: string, event: string) =>
  transaction(world().db, async (tx) => {
    await tx.query(statement)
    await tx.query(
      `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at) ${event}`,
    )
  })

const keyEvent = (id: string, type: string, last_four: string) =>
  `SELECT '${world().newId('event')}', partner_id, '${type}', id, sequence,
     json_build_object('id', id, 'scopes', scopes, 'last_four', '${last_four}'), now() FROM api_keys WHERE id = '${id}'`

const customerEvent = (type: string) =>
  `SELECT '${world().newId('event')}', partner_id, '${type}', id, sequence, json_build_object('id', id, 'name', name,
     'status', status, 'metadata', metadata, 'third_party_payouts', third_party_payouts), now() FROM customers WHERE id = '${customer_id}'`

const HASH = (text: string) => `sha256('${text}'::bytea)`

test('what operators do with keys and customers is no finding', async () => {
  const { office } = hands
  const of_key = { key_id, grace_seconds: 3600 }
  for (const _ of [1, 2]) await act(office, shell, { name: 'rotate_key', environment, details: of_key })
  for (const name of ['block_customer', 'unblock_customer'] as const)
    await act(office, shell, { name, environment, details: { customer_id } })
  for (const allowed of [true, false])
    await act(office, shell, {
      name: 'allow_third_party',
      environment,
      details: { customer_id, allowed },
    })
  expect(await findings()).toEqual([])
})

describe('the audit names', () => {
  test('a customer whom the role lets pay others and then blocks', async () => {
    const set = (what: string) =>
      `UPDATE customers SET ${what}, sequence = sequence + 1 WHERE id = '${customer_id}'`
    const wrong = [[customer_id, 'a customer whom nobody blocked, unblocked or let pay others']]
    await forge(set('third_party_payouts = true'), customerEvent('customer.updated'))
    expect(await findings()).toEqual(wrong)
    await forge(set('third_party_payouts = false'), customerEvent('customer.updated'))
    expect(await findings()).toEqual([])
    await forge(set(`status = 'blocked'`), customerEvent('customer.blocked'))
    expect(await findings()).toEqual(wrong)
    await forge(set(`status = 'active'`), customerEvent('customer.unblocked'))
  })

  test('a customer without any line that the role blocks', async () => {
    const { id } = await addCustomer(world(), { partner_id, name: 'Rui', document: someCpf() })
    const before = customer_id
    customer_id = id
    await forge(
      `UPDATE customers SET status = 'blocked', sequence = 2 WHERE id = '${id}'`,
      customerEvent('customer.blocked'),
    )
    customer_id = before
    expect((await findings()).map(([object_id]) => object_id)).toEqual([id])
  })

  test('a key that the role makes', async () => {
    const id = world().newId('key')
    await forge(
      `WITH made AS (INSERT INTO api_keys (id, partner_id, name, scopes, ip_allowlist)
         VALUES ('${id}', '${partner_id}', 'K', '{read,payouts}', '{}') RETURNING id)
       INSERT INTO api_key_values (hash, api_key_id, last_four) SELECT ${HASH('one')}, id, 'evil' FROM made`,
      keyEvent(id, 'api_key.created', 'evil'),
    )
    expect(await findings()).toContainEqual([id, 'a value of a key that nobody made'])
  })

  test('a value that the role adds to a key', async () => {
    await forge(
      `WITH ended AS (UPDATE api_key_values SET valid_until = now() + interval '1 day'
           WHERE api_key_id = '${key_id}' AND valid_until IS NULL),
         counted AS (UPDATE api_keys SET sequence = sequence + 1 WHERE id = '${key_id}')
       INSERT INTO api_key_values (hash, api_key_id, last_four) VALUES (${HASH('two')}, '${key_id}', 'evil')`,
      keyEvent(key_id, 'api_key.rotated', 'evil'),
    )
    expect(await findings()).toContainEqual([key_id, 'a value of a key that nobody made'])
  })

  test('an operator whom the role dates before the database was made', async () => {
    await hands.shared.db.query(
      `INSERT INTO users (id, email, name, password_hash, role, operator_role, created_at)
       SELECT 'usr_ghost', 'ghost@operator.example', 'Ghost', 'x', 'operator', 'admin', min(applied_at) - interval '1 day'
       FROM migrations`,
    )
    const wrong = ['usr_ghost', 'an operator whom nobody made']
    expect(await findings()).toContainEqual(wrong)
    await hands.shared.db.query(
      `UPDATE users SET removed_at = now(), operator_role = 'reader', email = id || '@removed.invalid' WHERE id = 'usr_ghost'`,
    )
    expect(await findings()).toContainEqual(wrong)
  })
})
