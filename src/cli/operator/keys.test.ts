import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from '../../../test/support/api.ts'
import { type CliStage, isMistake, openCliStage } from '../../../test/support/cli-stage.ts'
import { until } from '../../../test/support/wait.ts'

let stage: CliStage
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

describe('keys', () => {
  test('are created with scopes, allowlist and expiry, listed without their values, limited, rotated, revoked', async () => {
    const made = await stage.json(
      ...[
        'keys',
        'create',
        '--partner',
        stage.demo.partner_id,
        '--name',
        'Reader',
        '--scopes',
        'read, customers',
      ],
      ...['--allow', '127.0.0.1,10.0.0.0/8', '--expires', '2090-01-01T00:00:00Z'],
    )
    expect(made).toMatchObject({
      name: 'Reader',
      scopes: ['read', 'customers'],
      ip_allowlist: ['127.0.0.1', '10.0.0.0/8'],
      expires_at: '2090-01-01T00:00:00.000Z',
      last_four: made.key.slice(-4),
    })
    const limits = (key: string) => openApi(stage.url, key).get('/v1/usage')
    expect((await limits(made.key)).json.minute.limit).toBe(100)
    const [listed, text, set] = await Promise.all([
      stage.json('keys', 'list', '--environment', 'sandbox', '--partner', stage.demo.partner_id),
      stage.trilho('keys', 'list'),
      stage.json('keys', 'set-limits', made.id, '--per-minute', '321'),
    ])
    const { key: _, log: __, ...without } = made
    const found = listed.data.find(({ id }: { id: string }) => id === made.id)
    expect(found).toMatchObject({
      ...without,
      last_used_at: found.last_used_at,
      last_used_address: found.last_used_address,
    })
    expect(text.out).toMatch(new RegExp(`${made.id} +sandbox +Reader +${made.last_four}`))
    for (const shown of [JSON.stringify(listed), text.out]) expect(shown).not.toMatch(/svc_(live|test)_sk_/)
    expect(set).toMatchObject({ id: made.id, per_minute: 321, per_day: null })
    await until(async () => (await limits(made.key)).json.minute?.limit === 321, 1000)

    const rotated = await stage.json('keys', 'rotate', made.id, '--grace-hours', '0')
    expect(rotated).toMatchObject({ id: made.id, key: expect.stringMatching(/^svc_test_sk_/) })
    await until(async () => (await limits(made.key)).json.error?.code === 'revoked_api_key', 1000)
    expect((await limits(rotated.key)).status).toBe(200)
    const revoked = await stage.json('keys', 'revoke', made.id)
    expect(revoked.revoked_at).toMatch(/Z$/)
    await until(async () => (await limits(rotated.key)).json.error?.code === 'revoked_api_key', 1000)
    isMistake(await stage.trilho('keys', 'rotate', made.id), /is revoked; create a new one/)
  })
})
