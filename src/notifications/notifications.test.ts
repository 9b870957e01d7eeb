import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makePerson, openConsole, type Person } from '../../test/support/console.ts'
import { asAdmin } from '../../test/support/database.ts'
import { type MailServer, openMailServer, type ReceivedMail } from '../../test/support/mail-server.ts'
import { METRICS_TOKEN } from '../../test/support/metrics.ts'
import { someCpf, startTestService, type TestService } from '../../test/support/service.ts'
import { eventually, until } from '../../test/support/wait.ts'
import { act } from '../control/operator/act.ts'
import { createSealer } from '../core/seal.ts'
import { openChore } from '../db/chore.ts'
import { setMoneyLimits } from '../money/money-limits/money-limits.ts'
import { limitedAndActive } from '../money/money-limits/store.ts'
import { editPartner } from '../parties/partners/partners.ts'
import { openCollector } from './collect.ts'
import { confirmationToken } from './confirmation.ts'

const log = pino({ level: 'silent' })
const SECRET = 'correct-horse-battery'
const PUBLIC_URL = 'https://pay.example.com'

let mail_server: MailServer
let service: TestService
beforeAll(async () => {
  mail_server = await openMailServer()
  service = await startTestService({
    TRUST_PROXY: '127.0.0.1',
    PUBLIC_URL,
    SMTP_URL: `smtp://trilho:${SECRET}@127.0.0.1:${mail_server.port}`,
    MAIL_FROM: 'Trilho <no-reply@trilho.example>',
    MAIL_FIRST_MS: '400',
    MAIL_EVERY_MS: '600000',
  })
  // The first run begins at the end of the logs.
  await until(async () => (await sql(`SELECT FROM shared.notification_positions`)).length === 4, 60_000)
})
afterAll(async () => {
  await service.stop()
  await mail_server.stop()
})

const sql = (...statements: string[]) => asAdmin(service.database.url, statements)

let places = 0
const someAddress = () => `198.51.${Math.floor(++places / 250)}.${(places % 250) + 1}`

/** The console compares the origin with PUBLIC_URL. */
const fromPage = { origin: PUBLIC_URL }
async function enter(person: Person, address = someAddress()) {
  const client = openConsole(service.url, { address })
  const { email } = person.user
  const code = person.code()
  const credentials = { email, password: person.password, ...(code ? { code } : {}) }
  const signed = await client.post('/session', credentials, fromPage)
  expect(signed.status, signed.text).toBe(200)
  return client
}

async function team(...roles: ('owner' | 'developer' | 'finance' | 'viewer')[]) {
  const { partner_id, api, key_id } = await service.partner()
  const people: Person[] = []
  for (const role of roles) people.push(await makePerson(service, { partner_id, role }))
  return { partner_id, api, key_id, people }
}

const confirm = (...people: Person[]) =>
  sql(
    ...people.map(
      ({ user }) =>
        `INSERT INTO shared.mail_addresses (user_id, email) VALUES ('${user.id}', '${user.email}')`,
    ),
  )

const mailsTo = ({ user }: Person) => mail_server.to(user.email)
const mailTo = (person: Person, nth = 0): Promise<ReceivedMail> =>
  eventually(() => {
    const mail = mailsTo(person)[nth]
    expect(mail, `mail ${nth} to ${person.user.email}`).toBeDefined()
    return mail!
  })

/** As if every mail to this person had been made so long ago. */
const later = ({ user }: Person, time = '11 minutes') =>
  sql(`UPDATE shared.mails SET created_at = created_at - interval '${time}' WHERE user_id = '${user.id}'`)

const linesOf = (person: Person) =>
  sql(
    `SELECT kind, place, topic, count, mail FROM shared.notifications WHERE user_id = '${person.user.id}' ORDER BY created_at, kind`,
  )

/** The service sends nothing more to them: whatever they are to be told, a bystander who came later was told. */
async function settled(): Promise<void> {
  const bystander = await makePerson(service, { role: 'admin', factor: true })
  await enter(bystander)
  await mailTo(bystander)
}

describe('a digest', () => {
  test('tells of a sign-in from a new place, once, and not of one from a known place', async () => {
    const person = await makePerson(service, { role: 'reader', factor: true })
    const address = someAddress()
    await enter(person, address)
    const mail = await mailTo(person)
    expect(mail.headers.get('subject')).toBe('Trilho: 1 notification')
    expect(mail.headers.get('message-id')).toMatch(/^<ml_[0-9a-z]{26}@trilho\.example>$/)
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated')
    expect(mail.text).toContain(`from a new place`)
    expect(mail.text).toContain(address)
    expect(mail.text).toContain(`${PUBLIC_URL}/console/me`)
    expect(mail.html).toContain(`href="${PUBLIC_URL}/console/me"`)
    expect(mail.user).toBe(`trilho:${SECRET}`)
    await later(person)
    await enter(person, address)
    await settled()
    expect(mailsTo(person)).toHaveLength(1)
  })

  test('is written in the language of the person', async () => {
    const person = await makePerson(service, { role: 'reader', factor: true })
    await sql(`UPDATE shared.users SET language = 'pt-BR' WHERE id = '${person.user.id}'`)
    await enter(person)
    const mail = await mailTo(person)
    expect(mail.headers.get('subject')).toBe('Trilho: 1 notificação')
    expect(mail.text).toContain('Alguém entrou na sua conta a partir de um lugar novo.')
    expect(mail.html).toContain('lang="pt-BR"')
  })

  test('counts: thousands of exceptions are one line of one mail, and nothing follows before its time', async () => {
    const person = await makePerson(service, { role: 'admin', factor: true })
    const open = (from: number, to: number) =>
      sql(
        `INSERT INTO live.exceptions (id, kind, rail, object_id, details, opened_at)
         SELECT 'exc_' || lpad(i::text, 26, '0'), 'stuck', 'pix', 'po_' || i, '{}', clock_timestamp() FROM generate_series(${from}, ${to}) AS i`,
      )
    await open(1, 3000)
    const mail = await mailTo(person)
    const counted = () =>
      linesOf(person).then((lines) => lines.reduce((sum, line) => sum + Number(line.count), 0))
    expect(mail.text.match(/exceptions? w/g)).toHaveLength(1)
    expect(mail.text).toContain('stuck')
    expect(mail.text).toContain(`${PUBLIC_URL}/console/operator/production/desk`)
    await until(async () => (await counted()) === 3000, 60_000)
    await open(3001, 3100)
    await until(async () => (await counted()) === 3100, 60_000)
    await settled()
    expect(mailsTo(person)).toHaveLength(1)
    await later(person)
    const next = await mailTo(person, 1)
    expect(next.text).toMatch(/\d+ exceptions were opened/)
    await settled()
    expect(mailsTo(person)).toHaveLength(2)
    expect(new Set(mailsTo(person).map(({ headers }) => headers.get('message-id'))).size).toBe(2)
    await sql(`UPDATE live.exceptions SET closed_at = now(), closed_by = 'test', closed_reason = 'test'`)
  })

  test('comes every two hours from the seventh mail of a day on, and a day after one that was given up', async () => {
    const person = await makePerson(service, { role: 'reader', factor: true })
    await sql(
      `INSERT INTO shared.mails (id, user_id, kind, status, created_at, ended_at)
       SELECT 'ml_pace' || i, '${person.user.id}', 'digest', 'sent', clock_timestamp() - interval '30 minutes', clock_timestamp()
       FROM generate_series(1, 6) AS i`,
    )
    await enter(person)
    await until(async () => (await linesOf(person)).length === 1, 60_000)
    await settled()
    expect(mailsTo(person)).toHaveLength(0)
    await later(person, '2 hours')
    await mailTo(person)

    await sql(`UPDATE shared.mails SET status = 'given_up' WHERE user_id = '${person.user.id}'`)
    await later(person, '20 hours')
    await enter(person)
    await until(async () => (await linesOf(person)).length === 2, 60_000)
    await settled()
    expect(mailsTo(person)).toHaveLength(1)
    await later(person, '5 hours')
    await mailTo(person, 1)
  })

  test('tells operators of a proposal, except the one who made it', async () => {
    const [maker, other] = [
      await makePerson(service, { role: 'admin', factor: true }),
      await makePerson(service, { role: 'resolver', factor: true }),
    ]
    const { partner_id } = await service.partner()
    const { api } = await service.partner({ partner_id, environment: 'production' })
    const customer = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json
    const { id: user_id, email } = maker.user
    await act(service.office, { kind: 'operator', user_id, email, role: 'admin' }, {
      name: 'credit',
      environment: 'production',
      details: {
        partner_id,
        customer_id: customer.id,
        asset: 'BRL',
        amount: '100',
        reason: 'wire',
        reference: 'w-1',
      },
    } as never)
    const mail = await mailTo(other)
    expect(mail.text).toMatch(/A proposal waits for a second operator\. \(prp_/)
    expect(mail.text).toContain(`${PUBLIC_URL}/console/operator/production/proposals`)
    expect((await linesOf(maker)).filter(({ kind }) => kind === 'proposal_waiting')).toEqual([])
  })
})

describe('a partner’s people', () => {
  test('get keys, webhooks and limits by role, and no mail before they have confirmed their address', async () => {
    const { api, people } = await team('owner', 'developer', 'finance', 'viewer')
    const [owner, developer, finance, viewer] = people as [Person, Person, Person, Person]
    const page = await enter(owner)
    const asked = await mailTo(owner)
    expect(asked.headers.get('subject')).toBe('Trilho: confirm your e-mail address')
    expect(asked.text).not.toContain('notifications:')

    const made = await page.post(
      '/sandbox/keys',
      {
        form_id: 'form-of-a-test-1-----',
        name: 'PHISH http://evil.example',
        scopes: ['read'],
        ip_allowlist: [],
      },
      fromPage,
    )
    expect(made.status, made.text).toBe(201)
    const endpoint = await api.post('/v1/webhook_endpoints', {
      url: 'https://example.com/x?token=t0k3n',
      events: ['*'],
    })
    await sql(
      `UPDATE sandbox.webhook_endpoints SET failing_since = clock_timestamp() - interval '2 minutes' WHERE id = '${endpoint.json.id}'`,
    )
    await until(async () => (await linesOf(developer)).length >= 2, 60_000)
    await settled()
    expect(mailsTo(owner)).toHaveLength(1)

    const token = /confirm=([A-Za-z0-9_-]+)/.exec(asked.text)![1]!
    const stranger = await enter(developer)
    expect((await stranger.post('/me/mail/confirm', { token }, fromPage)).json.error.code).toBe(
      'link_not_valid',
    )
    const confirmed = await page.post('/me/mail/confirm', { token }, fromPage)
    expect(confirmed.json).toMatchObject({ state: 'confirmed', works: true, email: owner.user.email })
    await later(owner)
    const mail = await mailTo(owner, 1)
    expect(mail.text).toContain('Your account')
    expect(mail.text).toContain('Sandbox')
    expect(mail.text).toContain(
      `An API key was created or rotated. (${made.json.key.id} …${made.json.key.last_four}`,
    )
    expect(mail.text).toContain(`A webhook endpoint fails.`)
    expect(mail.text).toContain(`${PUBLIC_URL}/console/sandbox/developers/webhooks/${endpoint.json.id}`)
    expect(mail.text).not.toMatch(/evil|PHISH|t0k3n|example\.com\/x/)
    expect((await linesOf(finance)).map(({ kind }) => kind)).toEqual([])
    expect((await linesOf(viewer)).map(({ kind }) => kind)).toEqual([])
  })

  test('choose what they get, and turning a kind off does not hold back what happened before', async () => {
    const { people } = await team('owner')
    const [owner] = people as [Person]
    await confirm(owner)
    const page = await enter(owner)
    // The first sign-in is on its way: whoever stole the session cannot silence it.
    const off = await page.patch('/me/notification-settings', { kind: 'sign_in', mail: false }, fromPage)
    expect(off.json.kinds).toContainEqual({ kind: 'sign_in', mail: false })
    expect(off.json.kinds.map(({ kind }: any) => kind)).not.toContain('exception_opened')
    await mailTo(owner)
    await later(owner)
    await enter(owner)
    await until(async () => (await linesOf(owner)).length === 2, 60_000)
    await settled()
    expect(mailsTo(owner)).toHaveLength(1)
    expect(await linesOf(owner)).toMatchObject([{ mail: 'taken' }, { mail: 'none' }])
    expect(
      (await page.patch('/me/notification-settings', { kind: 'exception_opened', mail: true }, fromPage))
        .status,
    ).toBe(400)
    const acts = await sql(`SELECT action FROM shared.acts WHERE object_id = '${owner.user.id}' ORDER BY seq`)
    expect(acts.map(({ action }) => action)).toContain('change_notifications')
  })

  test('see what they were told in the console, until they have read it', async () => {
    const { people } = await team('owner')
    const [owner] = people as [Person]
    const page = await enter(owner)
    await until(async () => (await page.get('/me/notifications/unread')).json.unread === 1, 60_000)
    const { data } = (await page.get('/me/notifications')).json
    expect(data).toMatchObject([{ kind: 'sign_in', place: '', count: 1, read: false, path: '/me' }])
    const seen = data.map(({ id, count }: any) => ({ id, count }))
    const { people: others } = await team('owner')
    const stranger = await enter(others[0]!)
    await stranger.post('/me/notifications/read', { seen }, fromPage)
    expect((await page.get('/me/notifications/unread')).json.unread).toBe(1)
    expect(
      (await page.post('/me/notifications/read', { seen: [{ ...seen[0], count: 9 }] }, fromPage)).json.unread,
    ).toBe(1)
    expect((await page.post('/me/notifications/read', { seen }, fromPage)).json).toEqual({ unread: 0 })
    expect((await page.get('/me/notifications')).json.data).toMatchObject([{ read: true }])
  })

  test('hear that a key expires, and that four fifths of a limit are used: of requests in a day, and of money', async () => {
    const { partner_id, api, key_id, people } = await team('owner')
    const [owner] = people as [Person]
    await confirm(owner)
    const document = someCpf()
    const customer = (await api.post('/v1/customers', { name: 'Nilo Caetano', document })).json
    await api.post('/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: '100000' })
    await setMoneyLimits(service.worlds.sandbox, partner_id, { payout_day: 10_000n })
    await api.post('/v1/pix/payouts', {
      customer_id: customer.id,
      amount: '8000',
      counterparty: { type: 'pix_key', pix_key: document },
      idempotency_key: 'near',
    })
    await editPartner(service.shared, partner_id, { per_day: 3 })
    await sql(
      'SET session_replication_role = replica',
      `UPDATE sandbox.api_keys SET expires_at = clock_timestamp() + interval '3 days', created_at = created_at - interval '300 days'
       WHERE id = '${key_id}'`,
    )
    const topics = async () => (await linesOf(owner)).map(({ kind, topic }) => `${kind} ${topic}`).sort()
    await until(async () => {
      await collectOnce()
      return (await topics()).join() === 'key_expiring ,limit_near payout_day,limit_near requests'
    }, 60_000)
    // What was found in different runs may be in different mails.
    await eventually(async () => {
      await later(owner)
      const text = mailsTo(owner)
        .map((mail) => mail.text)
        .join('\n')
      expect(text).toMatch(/An API key expires soon\. \(key_\w+ …\w{4} \d{4}-\d\d-\d\d;/)
      expect(text).toContain(`An API key has used 80 % of its requests of the day. (${key_id} …`)
      expect(text).toContain(`80 % of a money limit. (Pix payouts of a day; ${customer.id}`)
      expect(text).not.toContain(document)
      expect(text).not.toContain('Nilo')
    })
  })
})

/** What another node finds that has just started: the service itself looks at states every two minutes. */
async function collectOnce(): Promise<void> {
  const work = openCollector({ shared: service.shared, worlds: service.worlds, exceptions_in: [] })
  const chore = openChore({ name: 'tell people', every_ms: 2 ** 30, pool: service.shared.db, work }, { log })
  await chore.run()
  await chore.stop()
}

describe('whoever is hostile', () => {
  test('keeps nobody from being told: a thousand keys, counters and endpoints of one partner do not crowd out others', async () => {
    const crowd = await team('owner')
    const other = await team('owner')
    const [owner] = other.people as [Person]
    const keys = `generate_series(1, 1100) AS i`
    await editPartner(service.shared, other.partner_id, { per_day: 10 })
    await sql(
      'SET session_replication_role = replica',
      // More urgent, fuller and newer than those of the other partner, and before them in the order of ids.
      `INSERT INTO sandbox.api_keys (id, partner_id, name, scopes, created_at, expires_at, per_day)
       SELECT 'key_00crowd' || i, '${crowd.partner_id}', 'x', '{}', now() - interval '300 days', now() + interval '1 day', 1000000 FROM ${keys}`,
      `INSERT INTO sandbox.api_key_values (hash, api_key_id, last_four)
       SELECT sha256(('crowd' || i)::bytea), 'key_00crowd' || i, 'abcd' FROM ${keys}`,
      `INSERT INTO shared.windows (subject, name, starts_at, ends_at, count)
       SELECT 'key_00crowd' || i, 'day', date_trunc('day', now(), 'UTC'), date_trunc('day', now(), 'UTC') + interval '1 day', 100 FROM ${keys}`,
      `INSERT INTO shared.windows AS w (subject, name, starts_at, ends_at, count)
       VALUES ('${other.key_id}', 'day', date_trunc('day', now(), 'UTC'), date_trunc('day', now(), 'UTC') + interval '1 day', 9)
       ON CONFLICT (subject, name, starts_at) DO UPDATE SET count = 9`,
      `INSERT INTO sandbox.webhook_endpoints (id, partner_id, url, events, secret, failing_since, created_at)
       SELECT 'we_00crowd' || i, '${crowd.partner_id}', 'https://example.com', '{*}', '', now() - interval '2 minutes', now() FROM ${keys}`,
      `INSERT INTO sandbox.webhook_endpoints (id, partner_id, url, events, secret, failing_since, created_at)
       VALUES ('we_other', '${other.partner_id}', 'https://example.com', '{*}', '', now() - interval '3 hours', now())`,
      `UPDATE sandbox.api_keys SET expires_at = now() + interval '3 days', created_at = created_at - interval '300 days'
       WHERE id = '${other.key_id}'`,
    )
    try {
      await until(async () => {
        await collectOnce()
        return (await linesOf(owner)).length >= 3
      }, 60_000)
      const told = (await linesOf(owner)).map(({ kind, topic }) => `${kind} ${topic}`).sort()
      expect(told).toEqual(['key_expiring ', 'limit_near requests', 'webhook_failing '])
    } finally {
      await sql(
        'SET session_replication_role = replica',
        `DELETE FROM sandbox.api_key_values WHERE starts_with(api_key_id, 'key_00crowd')`,
        `DELETE FROM sandbox.api_keys WHERE starts_with(id, 'key_00crowd')`,
        `DELETE FROM shared.windows WHERE starts_with(subject, 'key_00crowd')`,
        `DELETE FROM sandbox.webhook_endpoints WHERE starts_with(id, 'we_00crowd') OR id = 'we_other'`,
      )
    }
  })

  test('has active customers with limits read page by page, so that those of every partner are reached', async () => {
    const customers: string[] = []
    for (let partner = 0; partner < 2; partner++) {
      const { api, partner_id } = await team()
      await setMoneyLimits(service.worlds.sandbox, partner_id, { payout_day: 10_000n })
      for (let i = 0; i < 2; i++) {
        const document = someCpf()
        const { id } = (await api.post('/v1/customers', { name: 'Nilo Caetano', document })).json
        await api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '10000' })
        await api.post('/v1/pix/payouts', {
          customer_id: id,
          amount: '100',
          counterparty: { type: 'pix_key', pix_key: document },
          idempotency_key: id,
        })
        customers.push(id)
      }
    }
    const since = new Date(Date.now() - 3_600_000)
    const found: string[] = []
    for (let after = { partner_id: '', customer_id: '' }; ; ) {
      const page = await limitedAndActive(service.worlds.sandbox.reads, { since, after, limit: 1 })
      const [last] = page
      if (!last || found.includes(last.customer_id)) break
      found.push(last.customer_id)
      after = last
    }
    expect(found).toEqual(expect.arrayContaining(customers))
  })

  test('cannot have one address asked more than three times a day, by removing and inviting it again', async () => {
    const { people } = await team('owner')
    const page = await enter((people as [Person])[0])
    const victim = `again-${Date.now()}@elsewhere.example`
    const password = 'correct horse battery staple'
    const removed = () =>
      sql(
        `UPDATE shared.users SET email = id || '@removed.invalid', removed_at = clock_timestamp() WHERE email = '${victim}'`,
      )
    for (let round = 0; round < 5; round++) {
      const invited = await page.post(
        '/invitations',
        { form_id: `form-of-a-test-again-${round}`, email: victim, name: 'Vic', role: 'viewer' },
        fromPage,
      )
      expect(invited.status, invited.text).toBe(201)
      const token = invited.json.link.split('/').at(-1)
      const own = openConsole(service.url, { address: someAddress() })
      expect((await own.post('/links/use', { token, password }, fromPage)).status).toBe(200)
      const client = openConsole(service.url, { address: someAddress() })
      expect((await client.post('/session', { email: victim, password }, fromPage)).status).toBe(200)
      if (round < 3) await eventually(() => expect(mail_server.to(victim)).toHaveLength(round + 1))
      else await settled()
      await removed()
    }
    expect(mail_server.to(victim)).toHaveLength(3)
  })

  test('cannot make the service write to strangers: an invited address gets one mail, without a word of theirs', async () => {
    const { people } = await team('owner')
    const [owner] = people as [Person]
    const page = await enter(owner)
    const victim = `victim-${Date.now()}@elsewhere.example`
    const invited = await page.post(
      '/invitations',
      { form_id: 'form-of-a-test-2-----', email: victim, name: 'WIN MONEY evil.example', role: 'viewer' },
      fromPage,
    )
    expect(invited.status, invited.text).toBe(201)
    await settled()
    expect(mail_server.to(victim)).toEqual([])
    const token = invited.json.link.split('/').at(-1)
    const password = 'correct horse battery staple'
    const own = openConsole(service.url, { address: someAddress() })
    expect((await own.post('/links/use', { token, password }, fromPage)).status).toBe(200)
    for (let i = 0; i < 5; i++) {
      const client = openConsole(service.url, { address: someAddress() })
      expect((await client.post('/session', { email: victim, password }, fromPage)).status).toBe(200)
    }
    await eventually(() => expect(mail_server.to(victim)).toHaveLength(1))
    await sql(
      `UPDATE shared.mails SET created_at = created_at - interval '1 hour' WHERE user_id = (SELECT id FROM shared.users WHERE email = '${victim}')`,
    )
    await settled()
    const [mail, ...others] = mail_server.to(victim)
    expect(others).toEqual([])
    expect(mail!.headers.get('subject')).toBe('Trilho: confirm your e-mail address')
    expect(`${mail!.raw}${mail!.text}${mail!.html}`).not.toMatch(/WIN|MONEY|evil/)
  })

  test('finds at most three confirmations a day per person, and twenty per partner', async () => {
    const { partner_id, people } = await team('owner', 'viewer')
    const [owner, viewer] = people as [Person, Person]
    const page = await enter(owner)
    const ask = async () => {
      await sql(
        `UPDATE shared.mails SET status = 'sent', ended_at = clock_timestamp() WHERE user_id = '${owner.user.id}' AND status = 'waiting'`,
      )
      return (await page.post('/me/mail', {}, fromPage)).status
    }
    await mailTo(owner)
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 409])
    await sql(
      `INSERT INTO shared.mails (id, user_id, kind, status, ended_at)
       SELECT 'ml_cap' || i || '${partner_id}', '${owner.user.id}', 'confirmation', 'sent', clock_timestamp() FROM generate_series(1, 20) AS i`,
    )
    await enter(viewer)
    await until(async () => (await linesOf(viewer)).length === 1, 60_000)
    await settled()
    expect(mailsTo(viewer)).toEqual([])
  })

  test('cannot use a confirmation of another person, another address, another time, or one made up', async () => {
    const { people } = await team('viewer')
    const [viewer] = people as [Person]
    const page = await enter(viewer)
    const { id: user_id, email } = viewer.user
    const sealer = createSealer([Buffer.alloc(32)])
    const week = 7 * 24 * 3_600_000
    for (const token of [
      confirmationToken(sealer, { user_id: 'usr_other', email }, Date.now()),
      confirmationToken(sealer, { user_id, email: 'other@acme.example' }, Date.now()),
      confirmationToken(sealer, { user_id, email }, Date.now() - week),
      confirmationToken(createSealer([Buffer.alloc(32, 1)]), { user_id, email }, Date.now()),
      sealer
        .seal(Buffer.from(JSON.stringify([user_id, email, Date.now() + week])), 'something else')
        .value.toString('base64url'),
      'made-up',
    ])
      expect((await page.post('/me/mail/confirm', { token }, fromPage)).status, token).toBe(404)
    const token = confirmationToken(sealer, { user_id, email }, Date.now())
    expect((await page.post('/me/mail/confirm', { token }, fromPage)).status).toBe(200)
  })

  test('learns nothing after being removed: a mail that waits is canceled', async () => {
    const { people } = await team('owner', 'developer')
    const [, developer] = people as [Person, Person]
    await confirm(developer)
    await sql(
      `INSERT INTO shared.mails (id, user_id, kind, next_attempt_at) VALUES ('ml_removed', '${developer.user.id}', 'digest', clock_timestamp() + interval '1 hour')`,
      `UPDATE shared.users SET email = id || '@removed.invalid', removed_at = clock_timestamp() WHERE id = '${developer.user.id}'`,
      `UPDATE shared.mails SET next_attempt_at = clock_timestamp() WHERE id = 'ml_removed'`,
    )
    await settled()
    await until(
      async () =>
        (await sql(`SELECT status FROM shared.mails WHERE id = 'ml_removed'`))[0]!.status === 'canceled',
      60_000,
    )
    expect(mailsTo(developer)).toEqual([])
  })
})

test('no mail holds a secret, a document or a Pix key, however it is encoded', async () => {
  const secrets = await sql(
    `SELECT document AS secret FROM sandbox.customers UNION SELECT document FROM live.customers
     UNION SELECT name FROM sandbox.customers UNION SELECT name FROM sandbox.api_keys WHERE length(name) > 6
     UNION SELECT password_hash FROM shared.users`,
  )
  expect(mail_server.received.length).toBeGreaterThan(8)
  for (const { raw, text, html } of mail_server.received)
    for (const { secret } of [...secrets, { secret: SECRET }])
      expect(`${raw}\n${text}\n${html}`).not.toContain(String(secret))
  for (const { text } of mail_server.received) {
    expect(text).not.toMatch(/svc_(live|test)_sk_|whsec_/)
    expect(text.replaceAll(/[a-z]{2,3}_[0-9a-z]{26}/g, '')).not.toMatch(
      /\b\d{11}\b|\b\d{14}\b|\d{3}\.\d{3}\.\d{3}-\d{2}/,
    )
  }
})

test('operators see whether mail works', async () => {
  const operator = await makePerson(service, { role: 'reader', factor: true })
  const page = await enter(operator)
  await mailTo(operator)
  const rails = await eventually(async () => {
    const { json } = await page.get('/operator/production/rails')
    expect(json.mail.sent_at).not.toBe(null)
    return json
  })
  expect(rails.mail).toMatchObject({ configured: true, failed_at: null, error: null })
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text()
  expect(metrics).toMatch(/trilho_mails_total\{outcome="sent"\} [1-9]/)
  expect(metrics).toMatch(/trilho_mails_waiting \d/)
})
