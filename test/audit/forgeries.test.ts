import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, openOwner } from '../../src/db/pool.ts'
import { auditIn } from '../../src/ledger/audit.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { type History, openHistory } from '../support/history.ts'
import { findInPieces } from '../support/pieces.ts'
import { until } from '../support/wait.ts'

/** Books that sum up, and tell of something that never happened. Each is made in a transaction that is thrown away. */
let history: History
let owner: Client
let A: string
let B: string
let P: string
let paid: string
let open: string
let failed: string

beforeAll(async () => {
  history = await openHistory()
  const partner = await history.addPartner(2, 0)
  P = partner.partner_id
  ;[A, B] = partner.customers as [string, string]
  const made = await history.payout(partner, A, 'ana@example.com', '100')
  await history.payout(partner, B, 'ana@example.com', '100')
  paid = made.id
  await history.credit(partner, A, 'REF1')
  await history.trade(partner, A, 0)
  await history.trade(partner, A, 6)
  await history.payFees(partner, null, 'FEES1')
  open = (await history.payout(partner, A, 'unknown@sandbox.test', '100')).id
  failed = (await history.payout(partner, A, 'ac03@sandbox.test', '100')).id
  expect((await history.payout(partner, A, 'ana@example.com', '99999999999999')).error.code).toBe(
    'insufficient_balance',
  )
  for (const amount of ['1000000', '2000000']) await history.transfer(partner, A, 'USDT', amount)
  await until(async () => {
    const { rows } = await history.world.db.query(
      `SELECT id FROM open_payouts UNION ALL SELECT id FROM open_transfers`,
    )
    return rows.length === 1
  }, 60_000)
  await history.stopServer()
  // As the owner of everything, past the rights, the triggers and the constraints that would refuse.
  owner = await openOwner(history.database.url, 'test')
  await owner.query(`SET search_path = sandbox; SET lock_timeout = '10s'`)
})
afterAll(async () => {
  await owner.end()
  await history.stop()
})

/** What is found, over everything and piece by piece. */
async function findAfter(...statements: string[]) {
  await owner.query('BEGIN')
  try {
    await owner.query('SET LOCAL session_replication_role = replica')
    await owner.query('DROP INDEX sandbox.deposits_reference')
    for (const statement of statements) await owner.query(statement)
    const { findings } = await auditIn(owner, sliceChecks)
    return { findings, pieces: await findInPieces(owner, 3) }
  } finally {
    await owner.query('ROLLBACK')
  }
}

/** The names of the checks that fail. */
async function forge(...statements: string[]): Promise<string> {
  const { findings, pieces } = await findAfter(...statements)
  expect(pieces.length, 'found piece by piece too').toBeGreaterThan(0)
  return findings.map(({ check }) => check).join('\n')
}

const AMONG_REAL_MONEY = 'SET LOCAL search_path = live'
const forgeInProduction = (...statements: string[]) => forge(AMONG_REAL_MONEY, ...statements)

const ISO = `to_char(now()::timestamptz(3) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A deposit to a new customer, with all that belongs to it. */
const credited = (rail: string, reason: string, reference: string) => [
  `INSERT INTO customers (id, partner_id, name, document, document_type, created_at) VALUES ('cus_x', '${P}', 'X', '1', 'cpf', now())`,
  `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at) VALUES ('evt_c', '${P}', 'customer.created', 'cus_x', 1,
     '{"id":"cus_x","name":"X","status":"active","metadata":{},"third_party_payouts":false}', now())`,
  `INSERT INTO balances (customer_id, asset, partner_id) SELECT 'cus_x', a, '${P}' FROM unnest(ARRAY['BRL', 'USDT', 'BTC']) a`,
  `INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, reason, reference, created_at) VALUES ('dep_x', '${P}', 'cus_x', 'BRL', 5000, '${rail}', ${reason}, ${reference}, now())`,
  house('dep_x', 'credited', 0, `external:${rail}`, '', -5000),
  book('cus_x', 'dep_x', 'credited', 1, 5000),
  tell('deposit.completed', 'dep_x'),
]

/** An event of a deposit, which waits for its place in the log. */
const tell = (type: string, object_id: string) =>
  `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at)
   VALUES ('evt_x', '${P}', '${type}', '${object_id}', 1, json_build_object('id', '${object_id}', 'customer_id', 'cus_x', 'asset', 'BRL',
     'amount', '5000', 'status', 'completed', 'created_at', ${ISO}), now())`

/** Adds to a balance of BRL as the service would: the statement goes on, the account counts it. */
const book = (customer: string, cause: string, movement: string, line: number, amount: number) =>
  `WITH after AS (UPDATE balances SET balance = balance + (${amount}), seq = seq + 1
     WHERE customer_id = '${customer}' AND asset = 'BRL' RETURNING balance, seq)
   INSERT INTO entries SELECT '${cause}', '${movement}', ${line}, '${P}', 'customer', '${customer}', 'BRL', ${amount}, seq, balance, now() FROM after`

const house = (
  cause: string,
  movement: string,
  line: number,
  account: string,
  owner: string,
  amount: number,
) =>
  `INSERT INTO entries VALUES ('${cause}', '${movement}', ${line}, '${P}', '${account}', '${owner}', 'BRL', ${amount}, NULL, NULL, now())`

const transit = (customer: string, amount: number) =>
  `UPDATE balances SET in_transit = in_transit + (${amount}) WHERE customer_id = '${customer}' AND asset = 'BRL'`

const copyPayout = (id: string, key: string, more = '') =>
  `INSERT INTO payouts SELECT '${id}', partner_id, customer_id, api_key_id, ${key}, amount, fee, 'processing', counterparty, description,
     '${id}', NULL, NULL, NULL, 1, now() + interval '1 day', 2, now(), NULL ${more} FROM payouts WHERE id = '${paid}'`

/** An open proposal to resolve a payout. */
const resolving = (id: string, payout_id: string) =>
  `INSERT INTO proposals (id, action, details, proposed_by) VALUES ('${id}', 'resolve_payout',
     json_build_object('payout_id', '${payout_id}', 'outcome', 'failed', 'evidence', 'I asked'), 'maria')`

describe('the audit names', () => {
  test('what a network is said to have charged, and never did', async () => {
    const charge = (cause: string) => [
      house(cause, 'charged', 0, 'network_fees', '', -7),
      house(cause, 'charged', 1, 'external:bitcoin', '', 7),
    ]
    const promise = /every transfer is debited once and in full, and ends in exactly one place/
    expect(await forge(...charge('tr_x'))).toMatch(promise)
    expect(await forge(...charge(paid))).toMatch(/every payout is debited once and in full/)
  })

  test('money made from nothing under an unknown cause', async () => {
    expect(
      await forge(house('zz_1', 'gift', 0, 'external:nowhere', '', -500), book(B, 'zz_1', 'gift', 1, 500)),
    ).toMatch(/every entry has a cause of a known kind/)
  })

  test.each([
    ['dep', 'credited', 500],
    ['po', 'returned', 500],
    ['td', 'traded', -500],
  ])(
    'an entry whose cause is «%s», the name of a kind and of nothing of that kind',
    async (cause, movement, amount) => {
      expect(
        await forge(
          house(cause, movement, 0, 'external:operator', '', -amount),
          book(B, cause, movement, 1, amount),
        ),
      ).toBe('every entry has a cause of a known kind')
    },
  )

  test('a completed payout that was given back under another name', async () => {
    expect(
      await forge(house(paid, 'refunded', 0, 'external:pix', '', -100), book(A, paid, 'refunded', 1, 100)),
    ).toMatch(/every payout is debited once and in full, and ends in exactly one place/)
  })

  test('a payout of one customer that was debited from another', async () => {
    expect(
      await forge(
        copyPayout('po_x', `'k2'`),
        book(B, 'po_x', 'accepted', 0, -100),
        house('po_x', 'accepted', 1, 'in_transit:pix', B, 100),
        transit(B, 100),
      ),
    ).toMatch(/every payout is debited once[\s\S]*every amount in transit is the sum of open orders/)
  })

  test('two payouts under one idempotency key, one of them without a claim', async () => {
    expect(
      await forge(
        copyPayout('po_y', 'idempotency_key'),
        book(A, 'po_y', 'accepted', 0, -100),
        house('po_y', 'accepted', 1, 'in_transit:pix', A, 100),
        transit(A, 100),
        `INSERT INTO events SELECT 'evt_' || sequence, partner_id, type, 'po_y', sequence, replace(data::text, '${paid}', 'po_y')::json, now()
           FROM events WHERE object_id = '${paid}' AND sequence < 3`,
      ),
    ).toMatch(
      /has its idempotency record[\s\S]*no two of payouts were made under one idempotency key within 24 hours/,
    )
  })

  test('a completed payout whose money went to the fees and not outside', async () => {
    expect(
      await forge(
        `UPDATE entries SET account = 'service_fees' WHERE cause_id = '${paid}' AND account = 'external:pix'`,
      ),
    ).toBe('every payout is debited once and in full, and ends in exactly one place')
  })

  test('two payouts that are one payment of the Pix network', async () => {
    expect(
      await forge(
        `UPDATE payouts SET end_to_end_id = (SELECT end_to_end_id FROM payouts WHERE id = '${paid}') WHERE customer_id = '${B}'`,
        `UPDATE events SET data = regexp_replace(data::text, '"end_to_end_id":"[^"]*"',
           '"end_to_end_id":"' || (SELECT end_to_end_id FROM payouts WHERE id = '${paid}') || '"')::json
         WHERE type = 'pix.payout.completed' AND object_id <> '${paid}'`,
      ),
    ).toMatch(/^no two payouts are one payment of the Pix network, or were sent under one id/)
  })

  test('a final payout without its event', async () => {
    const last = `(SELECT id FROM events WHERE object_id = '${paid}' AND sequence = 3)`
    expect(await forge(`DELETE FROM events WHERE id IN ${last}`)).toMatch(
      /every payout was told at each of its states, as it is$/,
    )
  })

  test('a credit that was booked twice under one reference', async () => {
    expect(
      await forge(
        `INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, reason, reference, created_at) SELECT 'dep_2', partner_id, customer_id, asset, amount, rail, reason, reference, now() FROM deposits WHERE reference = 'REF1'`,
        house('dep_2', 'credited', 0, 'external:operator', '', -1234),
        book(A, 'dep_2', 'credited', 1, 1234),
        `INSERT INTO events SELECT 'evt_x', e.partner_id, type, 'dep_2', 1, replace(replace(data::text, d.id, 'dep_2'),
             to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), to_char(now()::timestamptz(3) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json, now()
           FROM events e JOIN deposits d ON d.id = e.object_id WHERE d.reference = 'REF1' AND d.id <> 'dep_2'`,
      ),
    ).toMatch(/^no reference credits twice\nevery credit was made under its reference/)
  })

  test.each([`'infinity'`, `now() + interval '2 days'`, 'expires_at', `expires_at - interval '2 days'`])(
    'a paid payout whose kept answer became a refusal until %s',
    async (until) => {
      expect(
        await forge(
          `UPDATE claims SET resource_id = NULL, final = true, answer_status = 422,
           answer_body = '{"error":{"code":"insufficient_balance"}}', expires_at = ${until} WHERE resource_id = '${paid}'`,
        ),
      ).toMatch(/every row of payouts has its idempotency record, and the record matches it/)
    },
  )

  test('a refusal that is kept for longer than a name is taken', async () => {
    expect(
      await forge(
        `INSERT INTO claims VALUES ('key_x', 'pix.payout', 'k', 'f', NULL, now(), now() + interval '1 year', true, 422, '{"error":{}}')`,
      ),
    ).toMatch(/^every idempotency record of pix.payout stands for its result or for a refusal/)
  })

  test.each([
    ['end_to_end_id', 'E00000000'],
    ['name', 'A Thief'],
    ['created_at', '1999-01-01T00:00:00.000Z'],
  ])('a kept answer that tells another %s than the events did', async (field, value) => {
    expect(
      await forge(
        `UPDATE claims c SET answer_status = 201, answer_body = regexp_replace(e.data::text, '"${field}":"[^"]*"', '"${field}":"${value}"')
         FROM events e WHERE c.resource_id = '${paid}' AND e.object_id = c.resource_id AND e.sequence = 3`,
      ),
    ).toBe('every row of payouts has its idempotency record, and the record matches it')
  })

  test.each(['1', '2', '4', 'NULL'])('a kept answer that is said to be in event %s', async (sequence) => {
    expect(
      await forge(
        `UPDATE claims SET answer_status = 201, answer_sequence = ${sequence} WHERE resource_id = '${paid}'`,
      ),
    ).toBe('every row of payouts has its idempotency record, and the record matches it')
  })

  test.each([
    ['body', `answer_body = '{}'`],
    ['event', 'answer_sequence = 3'],
  ])('a kept answer of which only the %s is there', async (_, half) => {
    expect(await forge(`UPDATE claims SET ${half} WHERE resource_id = '${paid}'`)).toBe(
      'every row of payouts has its idempotency record, and the record matches it',
    )
  })

  test('a claim that is free again while its payout is on its way', async () => {
    const made = (final: boolean) =>
      forge(
        copyPayout('po_z', `'k3'`),
        `INSERT INTO claims SELECT api_key_id, 'pix.payout', 'k3', 'f', 'po_z', now(), created_at + interval '24 hours', ${final}
         FROM payouts WHERE id = 'po_z'`,
      )
    const promise = 'every row of payouts has its idempotency record, and the record matches it'
    expect(await made(true)).toContain(promise)
    expect(await made(false)).not.toContain(promise)
  })

  test('a deposit of play money in production', async () => {
    expect(await forgeInProduction(...credited('sandbox', 'NULL', 'NULL'))).toBe(
      'every deposit is of a known kind, to a customer of its partner',
    )
  })

  test.each([
    ['deposit.completed', 'dep_ghost', 'every deposit was told once, as it is'],
    ['customer.created', 'cus_ghost', 'every event is about an object of the kind that its type names'],
  ])('production tells a partner %s of %s, which does not exist', async (type, object_id, check) => {
    expect(await forgeInProduction(tell(type, object_id))).toBe(check)
  })

  test.each([
    ['pix.payout.failed', 'po'],
    ['pix.payout.failed', 'dep_ghost'],
    ['deposit.completed', 'zz_1'],
  ])('an event %s about «%s», which is of another kind', async (type, object_id) => {
    expect(await forge(tell(type, object_id))).toBe(
      'every event is about an object of the kind that its type names',
    )
  })

  const referred = `INSERT INTO claims VALUES ('operator', 'credit', 'REFX', '["cus_x","BRL","5000","because"]', 'dep_x', now(), NULL, true, NULL, NULL)`
  const proposed = (amount: number, approved_by: string) =>
    `INSERT INTO proposals (id, action, details, proposed_by, approved_by, approved_at) VALUES ('prp_x', 'credit', json_build_object('partner_id', '${P}',
       'customer_id', 'cus_x', 'asset', 'BRL', 'amount', '${amount}', 'reason', 'because', 'reference', 'REFX'), 'maria', ${approved_by}, now())`
  const CREDIT = 'every credit in production was proposed by one operator and approved by another'

  test('a credit in production that nobody proposed', async () => {
    expect(await forgeInProduction(...credited('operator', `'because'`, `'REFX'`), referred)).toBe(CREDIT)
  })

  test.each([
    ['nobody approved', 5000, 'NULL'],
    ['was of another amount', 4000, `'joao'`],
  ])('a credit in production whose proposal %s', async (_, amount, approved_by) => {
    const credit = [...credited('operator', `'because'`, `'REFX'`), referred]
    expect(await forgeInProduction(...credit, proposed(amount, approved_by))).toBe(CREDIT)
  })

  test('a resolution in production that nobody proposed', async () => {
    expect(
      await forgeInProduction(
        `INSERT INTO resolutions VALUES ('po_x', 'completed', 'I saw it', 'prp_x', 'joao', now())`,
      ),
    ).toMatch(/^every resolution in production was proposed by one operator and approved by another/)
  })

  test.each([
    [
      'that no proposal made',
      () => [`INSERT INTO holds (resource_id, proposal_id) VALUES ('${open}', 'prp_none')`],
    ],
    [
      'whose proposal speaks of another payout',
      () => [
        resolving('prp_h', paid),
        `INSERT INTO holds (resource_id, proposal_id) VALUES ('${open}', 'prp_h')`,
      ],
    ],
    [
      'whose proposal has ended',
      () => [
        resolving('prp_h', open),
        `UPDATE proposals SET ended = 'withdrawn', ended_by = proposed_by, ended_at = now() WHERE id = 'prp_h'`,
        `INSERT INTO holds (resource_id, proposal_id) VALUES ('${open}', 'prp_h')`,
      ],
    ],
    ['that was removed while its proposal is open', () => [resolving('prp_h', open)]],
  ])('a hold %s', async (_, statements) => {
    expect(await forge(...statements())).toBe(
      'every hold has an open proposal, and every open proposal about a payout or transfer has a hold',
    )
  })

  test('and nothing of a hold that its open proposal made', async () => {
    const held = [
      resolving('prp_h', open),
      `INSERT INTO holds (resource_id, proposal_id) VALUES ('${open}', 'prp_h')`,
    ]
    expect(await findAfter(...held)).toEqual({ findings: [], pieces: [] })
  })

  const PUT_OFF = 'nothing open is postponed for longer than two days'
  test.each(['infinity', '2099-01-01'])('an open payout that nobody looks at before %s', async (until) => {
    expect(
      await forge(
        `UPDATE payouts SET next_attempt_at = '${until}' WHERE id = '${open}'`,
        `UPDATE open_payouts SET next_attempt_at = '${until}' WHERE id = '${open}'`,
      ),
    ).toBe(PUT_OFF)
  })

  test.each(['infinity', '2099-01-01'])(
    'a payout that is said to be on its way to the rail until %s',
    async (until) => {
      const send = `SELECT id, 2, created_at, '${until}' FROM payouts WHERE id = '${open}'`
      expect(await forge(`INSERT INTO sends ${send}`)).toBe(PUT_OFF)
    },
  )

  test.each(['infinity', '2099-01-01'])(
    'a resolved payout that the rail is not asked about before %s',
    async (until) => {
      expect(await forge(`INSERT INTO follow_ups VALUES ('${open}', 'payout', 0, '${until}')`)).toMatch(
        PUT_OFF,
      )
    },
  )

  test.each([
    [`turn_until = 'infinity'`],
    ['proved_upto = 9000000000000000000'],
    [`last_started_at = '2099-01-01', last_finished_at = '2099-01-01', last_findings = 0`],
  ])('an audit in the background that is kept from its work by %s', async (change) => {
    expect(await forge(`UPDATE audit_progress SET ${change}`)).toBe('the background audit is not postponed')
  })

  const RESOLUTION =
    'every resolution agrees with its payout or transfer, and every end by an operator has one'
  const resolution = (id: string, outcome: string, at = 'now()') =>
    `INSERT INTO resolutions VALUES ('${id}', '${outcome}', 'I saw it', NULL, 'joao', ${at})`
  test.each([
    ['failed, of a payout that is completed', () => resolution(paid, 'failed')],
    ['completed, of a payout that failed', () => resolution(failed, 'completed')],
    ['completed, of a payout that is open', () => resolution(open, 'completed')],
    ['confirmed, of a payout', () => resolution(paid, 'confirmed')],
    ['of a payout that does not exist', () => resolution('po_none', 'completed')],
    ['of another time than the end', () => resolution(paid, 'completed', `now() - interval '1 day'`)],
  ])('a resolution %s', async (_, statement) => {
    expect(await forge(statement())).toBe(RESOLUTION)
  })

  test('a payout that an operator is said to have given back, without a resolution', async () => {
    const told = (text: string) =>
      `regexp_replace(${text}, '"code":"[^"]*"', '"code":"resolved_by_operator"')`
    expect(
      await forge(
        `UPDATE payouts SET failure_code = 'resolved_by_operator' WHERE id = '${failed}'`,
        `UPDATE events SET data = ${told('data::text')}::json WHERE object_id = '${failed}' AND sequence = 3`,
      ),
    ).toBe(RESOLUTION)
  })

  test('a quote that is dated after its trade', async () => {
    const EARLIER = `created_at = created_at - interval '1 hour'`
    expect(
      await forge(
        `UPDATE trades SET ${EARLIER}`,
        `UPDATE entries SET ${EARLIER} WHERE cause_id LIKE 'td\\_%'`,
        `UPDATE events SET ${EARLIER}, data = regexp_replace(data::text, '"created_at":"[^"]*"', '"created_at":"'
           || to_char((created_at - interval '1 hour') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"')::json
         WHERE object_id LIKE 'td\\_%'`,
      ),
    ).toBe('every trade has its quote, with the same terms, and every executed quote its trade')
  })

  test('a transfer with the transaction hash of another one in other letters', async () => {
    const other = `(SELECT upper(tx_hash) FROM transfers ORDER BY id LIMIT 1)`
    const last = '(SELECT max(id) FROM transfers)'
    expect(
      await forge(
        `UPDATE transfers SET tx_hash = ${other} WHERE id = ${last}`,
        `UPDATE transactions SET tx_hash = ${other} WHERE transfer_id = ${last}`,
        `UPDATE events SET data = regexp_replace(data::text, '"tx_hash":"[^"]*"', '"tx_hash":"' || ${other} || '"')::json
         WHERE object_id = ${last} AND sequence > 1`,
      ),
    ).toBe('no two transfers are one transaction of their network')
  })

  test('a payment of fees that told nobody', async () => {
    expect(
      await forge(`UPDATE fee_payouts SET sequence = 0`, `DELETE FROM events WHERE object_id LIKE 'fp\\_%'`),
    ).toBe('every payment of fees was told')
  })

  const REFUSALS = 'every refusal whose idempotency key is in force is stored as it was returned'
  const REFUSED = `resource_id IS NULL AND answer_status = 422`
  test.each([
    ['was removed', `DELETE FROM claims WHERE ${REFUSED}`],
    ['is kept under another key', `UPDATE claims SET key = key || 'x' WHERE ${REFUSED}`],
    [
      'tells something else',
      `UPDATE claims SET answer_body = replace(answer_body, 'insufficient', 'abundant') WHERE ${REFUSED}`,
    ],
    [
      'is free earlier',
      `UPDATE claims SET expires_at = expires_at - interval '1 hour', claimed_at = claimed_at - interval '1 hour' WHERE ${REFUSED}`,
    ],
  ])('a refusal that %s', async (_, statement) => {
    expect(await forge(statement)).toBe(REFUSALS)
  })

  test('a completed trade that was never folded', async () => {
    expect(await forge('DELETE FROM folds', 'DELETE FROM positions')).toMatch(
      /^the sums of the treasury and of the partners’ fees are those of their entries/,
    )
  })

  test('and nothing of a credit that two operators made', async () => {
    const credit = [...credited('operator', `'because'`, `'REFX'`), referred]
    expect(await findAfter(AMONG_REAL_MONEY, ...credit, proposed(5000, `'joao'`))).toEqual({
      findings: [],
      pieces: [],
    })
  })

  test('and nothing of an honest history', async () => {
    expect((await history.audit()).sandbox.findings).toEqual([])
  })
})

test('what the outside calls one payment cannot be the name of two', async () => {
  const refused = async (sql: string) => {
    await owner.query('BEGIN')
    const error = await owner.query(sql).catch((failure: Error) => failure)
    await owner.query('ROLLBACK')
    return String(error)
  }
  expect(
    await refused(
      `UPDATE payouts SET end_to_end_id = (SELECT end_to_end_id FROM payouts WHERE id = '${paid}') WHERE customer_id = '${B}'`,
    ),
  ).toMatch(/payouts_end_to_end_id/)
  expect(
    await refused(
      `INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, reason, reference, created_at) SELECT 'dep_2', partner_id, customer_id, asset, amount, rail, reason, reference, now() FROM deposits WHERE reference = 'REF1'`,
    ),
  ).toMatch(/deposits_reference/)
})
