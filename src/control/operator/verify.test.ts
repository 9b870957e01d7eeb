import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asAdmin, createDatabase, TEST_KEY } from '../../../test/support/database.ts'
import { openDesk, operator } from '../../../test/support/operators.ts'
import { openDirectAccess, someCpf } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { createSealer } from '../../core/seal.ts'
import { type Pool, transaction } from '../../db/pool.ts'
import type { StoragePlace } from '../../db/sealing.ts'
import { audit } from '../../ledger/audit.ts'
import { addCustomer } from '../../parties/customers/customers.ts'
import { lineAfter, logPlaces } from '../../records/acts/line.ts'
import { note } from '../../records/acts/log.ts'
import { openExceptions } from '../../records/exceptions/store.ts'
import { openAuditWorker } from '../audit/worker.ts'
import { act } from './act.ts'
import { openOffice } from './office.ts'
import { entryOf } from './proposals.ts'
import { type Proposal, proposalById } from './store.ts'
import { logChecks, verifyLog } from './verify.ts'

/** An attacker with superuser access to the database: every change to a log or to proposals is reported. */
const schemas = { production: 'live', sandbox: 'sandbox', shared: 'shared' } as const
const [ana, bea] = [operator('ana@operator.example'), operator('bea@operator.example')]
let hands: ReturnType<typeof openDirectAccess>
const anchors = {} as Record<StoragePlace, { seq: bigint; hash: string }>

const sql = (...statements: string[]) =>
  asAdmin(hands.database.url, ['SET session_replication_role = replica', ...statements])
const broken = async (place: StoragePlace, noted: readonly { seq: bigint; hash: string }[] = []) =>
  (await verifyLog(hands.office, place, noted)).broken

beforeAll(async () => {
  hands = openDirectAccess(await createDatabase())
  const { office, worlds } = hands
  const shell = { kind: 'shell' } as const
  const partner = await act(office, shell, { name: 'create_partner', details: { name: 'Acme' } })
  const partner_id = 'done' in partner ? partner.done.partner.id : ''
  for (const { user_id, email } of [ana, bea])
    await hands.shared.db.query(
      `INSERT INTO users (id, email, name, password_hash, role, operator_role) VALUES ($1, $2, $2, 'x', 'operator', 'admin')`,
      [user_id, email],
    )
  const desk = openDesk(() => office)
  for (const environment of ['production', 'sandbox'] as const) {
    const { id: customer_id } = await addCustomer(worlds[environment], {
      partner_id,
      name: 'Rita',
      document: someCpf(),
    })
    for (const reference of ['a', 'b', 'c']) {
      const details = { partner_id, customer_id, asset: 'BRL', amount: '5', reason: 'x', reference } as const
      const { id } = await desk.propose(worlds[environment], { name: 'credit', details }, ana.email)
      if (reference === 'a') await desk.approve(worlds[environment], id, bea.email)
    }
    for (const name of ['block_customer', 'unblock_customer'] as const)
      await act(office, ana, { name, environment, details: { customer_id } })
  }
  for (const name of ['reset_password', 'reset_password', 'reset_password'] as const)
    await act(office, ana, { name, details: { email: bea.email } })
  await act(office, ana, { name: 'change_partner', details: { partner_id, change: { pix_fee: 1 } } })
  for (const place of logPlaces) {
    const [head] = await sql(`SELECT seq, hash FROM ${schemas[place]}.acts_head`)
    anchors[place] = { seq: BigInt(head!.seq as string), hash: head!.hash as string }
    await sql(
      `CREATE TABLE public.acts_${place} AS SELECT * FROM ${schemas[place]}.acts`,
      `CREATE TABLE public.proposals_${place} AS SELECT * FROM ${schemas[place]}.proposals`,
    )
  }
})
afterAll(() => hands.stop())

async function restore(place: StoragePlace): Promise<void> {
  const schema = schemas[place]
  const { seq, hash } = anchors[place]
  await sql(
    `DELETE FROM ${schema}.acts; INSERT INTO ${schema}.acts SELECT * FROM public.acts_${place}`,
    `DELETE FROM ${schema}.proposals; INSERT INTO ${schema}.proposals SELECT * FROM public.proposals_${place}`,
    `DELETE FROM ${schema}.acts_head; INSERT INTO ${schema}.acts_head (id, seq, hash) VALUES ('head', ${seq}, '${hash}')`,
  )
}

type Tamper = readonly [name: string, statements: (schema: string, last: bigint) => string[], named: RegExp]

const copy = (schema: string, seq: bigint | number, as: string) =>
  `INSERT INTO ${schema}.acts SELECT ${as}, at, actor_kind, actor_id, actor_email, session_id, action, object_id, before, after,
     proposal_id, previous_hash, hash FROM ${schema}.acts WHERE seq = ${seq}`
const anyProposal = (schema: string) => `(SELECT id FROM ${schema}.proposals ORDER BY id DESC LIMIT 1)`

const tampers: readonly Tamper[] = [
  [
    'who did it is changed',
    (s) => [`UPDATE ${s}.acts SET actor_email = 'eva@x.example' WHERE seq = 2`],
    /line 2 of \w+: changed/,
  ],
  [
    'when is changed',
    (s) => [`UPDATE ${s}.acts SET at = at + interval '1 ms' WHERE seq = 3`],
    /line 3 of \w+: changed/,
  ],
  [
    'what it was before is changed',
    (s) => [`UPDATE ${s}.acts SET before = '{}' WHERE seq = 3`],
    /line 3 of \w+: changed/,
  ],
  [
    'what it is after is changed',
    (s) => [`UPDATE ${s}.acts SET after = after || ' ' WHERE seq = 2`],
    /line 2 of \w+: changed/,
  ],
  [
    'the first line is changed',
    (s) => [`UPDATE ${s}.acts SET after = '{"found":{}}', action = 'begun' WHERE seq = 1`],
    /line 1 of \w+: changed/,
  ],
  [
    'a hash is changed',
    (s) => [`UPDATE ${s}.acts SET hash = md5('x') || md5('y') WHERE seq = 2`],
    /line 2 of \w+: changed[\s\S]*line 3 of \w+: out of order/,
  ],
  ['one is removed', (s) => [`DELETE FROM ${s}.acts WHERE seq = 2`], /line 2 of \w+: removed/],
  [
    'several are removed',
    (s) => [`DELETE FROM ${s}.acts WHERE seq IN (2, 3)`],
    /line 2 of \w+: removed, with all up to 3/,
  ],
  ['the first is removed', (s) => [`DELETE FROM ${s}.acts WHERE seq = 1`], /line 1 of \w+: removed/],
  [
    'the last is removed',
    (s, last) => [`DELETE FROM ${s}.acts WHERE seq = ${last}`],
    /line \d+ of \w+: removed/,
  ],
  [
    'one is removed and the others move up',
    (s) => [`DELETE FROM ${s}.acts WHERE seq = 2`, `UPDATE ${s}.acts SET seq = seq - 1 WHERE seq = 3`],
    /line 2 of \w+: changed[\s\S]*line 3 of \w+: removed/,
  ],
  [
    'two change places',
    (s) => [
      `UPDATE ${s}.acts SET seq = 1000 WHERE seq = 2`,
      `UPDATE ${s}.acts SET seq = 2 WHERE seq = 3`,
      `UPDATE ${s}.acts SET seq = 3 WHERE seq = 1000`,
    ],
    /line 2 of \w+: out of order: it was line 3[\s\S]*line 3 of \w+: out of order: it was line 2/,
  ],
  ['one is added at the end', (s, last) => [copy(s, last, `${last + 1n}`)], /line \d+ of \w+: added/],
  [
    'one is added at the end, and the head with it',
    (s, last) => [copy(s, last, `${last + 1n}`), `UPDATE ${s}.acts_head SET seq = ${last + 1n}`],
    /line \d+ of \w+: changed, or added/,
  ],
  [
    'a line is of no time',
    (s) => [`UPDATE ${s}.acts SET at = 'infinity' WHERE seq = 2`],
    /line 2 of \w+: changed/,
  ],
  [
    'the head is removed',
    (s) => [`DELETE FROM ${s}.acts_head`],
    /the log of \w+: the row in acts_head was removed/,
  ],
  [
    'the log is emptied',
    (s) => [`DELETE FROM ${s}.acts`, `UPDATE ${s}.acts_head SET seq = 0, hash = ''`],
    /the log of \w+: the log is empty, though it had begun/,
  ],
  ['the head is set back', (s) => [`UPDATE ${s}.acts_head SET seq = seq - 1`], /line \d+ of \w+: added/],
  [
    'the head says another hash',
    (s) => [`UPDATE ${s}.acts_head SET hash = 'x'`],
    /the head has another hash/,
  ],
  [
    'a proposal is changed',
    (s) => [`UPDATE ${s}.proposals SET details = '{"amount":"9"}' WHERE id = ${anyProposal(s)}`],
    /prp_\w+: a proposal of \w+ that differs from its line/,
  ],
  [
    'its author is changed',
    (s) => [`UPDATE ${s}.proposals SET proposed_by = 'eva@x.example' WHERE id = ${anyProposal(s)}`],
    /prp_\w+: a proposal of \w+ that differs/,
  ],
  [
    'it is approved by hand',
    (s) => [
      `UPDATE ${s}.proposals SET approved_by = 'eva@x.example', approved_at = now(), ended = 'done', ended_by = 'eva@x.example', ended_at = now(),
         resource_id = 'x' WHERE id = ${anyProposal(s)}`,
    ],
    /prp_\w+: a proposal of \w+ that differs/,
  ],
  [
    'it expired before its time',
    (s) => [
      `UPDATE ${s}.proposals SET ended = 'expired', ended_at = expires_at WHERE id = ${anyProposal(s)}`,
    ],
    /prp_\w+: a proposal of \w+ that expired before its time was over/,
  ],
  [
    'a proposal is removed',
    (s) => [`DELETE FROM ${s}.proposals WHERE id = ${anyProposal(s)}`],
    /prp_\w+: a proposal of \w+ was removed/,
  ],
  [
    'a proposal is added',
    (s) => [
      `INSERT INTO ${s}.proposals (id, action, details, proposed_by) SELECT 'prp_added', action, details, proposed_by FROM ${s}.proposals LIMIT 1`,
    ],
    /prp_added: a proposal of \w+ that was not proposed through the service/,
  ],
  [
    'a proposal is added with a line of its own',
    (s, last) => [
      `INSERT INTO ${s}.proposals (id, action, details, proposed_by) SELECT 'prp_added', action, details, proposed_by FROM ${s}.proposals LIMIT 1`,
      copy(s, last, `${last + 1n}`),
      `UPDATE ${s}.acts SET proposal_id = 'prp_added', after = '{"proposal":"x"}' WHERE seq = ${last + 1n}`,
    ],
    /added[\s\S]*prp_added: a proposal of \w+ that was not proposed through the service/,
  ],
]

describe.each(logPlaces)('in %s', (place) => {
  test('an untouched log is unbroken and contains the noted lines', async () => {
    expect(await broken(place, [anchors[place]])).toEqual([])
  })

  test.each(tampers)('%s: the verification reports it', async (_, statements, named) => {
    await sql(...statements(schemas[place], anchors[place].seq))
    const found = await broken(place)
    await restore(place)
    expect(found.map(({ object_id, wrong }) => `${object_id}: ${wrong}`).join('\n')).toMatch(named)
    expect(await broken(place)).toEqual([])
  })

  test('a log cut off together with its head is detected only by a line that was noted outside', async () => {
    const { seq } = anchors[place]
    // An attacker who can write anything can leave a shorter log that is whole, as long as its lines tell of no
    // missing proposal.
    const about = `SELECT coalesce(max(seq), 0) AS seq FROM ${schemas[place]}.acts WHERE proposal_id IS NOT NULL`
    const [row] = await sql(about)
    const kept = BigInt(row!.seq as string)
    expect(kept).toBeLessThan(seq)
    await sql(
      `DELETE FROM ${schemas[place]}.acts WHERE seq > ${kept}`,
      `UPDATE ${schemas[place]}.acts_head SET (seq, hash) = (SELECT seq, hash FROM ${schemas[place]}.acts WHERE seq = ${kept})`,
    )
    const [unseen, seen] = [await broken(place), await broken(place, [anchors[place]])]
    await restore(place)
    expect(unseen).toEqual([])
    expect(seen).toEqual([
      { object_id: `line ${seq} of ${place}`, wrong: expect.stringMatching(/^removed: its hash was noted/) },
    ])
  })

  test('a chain recomputed without the key does not verify', async () => {
    const { rows } = await hands.office.log.pools[place].query('SELECT seq, hash FROM acts_head')
    const pen = { place, key: Buffer.alloc(32, 1), actor: { kind: 'shell' } as const }
    const entry = { action: 'create_key' as const, object_id: 'key_x', before: null, after: null }
    const forged = lineAfter(rows[0], pen, entry, new Date())
    await hands.office.log.pools[place].query(
      `INSERT INTO acts (seq, at, actor_kind, action, object_id, previous_hash, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [forged.seq, forged.at, 'shell', forged.action, forged.object_id, forged.previous_hash, forged.hash],
    )
    await hands.office.log.pools[place].query('UPDATE acts_head SET seq = $1, hash = $2', [
      forged.seq,
      forged.hash,
    ])
    const found = await broken(place)
    await restore(place)
    expect(found).toEqual([
      { object_id: `line ${forged.seq} of ${place}`, wrong: expect.stringMatching(/^changed, or added/) },
    ])
  })
})

test('the audit reports what the verification reports; that of production also covers the shared log', async () => {
  const findings = async (environment: 'production' | 'sandbox') =>
    (await audit(hands.worlds[environment].db, logChecks(hands.office, environment))).findings.filter(
      ({ check }) => check.endsWith('unbroken log'),
    )
  expect([await findings('production'), await findings('sandbox')]).toEqual([[], []])
  await sql(`UPDATE shared.acts SET action = 'x' WHERE seq = 2`, `DELETE FROM live.acts WHERE seq = 2`)
  const [production, sandbox] = [await findings('production'), await findings('sandbox')]
  await restore('shared')
  await restore('production')
  expect(production.flatMap(({ examples }) => examples.map(({ object_id }) => object_id))).toEqual([
    'line 2 of production',
    expect.stringMatching(/^prp_/),
    'line 2 of shared',
  ])
  expect(sandbox).toEqual([])
})

/** What the scheduled audit reports about an object, once the audit has reached it. */
async function auditedBy(environment: 'production' | 'sandbox', object_id: string) {
  const world = hands.worlds[environment]
  const worker = openAuditWorker(world, {
    checks: [],
    at_end: logChecks(hands.office, environment),
    log: pino({ level: 'silent' }),
    every_ms: 50,
    share_pct: 100,
  })
  const seen = async () => (await openExceptions(world.db, 100)).find((one) => one.object_id === object_id)
  await until(async () => (await seen()) !== undefined, 30_000)
  await worker.stop()
  return seen()
}

test('the scheduled audit records a broken log as an exception', async () => {
  await sql(`UPDATE sandbox.acts SET action = 'x' WHERE seq = 2`)
  const seen = await auditedBy('sandbox', 'line 2 of sandbox')
  await restore('sandbox')
  expect(seen).toMatchObject({ kind: 'audit', details: { wrong: expect.stringMatching(/^changed/) } })
})

test('no role of the service can change or remove a line', async () => {
  for (const place of logPlaces)
    for (const statement of ['UPDATE acts SET hash = hash', 'DELETE FROM acts', 'DELETE FROM acts_head'])
      await expect(hands.office.log.pools[place].query(statement)).rejects.toMatchObject({ code: '42501' })
})

test('a proposal older than its log is reported: it was not proposed through the service', async () => {
  const own = openDirectAccess(await createDatabase())
  const insert = `INSERT INTO proposals (id, action, details, proposed_by) VALUES ('prp_old', 'credit', '{"reference":"old"}', 'ana')`
  await own.worlds.production.db.query(insert)
  const before = await verifyLog(own.office, 'production')
  await own.office.log.begin()
  const after = await verifyLog(own.office, 'production')
  await own.stop()
  const named = [{ object_id: 'prp_old', wrong: expect.stringMatching(/not proposed through the service/) }]
  expect([before.broken, after.broken]).toEqual([named, named])
})

describe('a step taken through the service does not vouch for changes made outside of it', () => {
  const world = () => hands.worlds.production
  const openOne = async (): Promise<Proposal> => {
    const { rows } = await world().db.query('SELECT id FROM proposals WHERE ended IS NULL ORDER BY id')
    return (await proposalById(world().db, rows[0].id))!
  }
  const writeStep = async (step: Parameters<typeof entryOf>[0], by: string | null, proposal: Proposal) => {
    const actor = by === null ? ({ kind: 'service' } as const) : operator(by)
    const pen = await hands.office.log.pen('production', actor)
    await transaction(world().db, (tx) => note(tx, pen, entryOf(step, proposal)))
  }
  const rejectByHand = (id: string, by: string) =>
    sql(
      `UPDATE live.proposals SET ended = 'rejected', ended_by = '${by}', ended_reason = 'x', ended_at = now() WHERE id = '${id}'`,
    )

  const cases: readonly [string, () => Promise<unknown>, string][] = [
    [
      'one that was inserted by hand and rejected',
      async () => {
        await sql(
          `INSERT INTO live.proposals (id, action, details, proposed_by) SELECT 'prp_added', action,
             replace(details::text, '"b"', '"by hand"')::json, proposed_by FROM live.proposals WHERE details ->> 'reference' = 'b'`,
        )
        await openDesk(() => hands.office).reject(world(), 'prp_added', bea.email, 'no')
      },
      'was not proposed through the service',
    ],
    [
      'one that was changed by hand and rejected',
      async () => {
        const { id } = await openOne()
        await sql(
          `UPDATE live.proposals SET details = replace(details::text, '"5"', '"500"')::json WHERE id = '${id}'`,
        )
        await openDesk(() => hands.office).reject(world(), id, bea.email, 'no')
      },
      'is another than was proposed',
    ],
    [
      'one that was rejected by another than its line says',
      async () => {
        const { id } = await openOne()
        await rejectByHand(id, bea.email)
        await writeStep('reject', 'eva@operator.example', (await proposalById(world().db, id))!)
      },
      'was proposed or decided by another than its line says',
    ],
    [
      'one that is open again',
      async () => writeStep('expire', null, await openOne()),
      'is open, though its last line is: expire',
    ],
    [
      'one that went on after its end',
      async () => {
        const proposal = await openOne()
        await writeStep('expire', null, proposal)
        await rejectByHand(proposal.id, bea.email)
        await writeStep('reject', bea.email, (await proposalById(world().db, proposal.id))!)
      },
      'went on after its end',
    ],
  ]
  test.each(cases)('%s', async (_, tamper, wrong) => {
    await tamper()
    const found = await broken('production')
    await restore('production')
    expect(found).toEqual([
      { object_id: expect.stringMatching(/^prp_/), wrong: `a proposal of production that ${wrong}` },
    ])
  })
})

test('thousands of forged lines are counted, a few are named, and the audit goes on', async () => {
  await hands.worlds.production.db.query(
    `INSERT INTO acts (seq, at, actor_kind, action, previous_hash, hash)
     SELECT (SELECT seq FROM acts_head) + n, now(), 'shell', 'x', '', '' FROM generate_series(1, 3000) n`,
  )
  const found = await broken('production')
  const seen = await auditedBy('production', found[0]!.object_id)
  await restore('production')
  expect(seen).toMatchObject({ kind: 'audit', details: { found: 22 } })
  expect(found.map(({ wrong }) => wrong)).toEqual([
    ...Array(20).fill('added: it was not written by the service'),
    '2980 more lines that are not as they were written',
    expect.stringMatching(/^added: lines after it, up to \d+, that acts_head does not count/),
  ])
})

test('an act whose line number is taken fails with that reason, beside the ledger and through it', async () => {
  const { rows } = await hands.worlds.production.db.query(
    `SELECT id, details ->> 'customer_id' AS customer_id FROM proposals WHERE details ->> 'reference' = 'c'`,
  )
  const { id: proposal_id, customer_id } = rows[0]
  const next = anchors.production.seq + 1n
  await hands.worlds.production.db.query(
    `INSERT INTO acts (seq, at, actor_kind, action, previous_hash, hash) VALUES ($1, now(), 'shell', 'x', '', '')`,
    [next],
  )
  const unblock = () =>
    act(hands.office, ana, {
      name: 'unblock_customer',
      environment: 'production',
      details: { customer_id },
    })
  const failures = await Promise.allSettled([
    unblock(),
    act(hands.office, bea, { name: 'approve', details: { proposal_id } }),
  ])
  // As docs/operate/incidents.md says.
  await sql('DELETE FROM live.acts WHERE seq > (SELECT seq FROM live.acts_head)')
  await unblock()
  const after = await broken('production')
  await restore('production')
  const sentence = `The log of production has a line ${next} that the service did not write, so nothing was done`
  for (const failure of failures)
    expect(failure).toMatchObject({ reason: { message: expect.stringContaining(sentence) } })
  expect(after).toEqual([])
})

test('an emptied log is not begun again, and later lines do not hide that it was emptied', async () => {
  await sql('DELETE FROM live.acts', `UPDATE live.acts_head SET seq = 0, hash = ''`)
  const { shared, worlds } = hands
  const office = openOffice({ shared, worlds, sealer: createSealer([TEST_KEY]) })
  await office.log.begin()
  const emptied = await verifyLog(office, 'production')
  const pen = await office.log.pen('production', { kind: 'shell' })
  const entry = { action: 'create_key' as const, object_id: 'key_x', before: null, after: null }
  await transaction(worlds.production.db, (tx) => note(tx, pen, entry))
  const written = await verifyLog(office, 'production')
  await restore('production')
  expect(emptied).toMatchObject({
    lines: 0n,
    broken: [{ wrong: 'the log is empty, though it had begun' }, {}, {}, {}],
  })
  expect(written.broken[0]).toEqual({
    object_id: 'line 1 of production',
    wrong: 'not the beginning: the lines before it were removed',
  })
})

test('a begin of the logs that failed midway is completed by the next one', async () => {
  const own = openDirectAccess(await createDatabase())
  const { shared, worlds } = own
  const away = { connect: () => Promise.reject(new Error('cut')), wait_ms: 0 } as unknown as Pool
  const cut = { ...worlds, sandbox: { ...worlds.sandbox, db: away } }
  const half = openOffice({ shared, worlds: cut, sealer: createSealer([TEST_KEY]) })
  await expect(half.log.begin()).rejects.toThrow('cut')
  await own.office.log.begin()
  const proofs = await Promise.all(logPlaces.map((place) => verifyLog(own.office, place)))
  await own.stop()
  expect(proofs).toEqual(logPlaces.map((place) => ({ place, lines: 1n, broken: [] })))
})
