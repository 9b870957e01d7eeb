import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from '../../../test/support/api.ts'
import { type CliStage, isMistake, openCliStage } from '../../../test/support/cli-stage.ts'
import { asAdmin } from '../../../test/support/database.ts'

let stage: CliStage
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

describe('partners and users', () => {
  let partner_id: string

  test('without --partner the only partner is used; with several, one must be named', async () => {
    const made = await stage.json('keys', 'create', '--environment', 'sandbox')
    expect(made).toMatchObject({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^svc_test_sk_/),
      partner_id: stage.demo.partner_id,
      environment: 'sandbox',
      scopes: ['read', 'customers', 'payouts', 'transfers', 'quotes', 'webhooks'],
      ip_allowlist: [],
      expires_at: null,
      revoked_at: null,
    })
    expect((await openApi(stage.url, made.key).get('/v1/usage')).status).toBe(200)
    const created = await stage.json('partners', 'create', '--name', 'Acme')
    partner_id = created.id
    expect(created).toMatchObject({ id: expect.stringMatching(/^ptn_/), name: 'Acme', tier: 'standard' })
    const [unnamed, live] = await Promise.all([
      stage.trilho('keys', 'create', '--json'),
      stage.json('keys', 'create', '--environment', 'production', '--partner', partner_id),
    ])
    isMistake(unnamed, /There are several partners: say which one with --partner ID/)
    expect(live).toMatchObject({ partner_id, environment: 'production' })
    expect(live.key).toMatch(/^svc_live_sk_/)
  })

  test('are listed, shown and changed', async () => {
    const [list, shown] = await Promise.all([
      stage.json('partners', 'list'),
      stage.json('partners', 'show', partner_id),
    ])
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([stage.demo.partner_id, partner_id])
    expect(list.data[1]).toEqual(shown)
    expect(await stage.json('partners', 'set-tier', partner_id, 'growth')).toMatchObject({ tier: 'growth' })
    expect(
      await stage.json(
        'partners',
        'set-limits',
        partner_id,
        '--per-minute',
        '700',
        '--endpoint-per-minute',
        '90',
      ),
    ).toMatchObject({ per_minute: 700, per_day: null, endpoint_per_minute: 90 })
    expect(await stage.json('partners', 'set-fees', partner_id, '--service-bps', '30')).toMatchObject({
      service_fee_bps: 30,
      partner_fee_share_pct: 0,
    })
    expect(await stage.json('partners', 'allow-third-party', partner_id)).toMatchObject({
      third_party_payouts: true,
    })
    expect(await stage.json('partners', 'allow-third-party', partner_id, '--off')).toMatchObject({
      id: partner_id,
      tier: 'growth',
      per_minute: 700,
      service_fee_bps: 30,
      third_party_payouts: false,
    })
    const [nothing, odd] = await Promise.all([
      stage.trilho('partners', 'set-limits', partner_id),
      stage.trilho('partners', 'set-limits', partner_id, '--per-minute', '0'),
    ])
    isMistake(nothing, /Say at least one of --per-minute/)
    isMistake(odd, /--per-minute must be a whole number from 1/)
  })

  test('a user’s password is shown once, and can be reset', async () => {
    const args = ['users', 'create', '--email', 'Ana@Acme.example', '--partner', partner_id]
    const user = await stage.json(...args, '--role', 'finance')
    expect(user).toMatchObject({ email: 'ana@acme.example', role: 'finance', partner_id })
    const [again, reset, unknown] = await Promise.all([
      stage.trilho(...args),
      stage.json('users', 'reset-password', 'ana@acme.example'),
      stage.trilho('users', 'reset-password', 'nobody@acme.example'),
    ])
    isMistake(again, /A user with the e-mail ana@acme\.example exists already/)
    isMistake(unknown, /No user with the e-mail nobody@acme\.example/)
    expect(reset).toMatchObject({ id: user.id, email: user.email })
    const viewer = await stage.json('users', 'set-role', 'ana@acme.example', '--role', 'viewer')
    expect(viewer).toMatchObject({ id: user.id, role: 'viewer' })
    const leaving = ['--email', 'leaves@acme.example', '--role', 'viewer', '--partner', partner_id]
    const gone = await stage.json('users', 'create', ...leaving)
    expect(await stage.json('users', 'remove', gone.email)).toMatchObject({ id: gone.id, removed: true })
    isMistake(await stage.trilho('users', 'reset-password', gone.email), /No user with the e-mail/)
    expect(reset.password).toMatch(/^(\w{5}-){3}\w{5}$/)
    expect(reset.password).not.toBe(user.password)
    const [row] = await asAdmin(stage.database_url, [
      'SELECT string_agg(u::text, $$ $$) AS all FROM shared.users u',
    ])
    expect(row!.all).toContain('$argon2id$')
    for (const { password } of [user, reset]) expect(row!.all).not.toContain(password)
  })
})

test('an error of the database is reported by its code, without the values of the row', async () => {
  const name = 'Maria Aparecida'
  await asAdmin(stage.database_url, [
    `ALTER TABLE shared.partners ADD CONSTRAINT odd CHECK (name <> '${name}')`,
  ])
  const ran = await stage.trilho('partners', 'create', '--name', name)
  await asAdmin(stage.database_url, ['ALTER TABLE shared.partners DROP CONSTRAINT odd'])
  expect(ran.code).toBe(1)
  expect(ran.err).toContain('the database answered with 23514 (partners, odd)')
  expect(ran.err + ran.out).not.toContain(name)
})
