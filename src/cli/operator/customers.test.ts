import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from '../../../test/support/api.ts'
import type { Ran } from '../../../test/support/cli.ts'
import { type CliStage, isMistake, openCliStage, type Person } from '../../../test/support/cli-stage.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { exit } from '../exit.ts'

let stage: CliStage
let people: readonly [Person, Person]
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

describe('customers', () => {
  test('a credit happens once per reference, and a reference stands for one credit', async () => {
    const customer = await stage.newCustomer(stage.demo.key)
    const credit = (amount: string, reference: string) =>
      stage.trilho(
        ...['customers', 'credit', customer, '--asset', 'BRL', '--amount', amount],
        ...['--reason', 'Goodwill', '--reference', reference, '--json'],
      )
    const first = await credit('500', 'ticket-1')
    expect(first).toMatchObject({ code: 0, json: { status: 'completed' } })
    expect(first.json.id).toMatch(/^dep_/)
    const [again, other, next, wrong] = await Promise.all([
      credit('500', 'ticket-1'),
      credit('501', 'ticket-1'),
      credit('7', 'ticket-2'),
      credit('1.5', 'ticket-3'),
    ])
    expect(again).toMatchObject({ code: 0, json: { id: first.json.id, status: 'completed' } })
    isMistake(other, /The reference ticket-1 was used for another credit/)
    expect(next.code).toBe(0)
    expect(next.json.id).not.toBe(first.json.id)
    isMistake(wrong, /An amount is a string holding a whole number/)
    expect(await stage.balance('sandbox', customer)).toBe(507)
  })

  test('a blocked customer’s money cannot move until the customer is unblocked', async () => {
    const customer_id = await stage.newCustomer(stage.demo.key)
    const api = openApi(stage.url, stage.demo.key)
    const deposit = () => api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '5' })
    expect((await deposit()).status).toBe(201)
    expect(await stage.json('customers', 'block', customer_id)).toMatchObject({
      id: customer_id,
      status: 'blocked',
    })
    expect((await deposit()).json.error.code).toBe('customer_blocked')
    const refused = await stage.trilho(
      ...['customers', 'credit', customer_id, '--asset', 'BRL', '--amount', '1', '--reason', 'x'],
      ...['--reference', 'blocked'],
    )
    isMistake(refused, /This customer is blocked/)
    expect((await api.get(`/v1/customers/${customer_id}`)).json.status).toBe('blocked')
    expect(await stage.json('customers', 'unblock', customer_id)).toMatchObject({ status: 'active' })
    expect((await deposit()).status).toBe(201)
    expect(await stage.balance('sandbox', customer_id)).toBe(10)
  })

  test('contract §16: in production a credit is proposed by one operator and approved by another', async () => {
    const first = await stage.json('users', 'create', '--email', 'ana@operator.example', '--operator')
    expect(first).toMatchObject({ role: 'operator', partner_id: null })
    isMistake(
      await stage.trilho('users', 'create', '--email', 'bea@operator.example', '--operator'),
      /takes an operator who is signed in: trilho login/,
    )
    const ana = first as Person
    stage.person = ana
    const bea: Person = await stage.json('users', 'create', '--email', 'bea@operator.example', '--operator')
    people = [ana, bea]
    const live = await stage.json(
      'keys',
      'create',
      '--environment',
      'production',
      '--partner',
      stage.demo.partner_id,
    )
    const customer = await stage.newCustomer(live.key)
    const as = (user: { email: string; password: string } | undefined, ...args: string[]) =>
      stage.run([...args, ...(user ? ['--operator', user.email] : []), '--json'], {
        ...(user ? { OPERATOR_PASSWORD: user.password } : {}),
      })
    const credit = [
      ...['customers', 'credit', customer, '--asset', 'USDT', '--amount', '900', '--reason', 'Wire'],
      ...['--reference', 'wire-1'],
    ]
    const [nobody, impostor, proposed] = await Promise.all([
      as(undefined, ...credit),
      as({ email: ana.email, password: bea.password }, ...credit),
      as(ana, ...credit),
    ])
    isMistake(nobody, /takes an operator who is signed in/)
    isMistake(impostor, /No operator with this e-mail and password/)
    expect(proposed).toMatchObject({ code: 0, json: { status: 'proposed' } })
    const { proposal_id } = proposed.json
    expect(proposal_id).toMatch(/^prp_/)
    expect(await stage.balance('live', customer, 'USDT')).toBe(0)
    isMistake(
      await as(ana, 'proposals', 'approve', proposal_id),
      /approved by another operator than the one who made it/,
    )
    expect(await stage.balance('live', customer, 'USDT')).toBe(0)
    // Two concurrent approvals, and a third later: the money is credited once. A busy database asks for a repetition.
    const approve = async (): Promise<Ran> => {
      const ran = await as(bea, 'proposals', 'approve', proposal_id)
      return ran.code === exit.later ? approve() : ran
    }
    const approvals = [...(await Promise.all([approve(), approve()])), await approve()]
    for (const approved of approvals) {
      expect(approved.err).toBe('')
      expect(approved).toMatchObject({ code: 0, json: { proposal_id, status: 'completed' } })
      expect(approved.json.id).toBe(approvals[0]!.json.id)
    }
    expect(await stage.balance('live', customer, 'USDT')).toBe(900)
    const { data } = await stage.json('proposals', 'list')
    expect(data).toMatchObject([
      { id: proposal_id, action: 'credit', proposed_by: ana.email, approved_by: bea.email },
    ])
  })

  test('in production a correction is shown in full before approval, and can be rejected or withdrawn', async () => {
    const [carla, dora] = people
    const live = await stage.json(
      'keys',
      'create',
      '--environment',
      'production',
      '--partner',
      stage.demo.partner_id,
    )
    const customer = await stage.newCustomer(live.key)
    const as = (user: { email: string; password: string }, ...args: string[]) =>
      stage.run([...args, '--operator', user.email], {
        OPERATOR_PASSWORD: user.password,
      })
    const proposed = async (...args: string[]) => {
      const ran = await as(carla, ...args, '--json')
      expect(ran.err).toBe('')
      return ran.json.proposal_id as string
    }
    const book = (name: string, amount: string, reference: string) => [
      ...['customers', name, customer, '--asset', 'BRL', '--amount', amount],
      ...['--reason', 'Wire 8841', '--reference', reference],
    ]
    const credit = await proposed(...book('credit', '90000', 'correct-1'))
    const seen = await stage.trilho('proposals', 'show', credit)
    for (const part of [
      /what +Credit 900\.00 BRL to cus_/,
      /customer +cus_\w+ +Ana +\*\*\*\.\d{3}\.\d{3}-\*\* +\(active\)/,
      /partner +ptn_\w+ +\S/,
      /amount +900\.00 BRL/,
      /reason +Wire 8841/,
      /reference +correct-1/,
      /proposed +by ana@operator\.example at \d{4}-/,
      /state +open/,
      /expires +\d{4}-/,
    ])
      expect(seen.out).toMatch(part)
    const approved = await as(dora, 'proposals', 'approve', credit)
    expect(approved.out).toMatch(
      /^About to do this in production:\n[\s\S]*900\.00 BRL[\s\S]*Done: dep_\w+\nLine \d+ of the log of production: [0-9a-f]{64}\n$/,
    )
    const deposit = /Done: (dep_\w+)/.exec(approved.out)![1]!

    const [reversal, debit, taken_back] = await Promise.all([
      proposed('customers', 'reverse-credit', deposit, '--reason', 'Twice', '--reference', 'correct-2'),
      proposed(...book('debit', '90001', 'correct-3')),
      proposed(...book('debit', '1', 'correct-4')),
    ])
    isMistake(await as(dora, 'proposals', 'approve', debit, '--json'), /has 900\.00 BRL available/)
    const [rejected, withdrawn, wrong] = await Promise.all([
      as(dora, 'proposals', 'reject', debit, '--reason', 'Not this customer', '--json'),
      as(carla, 'proposals', 'withdraw', taken_back),
      as(dora, 'proposals', 'withdraw', reversal),
    ])
    expect(rejected.json).toMatchObject({
      state: 'rejected',
      ended_by: dora.email,
      ended_reason: 'Not this customer',
    })
    expect(withdrawn.out).toMatch(/state +withdrawn\n/)
    isMistake(wrong, /Only who made a proposal can withdraw it/)
    // Killed after the money moved and before the proposal was marked as done: a repeated approval only completes it.
    const killed = await stage.run(['proposals', 'approve', reversal, '--operator', dora.email], {
      OPERATOR_PASSWORD: dora.password,
      CRASH_AT: 'after_commit',
    })
    expect(killed.signal).toBe('SIGKILL')
    const [late, too_late, done] = await Promise.all([
      as(dora, 'proposals', 'approve', debit),
      as(carla, 'proposals', 'withdraw', reversal),
      as(dora, 'proposals', 'approve', reversal, '--yes', '--json'),
    ])
    isMistake(too_late, /was approved by bea@operator\.example/)
    isMistake(late, /was rejected by bea@operator\.example \(Not this customer\)/)
    expect(done.json.id).toMatch(/^adj_/)
    expect(await stage.balance('live', customer)).toBe(0)
    isMistake(
      await as(carla, 'customers', 'reverse-credit', deposit, '--reason', 'x', '--reference', 'correct-5'),
      /was reversed before, by adj_/,
    )
    const listed = await stage.trilho('proposals', 'list')
    expect(listed.out).toMatch(new RegExp(`${reversal} +done +reverse_credit +900\\.00 BRL +${customer} Ana`))
  })

  test('in the sandbox a correction happens at once; an invalid amount is refused', async () => {
    const customer_id = await stage.newCustomer(stage.demo.key)
    const made = await openApi(stage.url, stage.demo.key).post('/v1/sandbox/deposits', {
      customer_id,
      asset: 'BRL',
      amount: '500',
    })
    const debit = (amount: string, reference: string) =>
      stage.trilho(
        ...['customers', 'debit', customer_id, '--asset', 'BRL', `--amount=${amount}`],
        ...['--reason', 'x', '--reference', reference],
      )
    const wrong = ['-5', '1.5', '1e3', '9'.repeat(19)]
    for (const ran of await Promise.all(wrong.map((amount) => debit(amount, 'odd'))))
      isMistake(ran, /An amount is a string holding a whole number/)
    isMistake(await debit('9'.repeat(18), 'odd'), /has 5\.00 BRL available/)
    expect((await debit('200', 'sandbox-1')).out).toMatch(
      /^adj_\w+ debited\.\nLine \d+ of the log of sandbox: /,
    )
    const reverse = (...more: string[]) =>
      stage.trilho('customers', 'reverse-credit', made.json.id, '--reason', 'x', '--reference', ...more)
    isMistake(await reverse('sandbox-2'), /has 3\.00 BRL available, which does not cover 5\.00 BRL/)
    expect(await stage.balance('sandbox', customer_id)).toBe(300)
  })

  test('may be given limits of money, in their own figures or their partner’s', async () => {
    const customer_id = await stage.newCustomer(stage.demo.key)
    const set = ['customers', 'set-money-limits', customer_id]
    const own = await stage.json(
      ...set,
      '--payout-day',
      '1000',
      '--transfer-day',
      'USDT=5',
      '--transfer-day',
      'BTC=7',
    )
    expect(own).toEqual({
      subject_id: customer_id,
      environment: 'sandbox',
      money_limits: {
        payout_order: null,
        payout_day: '1000',
        payout_night: null,
        transfer_order_usdt: null,
        transfer_order_btc: null,
        transfer_day_usdt: '5',
        transfer_day_btc: '7',
      },
      log: { environment: 'sandbox', seq: expect.any(String), hash: expect.any(String) },
    })
    const partner = (...more: string[]) =>
      stage.json('partners', 'set-money-limits', stage.demo.partner_id, '--environment', 'sandbox', ...more)
    await partner('--payout-order', '600', '--payout-day', '9')
    const shown = await stage.json('customers', 'money-limits', customer_id)
    expect(shown.in_force).toMatchObject({ payout_order: '600', payout_day: '1000', payout_day_used: '0' })
    const pay = (amount: string, idempotency_key: string) =>
      openApi(stage.url, stage.demo.key).post('/v1/pix/payouts', {
        customer_id,
        amount,
        counterparty: { type: 'pix_key', pix_key: 'a@example.com' },
        idempotency_key,
      })
    expect((await pay('601', 'limit-1')).json.error).toMatchObject({
      code: 'limit_exceeded',
      details: { limit: 'payout_order', allowed: '600' },
    })
    await partner('--payout-order', 'none', '--payout-day', 'none')
    expect(
      (await stage.json('partners', 'money-limits', stage.demo.partner_id, '--environment', 'sandbox'))
        .money_limits,
    ).toMatchObject({
      payout_order: null,
      payout_day: null,
    })
    expect((await pay('601', 'limit-2')).json.error.code).toBe('insufficient_balance')
    const wrong: [string[], RegExp][] = [
      [[], /Say at least one of --payout-order/],
      [['--payout-day=-5'], /--payout-day must be a whole number/],
      [['--transfer-day', 'BRL=5'], /--transfer-day must be USDT=… or BTC=…/],
      [['--transfer-day', 'USDT=5', '--transfer-day', 'USDT=6'], /names USDT twice/],
    ]
    await Promise.all(
      wrong.map(async ([more, message]) => isMistake(await stage.trilho(...set, ...more), message)),
    )
  })

  test('may be given an arrangement of their own', async () => {
    const customer = await stage.newCustomer(stage.demo.key)
    expect((await stage.trilho('customers', 'allow-third-party', customer)).code).toBe(0)
    const [row] = await asAdmin(stage.database_url, [
      `SELECT third_party_payouts FROM sandbox.customers WHERE id = '${customer}'`,
    ])
    expect(row!.third_party_payouts).toBe(true)
  })
})
