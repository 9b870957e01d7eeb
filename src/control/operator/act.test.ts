import { createHash } from 'node:crypto'
import { verify as verifyPassword } from '@node-rs/argon2'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { asAdmin, createDatabase, isLockAwaited, lockWaits, seatAt } from '../../../test/support/database.ts'
import { operator } from '../../../test/support/operators.ts'
import { inParallel, times } from '../../../test/support/parallel.ts'
import { openProxy } from '../../../test/support/proxy.ts'
import { openGate } from '../../../test/support/rail-bench.ts'
import { openDirectAccess, someCpf } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import type { OperatorActor } from '../../core/actor.ts'
import type { Environment } from '../../core/environment.ts'
import { type Db, openClient } from '../../db/pool.ts'
import { audit } from '../../ledger/audit.ts'
import { selectControls } from '../../money/custody/controls-store.ts'
import { sliceChecks } from '../../node/worlds.ts'
import { addCustomer } from '../../parties/customers/customers.ts'
import { removeUser, setRole } from '../../parties/team/people.ts'
import { lockUser, selectUser } from '../../parties/team/store.ts'
import type { LogLine } from '../../records/acts/line.ts'
import { newestLines } from '../../records/acts/store.ts'
import { recordException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { act } from './act.ts'
import type { Office } from './office.ts'
import type { Act } from './registry.ts'
import { type ActName, rules } from './rules.ts'
import { verifyLog } from './verify.ts'

type Hands = ReturnType<typeof openDirectAccess>
const shell = { kind: 'shell' } as const
const [ana, bea, eva] = [
  operator('ana@operator.example'),
  operator('bea@operator.example'),
  operator('eva@operator.example'),
]

/** A partner, and everything that each act needs to succeed once. */
async function openOffice(hands: Hands) {
  const { office, shared, worlds } = hands
  const asShell = <Name extends ActName>(action: Act<Name>) => act(office, shell, action)
  const made = await asShell({ name: 'create_partner', details: { name: 'Acme' } })
  const partner_id = 'done' in made ? made.done.partner.id : ''
  const customerIn = (environment: Environment) =>
    addCustomer(worlds[environment], { partner_id, name: 'Rita Lima', document: someCpf() })
  let references = 0
  return {
    url: hands.database.url,
    office,
    shared,
    worlds,
    partner_id,
    customerIn,
    asShell,
    booking: (customer_id: string, amount = '700') =>
      ({
        partner_id,
        customer_id,
        asset: 'BRL',
        amount,
        reason: 'wire 8841',
        reference: `r-${partner_id}-${references++}`,
      }) as const,
    async makeOperators(...people: { user_id: string; email: string; role: string }[]) {
      for (const { user_id, email, role } of people)
        await hands.shared.db.query(
          `INSERT INTO users (id, email, name, password_hash, role, operator_role) VALUES ($1, $2, $2, 'x', 'operator', $3)`,
          [user_id, email, role],
        )
    },
  }
}

async function freshOffice() {
  const hands = openDirectAccess(await createDatabase())
  onTestFinished(hands.stop)
  return openOffice(hands)
}

/**
 * Decides each command once in a preview, runs `meanwhile`, then commits: like a batch that lost a race and runs
 * again.
 */
function afterLostRace(office: Office, meanwhile: () => Promise<unknown>): Office {
  const losing = <E extends Environment>(world: World<E>): World<E> => ({
    ...world,
    async commit(command) {
      await world.preview(command)
      await meanwhile()
      return world.commit(command)
    },
  })
  const { production, sandbox } = office.worlds
  return { ...office, worlds: { production: losing(production), sandbox: losing(sandbox) } }
}

const doneOf = <T>(acted: { done: T } | object): T => {
  if (!('done' in acted)) throw new Error('it was proposed')
  return acted.done as T
}
const proposedOf = (acted: { proposed: { id: string } } | object): string => {
  if (!('proposed' in acted)) throw new Error('it was done')
  return (acted.proposed as { id: string }).id
}

describe('from a shell, while there is no operator', () => {
  let hands: Hands
  let at: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    hands = openDirectAccess(await createDatabase())
    at = await openOffice(hands)
  })
  afterAll(() => hands.stop())

  const newest = async (place: Environment | 'shared'): Promise<LogLine> =>
    (await newestLines(at.office.log.pools[place], 1))[0]!

  test.each(['production', 'sandbox'] as const)(
    'every act in %s writes one line, with the state before and after and without secrets',
    async (environment) => {
      const { partner_id, office, asShell } = at
      const customer = await at.customerIn(environment)
      const { id: customer_id } = customer
      await recordException(at.worlds[environment].db, at.worlds[environment].clock, {
        kind: 'stuck',
        rail: 'pix',
        object_id: customer_id,
        partner_id: null,
        details: {},
      })
      const { rows } = await at.worlds[environment].db.query('SELECT id FROM exceptions')
      const key = doneOf<{ key: { id: string }; value: string }>(
        await asShell({ name: 'create_key', environment, details: { partner_id, name: 'K' } }),
      )
      const key_id = key.key.id
      expect(await newest(environment)).toMatchObject({
        action: 'create_key',
        object_id: key_id,
        before: null,
      })
      const acts: [() => Promise<unknown>, Record<string, unknown>][] = [
        [
          () => asShell({ name: 'rotate_key', environment, details: { key_id, grace_seconds: 0 } }),
          { action: 'rotate_key', object_id: key_id },
        ],
        [
          () => asShell({ name: 'set_key_limits', environment, details: { key_id, limits: { per_day: 5 } } }),
          { before: expect.stringMatching(/"per_day":null/), after: expect.stringMatching(/"per_day":5/) },
        ],
        [
          () => asShell({ name: 'revoke_key', environment, details: { key_id } }),
          {
            before: expect.stringMatching(/"revoked_at":null/),
            after: expect.stringMatching(/"revoked_at":"2/),
          },
        ],
        [
          () => asShell({ name: 'block_customer', environment, details: { customer_id } }),
          {
            object_id: customer_id,
            before: '{"status":"active","third_party_payouts":false}',
            after: '{"status":"blocked","third_party_payouts":false}',
          },
        ],
        [
          () => asShell({ name: 'unblock_customer', environment, details: { customer_id } }),
          { before: expect.stringMatching(/blocked/), after: expect.stringMatching(/active/) },
        ],
        [
          () => asShell({ name: 'allow_third_party', environment, details: { customer_id, allowed: true } }),
          { after: '{"status":"active","third_party_payouts":true}' },
        ],
        [
          () =>
            asShell({
              name: 'set_money_limits',
              environment,
              details: { subject_id: customer_id, change: { payout_day: 9n } },
            }),
          { before: null, after: expect.stringMatching(/"payout_day":"9"/) },
        ],
        [
          () => asShell({ name: 'set_treasury_limits', environment, details: { asset: 'BTC', lowest: -5n } }),
          { object_id: 'BTC', after: '{"asset":"BTC","highest":null,"lowest":"-5"}' },
        ],
        [
          () =>
            asShell({
              name: 'set_rail_limits',
              environment,
              details: { rail: 'tron', reason: 'new', change: { day_most: 9n } },
            }),
          { object_id: 'tron', after: expect.stringMatching(/"day_most":"9"/) },
        ],
        [
          () => asShell({ name: 'pause_rail', environment, details: { rail: 'tron', reason: 'odd' } }),
          {
            object_id: 'tron',
            before: expect.stringMatching(/"paused_by":null/),
            after: expect.stringMatching(/"paused_by":"shell"/),
          },
        ],
        [
          () =>
            asShell({
              name: 'close_exception',
              environment,
              details: { exception_id: rows[0].id, reason: 'looked' },
            }),
          { object_id: rows[0].id, after: expect.stringMatching(/"closed_by":"command line"/) },
        ],
      ]
      for (const [perform, said] of acts) {
        const before = await newest(environment)
        await perform()
        const line = await newest(environment)
        expect(line).toMatchObject({ actor_kind: 'shell', actor_email: null, ...said })
        expect(line).toMatchObject({ seq: before.seq + 1n, previous_hash: before.hash })
      }
      const lines = JSON.stringify(await newestLines(office.log.pools[environment], 100), (_, v) => String(v))
      for (const secret of [key.value, customer.document]) expect(lines).not.toContain(secret)
      expect((await verifyLog(office, environment)).broken).toEqual([])
    },
  )

  test('acts on partners and people write one line each; no line holds a password', async () => {
    const { asShell, partner_id, office } = at
    await asShell({ name: 'change_partner', details: { partner_id, change: { pix_fee: 7 } } })
    expect(await newest('shared')).toMatchObject({
      action: 'change_partner',
      before: expect.stringMatching(/"pix_fee":0/),
      after: expect.stringMatching(/"pix_fee":7/),
    })
    const owner = { email: 'first@acme.example', name: 'First' }
    const { invited } = doneOf<{ invited: { token: string } }>(
      await asShell({ name: 'create_partner', details: { name: 'Acme', owner } }),
    )
    expect(await newest('shared')).toMatchObject({ action: 'create_partner', before: null })
    const details = { email: 'o@acme.example', name: 'O', partner_id, role: 'owner' } as const
    const made = doneOf<{ user: { id: string }; password: string }>(
      await asShell({ name: 'create_user', details }),
    )
    const reset = doneOf<{ password: string }>(
      await asShell({ name: 'reset_password', details: { email: 'o@acme.example' } }),
    )
    expect(await newest('shared')).toMatchObject({ action: 'reset_password', object_id: made.user.id })
    const lines = JSON.stringify(await newestLines(office.log.pools.shared, 100), (_, v) => String(v))
    expect(lines).not.toContain(invited.token)
    for (const secret of [made.password, reset.password, 'argon2']) expect(lines).not.toContain(secret)
    expect((await verifyLog(office, 'shared')).broken).toEqual([])
  })

  test('money in production is refused, with how to create operators; in the sandbox it moves once, with its line', async () => {
    const { asShell, office } = at
    const live = await at.customerIn('production')
    const credit = asShell({ name: 'credit', environment: 'production', details: at.booking(live.id) })
    await expect(credit).rejects.toThrow(/trilho users create --email EMAIL --operator/)
    const { id } = await at.customerIn('sandbox')
    const details = at.booking(id)
    const first = await asShell({ name: 'credit', environment: 'sandbox', details })
    const again = await asShell({ name: 'credit', environment: 'sandbox', details })
    expect(first.line).toMatchObject({ place: 'sandbox', seq: (await newest('sandbox')).seq })
    expect(again.line).toBeUndefined()
    expect(await newest('sandbox')).toMatchObject({ action: 'credit', object_id: id })
    expect((await verifyLog(office, 'sandbox')).broken).toEqual([])
  })

  test('a command that lost a race and moved nothing writes no line', async () => {
    const at = await freshOffice()
    const { id } = await at.customerIn('sandbox')
    const order = { name: 'credit', environment: 'sandbox', details: at.booking(id) } as const
    const late = afterLostRace(at.office, () => act(at.office, shell, order))
    const { line } = await act(late, shell, order)
    expect(line).toBeUndefined()
    expect((await verifyLog(at.office, 'sandbox')).broken).toEqual([])
  })

  test('an act that fails writes no line', async () => {
    const before = [await newest('production'), await newest('shared')]
    const nobody = { customer_id: 'cus_none' }
    await expect(
      at.asShell({ name: 'block_customer', environment: 'production', details: nobody }),
    ).rejects.toThrow(/No customer cus_none/)
    await expect(
      at.asShell({ name: 'reset_password', details: { email: 'nobody@x.example' } }),
    ).rejects.toThrow(/No user with the e-mail/)
    expect([await newest('production'), await newest('shared')]).toEqual(before)
  })

  test('the first operator is created from the shell, with a line in the log', async () => {
    const details = { email: 'First@Operator.example', name: 'F', partner_id: null, role: 'admin' } as const
    await at.asShell({ name: 'create_user', details })
    expect(await newest('shared')).toMatchObject({ action: 'create_user', actor_kind: 'shell' })
    await expect(
      at.asShell({ name: 'create_user', details: { ...details, email: 'x@y.zz' } }),
    ).rejects.toThrow(/takes an operator who is signed in/)
    await expect(at.asShell({ name: 'create_partner', details: { name: 'Later' } })).rejects.toThrow(
      /takes an operator who is signed in/,
    )
  })

  test('every act of the rules was tried above, or needs operators', () => {
    const tried = new Set<string>(
      ['approve', 'reject', 'withdraw', 'set_role', 'reset_factor', 'remove_user', 'rotate_secrets'].concat(
        [
          'debit',
          'reverse_credit',
          'resolve_payout',
          'resolve_transfer',
          'cancel_transfer',
          'pay_fees',
          'credit',
        ],
        ['move_custody', 'pause_rail', 'resume_rail', 'set_rail_limits'],
        ['create_key', 'rotate_key', 'set_key_limits', 'revoke_key', 'block_customer', 'unblock_customer'],
        [
          'allow_third_party',
          'set_money_limits',
          'set_treasury_limits',
          'close_exception',
          'note_statement',
          'note_backup',
        ],
        ['create_partner', 'change_partner', 'create_user', 'reset_password'],
      ),
    )
    expect(Object.keys(rules).filter((name) => !tried.has(name))).toEqual([])
  })
})

describe('two operators', () => {
  test('decide on money: the approval, its line and the money are one transaction', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea)
    const { id } = await at.customerIn('production')
    const credit = await act(at.office, ana, {
      name: 'credit',
      environment: 'production',
      details: at.booking(id),
    })
    const proposal_id = proposedOf(credit)
    const approve = (who: Parameters<typeof act>[1]) =>
      act(at.office, who, { name: 'approve', details: { proposal_id } })
    await expect(approve(shell)).rejects.toThrow(/takes an operator who is signed in/)
    await expect(approve(ana)).rejects.toThrow(/another operator than the one who made it/)
    // The role at the moment of the act counts, not the role at sign-in.
    const roleOfBea = (role: string) =>
      asAdmin(at.url, [`UPDATE shared.users SET operator_role = '${role}' WHERE email = '${bea.email}'`])
    await roleOfBea('reader')
    await expect(approve(bea)).rejects.toThrow(/Your role is reader/)
    await roleOfBea('admin')
    await expect(approve({ ...bea, session_id: 'ses_ended' })).rejects.toThrow(/not signed in .* any more/)
    const approved = await approve(bea)
    const { proposal } = doneOf<{ proposal: { resource_id: string } }>(approved)
    const [complete, line] = await newestLines(at.office.log.pools.production, 2)
    expect(line).toMatchObject({
      action: 'approve',
      actor_email: bea.email,
      proposal_id,
      seq: approved.line!.seq,
    })
    expect(complete).toMatchObject({ action: 'complete', object_id: proposal.resource_id })
    const [same] = await asAdmin(at.url, [
      `SELECT l.xmin = d.xmin AS line, d.xmin = e.xmin AS entries FROM live.acts l, live.deposits d, live.entries e
       WHERE l.action = 'approve' LIMIT 1`,
    ])
    expect(same).toEqual({ line: true, entries: true })
    expect((await verifyLog(at.office, 'production')).broken).toEqual([])
  })

  test('resume a rail that the shell paused, and the resume, its line and the approval are one transaction', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea)
    const environment = 'production'
    await at.asShell({ name: 'pause_rail', environment, details: { rail: 'polygon', reason: 'odd' } })
    const resume = { name: 'resume_rail', environment, details: { rail: 'polygon', reason: 'seen' } } as const
    await expect(at.asShell(resume)).rejects.toThrow(/takes an operator who is signed in/)
    const proposal_id = proposedOf(await act(at.office, ana, resume))
    const { db } = at.worlds.production
    expect((await selectControls(db))[0]).toMatchObject({ rail: 'polygon', paused_by: 'shell' })
    await expect(act(at.office, ana, { name: 'approve', details: { proposal_id } })).rejects.toThrow(
      /another operator/,
    )
    expect(doneOf(await act(at.office, bea, { name: 'approve', details: { proposal_id } }))).toMatchObject({
      proposal: { ended: 'done', resource_id: 'polygon', approved_by: bea.email },
    })
    expect((await selectControls(db))[0]).toMatchObject({ rail: 'polygon', paused_at: null })
    const [same] = await asAdmin(at.url, [
      `SELECT l.xmin = r.xmin AS line FROM live.acts l, live.rail_changes r WHERE l.action = 'approve' AND r.proposal_id IS NOT NULL`,
    ])
    expect(same).toEqual({ line: true })
    expect((await verifyLog(at.office, 'production')).broken).toEqual([])
    expect((await audit(db, sliceChecks)).findings).toEqual([])
    // Somebody with the database's login writes a resume that no operator approved.
    await asAdmin(at.url, [
      `INSERT INTO live.rail_changes (rail, changed_at, changed_by, before, after, reason)
       SELECT rail, clock_timestamp(), changed_by, before, after, reason FROM live.rail_changes WHERE proposal_id IS NULL`,
      `INSERT INTO live.rail_changes (rail, changed_at, changed_by, before, after, reason)
       SELECT rail, clock_timestamp(), changed_by, before, after, reason FROM live.rail_changes WHERE proposal_id IS NOT NULL`,
    ])
    expect((await audit(db, sliceChecks)).findings.map(({ check }) => check)).toContain(
      'every resume of a rail in production was proposed by one operator and approved by another',
    )
  })

  test('approve nothing under an expired session, even before it is cleared away', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea)
    const { id } = await at.customerIn('production')
    const order = { name: 'credit', environment: 'production', details: at.booking(id) } as const
    const details = { proposal_id: proposedOf(await act(at.office, ana, order)) }
    const approveIn = (session_id: string) =>
      act(at.office, { ...bea, session_id }, { name: 'approve', details })
    const session = (id: string, began: string, used: string) =>
      `INSERT INTO shared.sessions (id, token_hash, user_id, created_at, used_at) VALUES
       ('${id}', sha256('${id}'), '${bea.user_id}', now() - interval '${began}', now() - interval '${used}')`
    await asAdmin(at.url, [
      session('ses_left', '1 hour', '31 minutes'),
      session('ses_long', '13 hours', '1 minute'),
      session('ses_good', '11 hours', '20 minutes'),
    ])
    for (const ended of ['ses_left', 'ses_long'])
      await expect(approveIn(ended)).rejects.toThrow(/not signed in .* any more/)
    expect(doneOf(await approveIn('ses_good'))).toMatchObject({ proposal: { ended: 'done' } })
  })

  test('approve nothing that was inserted or changed in the table by other means than the service', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea)
    await at.office.log.begin()
    const { id } = await at.customerIn('production')
    const booking = at.booking(id)
    const approve = (proposal_id: string) =>
      act(at.office, ana, { name: 'approve', details: { proposal_id } })
    await asAdmin(at.url, [
      `INSERT INTO live.proposals (id, action, details, proposed_by)
       VALUES ('prp_forged', 'credit', '${JSON.stringify(booking)}', '${bea.email}')`,
      `INSERT INTO shared.proposals (id, action, details, proposed_by)
       VALUES ('prp_ghost', 'set_role', '{"email":"${ana.email}","role":"admin"}', '${bea.email}')`,
    ])
    for (const forged of ['prp_forged', 'prp_ghost'])
      await expect(approve(forged)).rejects.toThrow(/made or changed past the service/)
    const mine = { name: 'credit', environment: 'production', details: booking } as const
    const changed = proposedOf(await act(at.office, bea, mine))
    await asAdmin(at.url, [
      'SET session_replication_role = replica',
      `UPDATE live.proposals SET details = jsonb_set(details::jsonb, '{amount}', '"900000"')::json WHERE id = '${changed}'`,
    ])
    await expect(approve(changed)).rejects.toThrow(/made or changed past the service/)
    const { rows } = await at.office.worlds.production.db.query('SELECT count(*) FROM deposits')
    expect(rows).toEqual([{ count: 0n }])
  })

  test('approve nothing without a propose line by its author, even if the row is older than the log', async () => {
    const hands = openDirectAccess(await createDatabase())
    onTestFinished(hands.stop)
    // This is the world's own connection, whose role may insert into proposals.
    const { db } = hands.worlds.production
    const forge = (proposal_id: string, details: object) =>
      db.query('INSERT INTO proposals (id, action, details, proposed_by) VALUES ($1, $2, $3, $4)', [
        proposal_id,
        'credit',
        JSON.stringify(details),
        bea.email,
      ])
    await forge('prp_before', { customer_id: 'cus_x', asset: 'BRL', amount: '1', reference: 'before' })
    const at = await openOffice(hands)
    await at.makeOperators(ana, bea)
    const { id } = await at.customerIn('production')
    await forge('prp_after', at.booking(id, '99999900'))
    for (const proposal_id of ['prp_before', 'prp_after'])
      await expect(act(at.office, ana, { name: 'approve', details: { proposal_id } })).rejects.toThrow(
        /made or changed past the service/,
      )
    const { broken } = await verifyLog(at.office, 'production')
    expect(broken.map(({ object_id }) => object_id)).toEqual(['prp_after', 'prp_before'])
    expect((await db.query('SELECT count(*) FROM deposits')).rows).toEqual([{ count: 0n }])
    expect(Object.keys(rules)).not.toContain('adopt')
  })

  test('log what was committed: an attempt that lost a race writes no line and returns none', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea, eva)
    const { id } = await at.customerIn('production')
    const order = { name: 'credit', environment: 'production', details: at.booking(id) } as const
    const [first, second] = [
      proposedOf(await act(at.office, ana, order)),
      proposedOf(await act(at.office, ana, order)),
    ]
    const approve = (office: Office, who: OperatorActor, proposal_id: string) =>
      act(office, who, { name: 'approve', details: { proposal_id } })
    const late = afterLostRace(at.office, () => approve(at.office, bea, first))
    const { line } = await approve(late, eva, second)
    const lines = await newestLines(at.office.log.pools.production, 10)
    expect(lines.filter(({ action }) => action === 'approve')).toMatchObject([
      { proposal_id: second, actor_email: eva.email, seq: line!.seq, hash: line!.hash },
      { proposal_id: first, actor_email: bea.email },
    ])
    expect((await verifyLog(at.office, 'production')).broken).toEqual([])
    const { rows } = await at.worlds.production.db.query('SELECT count(*) FROM deposits')
    expect(rows).toEqual([{ count: 1n }])
  })

  test('approve several operators concurrently without running out of connections', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea, eva)
    const propose = async (n: number) => {
      const details = {
        email: `n${n}@operator.example`,
        name: 'N',
        partner_id: null,
        role: 'reader',
      } as const
      return proposedOf(await act(at.office, ana, { name: 'create_user', details }))
    }
    const ids = [await propose(1), await propose(2), await propose(3)]
    const approve = (proposal_id: string, i: number) =>
      act(at.office, i % 2 ? bea : eva, { name: 'approve', details: { proposal_id } })
    await Promise.all(ids.map(approve))
    expect((await verifyLog(at.office, 'shared')).broken).toEqual([])
  })

  test('approve nothing whose author may not propose it any more', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea, eva)
    const { id } = await at.customerIn('production')
    const order = { name: 'credit', environment: 'production', details: at.booking(id) } as const
    const money = proposedOf(await act(at.office, ana, order))
    const reset = { name: 'reset_password', details: { email: eva.email } } as const
    const people = proposedOf(await act(at.office, ana, reset))
    await asAdmin(at.url, [`UPDATE shared.users SET operator_role = 'reader' WHERE email = '${ana.email}'`])
    for (const proposal_id of [money, people])
      await expect(act(at.office, bea, { name: 'approve', details: { proposal_id } })).rejects.toThrow(
        /ana@operator\.example, who proposed it, is not an operator any more/,
      )
  })

  /** Three operators, and credits that the first one proposes. */
  async function openCredits() {
    const at = await freshOffice()
    await at.makeOperators(ana, bea, eva)
    const { id } = await at.customerIn('production')
    return {
      ...at,
      async credit() {
        const order = { name: 'credit', environment: 'production', details: at.booking(id) } as const
        return { proposal_id: proposedOf(await act(at.office, ana, order)) }
      },
      async deposits() {
        const { rows } = await at.worlds.production.db.query('SELECT count(*)::integer AS made FROM deposits')
        return rows[0].made as number
      },
      signIn: (session_id: string) =>
        asAdmin(at.url, [
          `INSERT INTO shared.sessions (id, token_hash, user_id) VALUES ('${session_id}', sha256('bea'), '${bea.user_id}')`,
        ]),
    }
  }
  type Credits = Awaited<ReturnType<typeof openCredits>>
  /** An office whose commits in production first wait for `before`. */
  function waitingAt({ office, worlds }: Credits, before: () => Promise<void>): Office {
    const { production } = worlds
    const commit: typeof production.commit = async (command) => {
      await before()
      return production.commit(command)
    }
    return { ...office, worlds: { ...worlds, production: { ...production, commit } } }
  }
  /** A transaction without timeouts, so that the test can keep it open. */
  async function slowly(at: Credits, work: (tx: Db) => Promise<unknown>): Promise<void> {
    const settings = { lock_timeout: '0', statement_timeout: '0', idle_in_transaction_session_timeout: '0' }
    const client = await openClient(seatAt(at.url, 'shared'), { settings })
    try {
      await client.query('BEGIN')
      await work(client)
      await client.query('COMMIT')
    } finally {
      await client.end()
    }
  }
  /** An approval waits some seconds for its turn or for a lock, and was kept waiting for longer. */
  const isGivenUp = (error: unknown) =>
    ['service_unavailable', '55P03'].includes((error as { code?: string }).code ?? '')
  /** When the machine stood still for so long, the scene is played again. */
  async function inTime(scene: () => Promise<void>): Promise<void> {
    for (;;) {
      const began = performance.now()
      try {
        return await scene()
      } catch (error) {
        if (!isGivenUp(error) || performance.now() - began < 5000) throw error
      }
    }
  }

  test.each<[string, (tx: Db) => Promise<unknown>, RegExp]>([
    ['the approver is removed', (tx) => removeUser(tx, bea.email), /not signed in as an operator any more/],
    ['the approver is lowered', (tx) => setRole(tx, bea.email, 'reader'), /not signed in .* any more/],
    ['the proposer is lowered', (tx) => setRole(tx, ana.email, 'reader'), /ana.*, who proposed it, is not/],
  ])('move no money when %s between the first check and the commit', async (_, change, why) => {
    const at = await openCredits()
    await at.signIn('ses_bea')
    const details = await at.credit()
    let approving: Promise<unknown> | undefined
    await slowly(at, async (tx) => {
      await change(tx)
      let answered = false
      approving = act(at.office, { ...bea, session_id: 'ses_bea' }, { name: 'approve', details })
      approving.catch(() => {}).finally(() => (answered = true))
      await until(async () => answered || isLockAwaited(at.url), 30_000)
    })
    await expect(approving).rejects.toThrow(why)
    expect(await at.deposits()).toBe(0)
  })

  test('move no money when the session of the approver ends while the approval waits for a lock', async () => {
    const at = await openCredits()
    await at.signIn('ses_bea')
    const details = await at.credit()
    let approving: Promise<unknown> | undefined
    await slowly(at, async (tx) => {
      await lockUser(tx, bea.user_id)
      approving = act(at.office, { ...bea, session_id: 'ses_bea' }, { name: 'approve', details })
      approving.catch(() => {})
      await until(() => isLockAwaited(at.url), 30_000)
      await asAdmin(at.url, [`DELETE FROM shared.sessions WHERE user_id = '${bea.user_id}'`])
    })
    await expect(approving).rejects.toThrow(/not signed in .* any more/)
    expect(await at.deposits()).toBe(0)
  })

  test('a removal does not wait for further approvals of the person who is to be removed', () =>
    inTime(async () => {
      const at = await openCredits()
      const [first, second] = [await at.credit(), await at.credit()]
      const removal = {
        proposal_id: proposedOf(
          await act(at.office, ana, { name: 'remove_user', details: { email: bea.email } }),
        ),
      }
      const gate = openGate()
      const slow = waitingAt(at, gate.arrive)
      const approving = act(slow, bea, { name: 'approve', details: first })
      await gate.reached
      const removing = act(at.office, eva, { name: 'approve', details: removal })
      for (const one of [approving, removing]) one.catch(() => {})
      await until(() => isLockAwaited(at.url), 30_000)
      // Another node does not know how many approvals she has running.
      const elsewhere = openDirectAccess({ url: at.url, drop: async () => {} })
      onTestFinished(elsewhere.stop)
      let answered = false
      const late = act(elsewhere.office, bea, { name: 'approve', details: second })
      late.catch(() => {}).finally(() => (answered = true))
      await until(async () => answered || (await lockWaits(at.url)) > 1, 30_000)
      gate.open()
      await Promise.all([approving, removing])
      const refusal = await late.catch((error: unknown) => error)
      if (isGivenUp(refusal)) throw refusal
      expect(String(refusal)).toMatch(/not signed in .* any more/)
      expect(await at.deposits()).toBe(1)
    }))

  test('waiting approvals leave connections to other callers', () =>
    inTime(async () => {
      const at = await openCredits()
      const gate = openGate()
      const slow = waitingAt(at, gate.arrive)
      const approving: Promise<unknown>[] = []
      for (let i = 0; i < 3; i++)
        approving.push(act(slow, bea, { name: 'approve', details: await at.credit() }))
      let is_over = false
      const all = Promise.all(approving)
      all.catch(() => {}).finally(() => (is_over = true))
      await gate.reached
      await until(() => is_over || at.office.approvals.facts().waiting === 2, 30_000)
      expect((await at.shared.db.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
      gate.open()
      await all
    }))

  test.each([
    ['the proposer', ana],
    ['the approver', bea],
  ])('%s is not removed while the money moves', async (_, { email }) => {
    const at = await openCredits()
    const details = await at.credit()
    let removed = false
    let removing: Promise<unknown> | undefined
    const office = waitingAt(at, async () => {
      removing = slowly(at, (tx) => removeUser(tx, email)).then(() => (removed = true))
      await until(async () => removed || isLockAwaited(at.url), 30_000)
      expect(removed).toBe(false)
    })
    await act(office, bea, { name: 'approve', details })
    await removing
    expect(await at.deposits()).toBe(1)
  })

  test('decide on operators: creating one is proposed, and the approver sees the password once', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea, eva)
    const details = { email: 'new@operator.example', name: 'New', partner_id: null, role: 'admin' } as const
    const codes: string[] = []
    const propose = async () => {
      const acted = await act(at.office, ana, { name: 'create_user', details })
      if ('proposed' in acted) codes.push(acted.activation_code!)
      return proposedOf(acted)
    }
    const decide = (who: typeof ana, name: 'approve' | 'reject' | 'withdraw', proposal_id: string) =>
      act(at.office, who, { name, details: { proposal_id, reason: 'because' } })
    const [rejected, withdrawn, wanted] = [await propose(), await propose(), await propose()]
    await decide(bea, 'reject', rejected)
    await decide(ana, 'withdraw', withdrawn)
    for (const id of [rejected, withdrawn])
      await expect(decide(eva, 'approve', id)).rejects.toThrow(/was (rejected|withdrawn) by/)
    await expect(decide(ana, 'approve', wanted)).rejects.toThrow(/another operator/)
    expect(await selectUser(at.shared.db, details.email)).toBeUndefined()
    const { person } = doneOf<{ person: { password: string } }>(await decide(bea, 'approve', wanted))
    // The proposer has the activation code: the service keeps only its hash.
    const user_before = (await selectUser(at.shared.db, details.email))!
    expect(user_before.activation_hash).toEqual(
      createHash('sha256').update(codes[2]!.replaceAll('-', '')).digest(),
    )
    const user = (await selectUser(at.shared.db, details.email))!
    expect(await verifyPassword(user.password_hash, person.password)).toBe(true)
    const again = doneOf<object>(await decide(bea, 'approve', wanted))
    expect(again).not.toHaveProperty('person')
    const text = await at.shared.db.query('SELECT string_agg(p::text, $1) AS all FROM proposals p', [' '])
    const lines = JSON.stringify(await newestLines(at.shared.db, 100), (_, v) => String(v))
    for (const said of [text.rows[0].all, lines]) {
      expect(said).not.toContain(codes[2])
      expect(said).not.toContain(person.password)
      expect(said).not.toContain('argon2')
    }
    expect((await verifyLog(at.office, 'shared')).broken).toEqual([])
    // An act on a partner's people takes one operator.
    const owner = { email: 'o@acme.example', name: 'O', partner_id: at.partner_id, role: 'owner' } as const
    doneOf(await act(at.office, bea, { name: 'create_user', details: owner }))
    proposedOf(await act(at.office, bea, { name: 'reset_password', details: { email: ana.email } }))
  })

  test('with one admin among them: a resolver may propose an act on an operator, and only the admin approves', async () => {
    const at = await freshOffice()
    const rui = operator('rui@operator.example', 'resolver')
    await at.makeOperators(ana, rui)
    const create = (email: string) =>
      ({ name: 'create_user', details: { email, name: 'N', partner_id: null, role: 'admin' } }) as const
    const decide = (who: OperatorActor, name: 'approve' | 'reject', proposal_id: string) =>
      act(at.office, who, { name, details: { proposal_id, reason: 'no' } })
    const by_admin = proposedOf(await act(at.office, ana, create('one@operator.example')))
    for (const name of ['approve', 'reject'] as const)
      await expect(decide(rui, name, by_admin)).rejects.toThrow(/Your role is resolver/)
    const by_resolver = proposedOf(await act(at.office, rui, create('two@operator.example')))
    await expect(decide(rui, 'approve', by_resolver)).rejects.toThrow(/Your role is resolver/)
    expect(doneOf(await decide(ana, 'approve', by_resolver))).toMatchObject({ proposal: { ended: 'done' } })
    // Now there are two admins.
    await expect(act(at.office, rui, create('three@operator.example'))).rejects.toThrow(
      /Your role is resolver/,
    )
  })

  test('an expired proposal about an operator ends by itself and cannot be approved', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana, bea)
    const proposal_id = proposedOf(
      await act(at.office, ana, { name: 'reset_password', details: { email: bea.email } }),
    )
    await asAdmin(at.url, [
      'SET session_replication_role = replica',
      `UPDATE shared.proposals SET expires_at = clock_timestamp() - interval '1 second' WHERE id = '${proposal_id}'`,
    ])
    await expect(act(at.office, bea, { name: 'approve', details: { proposal_id } })).rejects.toThrow(
      /has expired/,
    )
    expect((await newestLines(at.shared.db, 1))[0]).toMatchObject({ action: 'expire', actor_kind: 'service' })
  })

  test('of many operators created concurrently, those after the second are proposed', async () => {
    const at = await freshOffice()
    await at.makeOperators(ana)
    const make = (i: number) => {
      const details = { email: `n${i}@operator.example`, name: 'N', partner_id: null, role: 'admin' } as const
      return act(at.office, ana, { name: 'create_user', details })
    }
    const made = await Promise.all(times(4, (i) => i).map(make))
    expect(made.filter((one) => 'done' in one)).toHaveLength(1)
  })
})

test('an approval whose money has moved succeeds even if the connection that locked its people is lost afterwards', async () => {
  const database = await createDatabase()
  const proxy = await openProxy(database.url)
  const straight = openDirectAccess(database)
  const cut = openDirectAccess({ ...database, url: proxy.url })
  onTestFinished(async () => {
    await cut.stop().catch(() => {})
    await straight.stop()
  })
  const at = await openOffice(straight)
  await at.makeOperators(ana, bea)
  const { id } = await at.customerIn('production')
  const order = { name: 'credit', environment: 'production', details: at.booking(id) } as const
  const details = { proposal_id: proposedOf(await act(at.office, ana, order)) }
  const { production } = cut.worlds
  const commit: typeof production.commit = async (command) => {
    const result = await production.commit(command)
    proxy.cutBeside('before')
    return result
  }
  const office = { ...cut.office, worlds: { ...cut.worlds, production: { ...production, commit } } }
  const approved = await act(office, bea, { name: 'approve', details })
  expect(doneOf(approved)).toMatchObject({ proposal: { ended: 'done' } })
  expect(proxy.left()).toBe(0)
  expect((await verifyLog(at.office, 'production')).broken).toEqual([])
})

test('concurrent acts on two nodes, through the ledger and beside it, make one unbroken chain', async () => {
  const database = await createDatabase()
  const [one, other] = [openDirectAccess(database), openDirectAccess(database)]
  onTestFinished(async () => {
    await other.stop()
    await one.stop()
  })
  const at = await openOffice(one)
  await at.makeOperators(ana, bea)
  const customers = await Promise.all(times(4, () => at.customerIn('production')))
  const nodes = [at.office, other.office]
  await inParallel(
    times(48, (i) => i),
    12,
    async (i) => {
      const office = nodes[i % 2]!
      const { id } = customers[i % customers.length]!
      if (i % 3 === 0) {
        const name = i % 2 === 0 ? 'block_customer' : 'unblock_customer'
        // The ledger and the act lock the same accounts and the same head.
        await act(office, ana, { name, environment: 'production', details: { customer_id: id } })
        return
      }
      const details = at.booking(id, '1')
      const proposal_id = proposedOf(
        await act(office, ana, { name: 'credit', environment: 'production', details }),
      )
      const approved = act(nodes[(i + 1) % 2]!, bea, { name: 'approve', details: { proposal_id } })
      await approved.catch((error: Error) => expect(error.message).toMatch(/blocked/))
    },
  )
  const proof = await verifyLog(at.office, 'production')
  expect(proof.broken).toEqual([])
  const [head] = await newestLines(at.office.log.pools.production, 1)
  expect(proof.lines).toBe(head!.seq)
  const { rows } = await at.worlds.production.db.query(
    `SELECT (SELECT count(*) FROM acts WHERE action = 'approve') AS lines, (SELECT count(*) FROM deposits) AS money`,
  )
  expect(rows[0].lines).toBe(rows[0].money)
  expect(rows[0].money).toBeGreaterThan(0n)
})

describe('a connection cut at COMMIT leaves neither an act without its line nor a line without its act', () => {
  test.each(['before', 'after'] as const)(
    '%s the commit took effect, beside the ledger and through it',
    async (when) => {
      const database = await createDatabase()
      const proxy = await openProxy(database.url)
      const straight = openDirectAccess(database)
      const cut = openDirectAccess({ ...database, url: proxy.url })
      onTestFinished(async () => {
        await cut.stop().catch(() => {})
        await straight.stop()
      })
      const at = await openOffice(straight)
      await at.makeOperators(ana, bea)
      const { id: customer_id } = await at.customerIn('production')
      await cut.office.log.begin()
      const lineCount = async (action: string) => {
        const { rows } = await at.worlds.production.db.query('SELECT count(*) FROM acts WHERE action = $1', [
          action,
        ])
        return Number(rows[0].count)
      }
      proxy.cutBeside(when)
      const blocking = act(cut.office, ana, {
        name: 'block_customer',
        environment: 'production',
        details: { customer_id },
      })
      await expect(blocking).rejects.toThrow()
      const { rows } = await at.worlds.production.db.query('SELECT status FROM customers WHERE id = $1', [
        customer_id,
      ])
      const happened = when === 'after'
      expect([rows[0].status === 'blocked', await lineCount('block_customer')]).toEqual([
        happened,
        Number(happened),
      ])
      if (happened)
        await act(at.office, ana, {
          name: 'unblock_customer',
          environment: 'production',
          details: { customer_id },
        })
      const details = at.booking(customer_id)
      const proposal_id = proposedOf(
        await act(at.office, ana, { name: 'credit', environment: 'production', details }),
      )
      // The ledger finds out whether the batch was committed, and goes on.
      proxy.cutInRow([{ at: 'commit', when }])
      await act(cut.office, bea, { name: 'approve', details: { proposal_id } })
      expect(proxy.left()).toBe(0)
      expect(await lineCount('approve')).toBe(1)
      expect((await verifyLog(at.office, 'production')).broken).toEqual([])
    },
  )
})
