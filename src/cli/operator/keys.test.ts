import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from '../../../test/support/api.ts'
import { type CliStage, isMistake, openCliStage } from '../../../test/support/cli-stage.ts'
import { promptly } from '../../../test/support/wait.ts'

let stage: CliStage
beforeAll(async () => {
  stage = await openCliStage()
})
afterAll(() => stage.stop())

describe('keys', () => {
  test('are found by their value, and no command prints that value', async () => {
    const made = await stage.json('keys', 'create', '--partner', stage.demo.partner_id)
    const limited = await stage.trilho('keys', 'set-limits', made.key, '--per-minute', '300')
    expect([limited.code, limited.out]).toEqual([0, expect.stringContaining(made.id)])
    const revoked = await stage.trilho('keys', 'revoke', made.key)
    expect([revoked.code, revoked.out]).toEqual([0, expect.stringContaining(`${made.id} is revoked.`)])
    const unknown = `svc_live_sk_${'x'.repeat(43)}`
    const typed = await Promise.all([
      stage.trilho('keys', 'revoke', unknown),
      stage.trilho('keys', 'revoke', unknown.slice(0, -5)),
      stage.trilho('keys', 'revoke', `${unknown}, `),
      stage.trilho('keys', 'revoke', unknown, '--json'),
      stage.trilho('keys', unknown),
      stage.trilho(unknown),
      stage.trilho('keys', 'list', unknown),
      stage.trilho('keys', 'list', `--${unknown}`),
      stage.trilho('customers', 'get', unknown),
    ])
    for (const { code, out, err } of [...typed, limited, revoked]) {
      expect(`${out}${err}`).not.toMatch(/svc_(live|test)_sk_\w/)
      if (code !== 0) expect(err).not.toBe('')
    }
    expect(typed.map(({ code }) => code)).not.toContain(0)
    expect(typed[0]!.err).toContain('No key has this value. See: trilho keys list')
  })

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
    await promptly(async () => (await limits(made.key)).json.minute?.limit === 321, 1000)

    const rotated = await stage.json('keys', 'rotate', made.id, '--grace-hours', '0')
    expect(rotated).toMatchObject({ id: made.id, key: expect.stringMatching(/^svc_test_sk_/) })
    await promptly(async () => (await limits(made.key)).json.error?.code === 'revoked_api_key', 1000)
    expect((await limits(rotated.key)).status).toBe(200)
    const revoked = await stage.json('keys', 'revoke', made.id)
    expect(revoked.revoked_at).toMatch(/Z$/)
    await promptly(async () => (await limits(rotated.key)).json.error?.code === 'revoked_api_key', 1000)
    isMistake(await stage.trilho('keys', 'rotate', made.id), /is revoked; create a new one/)
  })
})
