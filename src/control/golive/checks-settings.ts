import { check, DAY_MS, type GoliveCheck, known, says, span, unknown } from './check.ts'

const CERTIFICATE_LEAST_MS = 14 * DAY_MS
/** What docs/operate/retention.md promises partners. */
const LEAST_DAYS = { events: 30, deliveries: 7, requests: 7 } as const

export const settingChecks: readonly GoliveCheck[] = [
  check({
    name: 'public_url',
    area: 'settings',
    about: 'Partners reach the service over HTTPS',
    says: {
      ok: { state: 'ok', found: 'PUBLIC_URL is {url}.' },
      absent: {
        state: 'red',
        found: 'PUBLIC_URL is not set.',
        to_do: 'Set PUBLIC_URL to the https address that partners use, and restart every node.',
        commands: ['PUBLIC_URL=https://api.example.com'],
      },
      plain: {
        state: 'red',
        found: 'PUBLIC_URL is {url}, without TLS: API keys would travel in clear text.',
        to_do: 'Put a proxy with a certificate before the service, and set PUBLIC_URL to its https address.',
      },
    },
    judge({ settings: { public_url: url } }) {
      if (url === undefined) return says('absent')
      return says(url.startsWith('https://') ? 'ok' : 'plain', { url })
    },
  }),
  check({
    name: 'certificate',
    area: 'settings',
    about: 'The certificate of PUBLIC_URL is trusted and lasts for two weeks',
    says: {
      ok: { state: 'ok', found: 'The certificate is valid until {until}, for {left} more.' },
      none: {
        state: 'red',
        found: 'PUBLIC_URL is not an https address, so there is no certificate.',
        to_do: 'Set PUBLIC_URL to an https address.',
      },
      untrusted: {
        state: 'red',
        found: 'The certificate is not trusted from here: {problem}.',
        to_do:
          'Install a certificate of a public authority for the host of PUBLIC_URL, with its whole chain.',
      },
      ending: {
        state: 'red',
        found: 'The certificate is valid until {until}, for {left} more. Less than 14 d is too little.',
        to_do: 'Renew the certificate, and find out why it was not renewed by itself.',
      },
      unknown: unknown(
        'Run this command where PUBLIC_URL can be reached, and check DNS, the firewall and the proxy.',
        ['curl -v {url}/healthz'],
      ),
    },
    judge({ public_page, settings, now }) {
      const { public_url: url = 'PUBLIC_URL' } = settings
      if ('unknown' in public_page) return says('unknown', { why: public_page.unknown, url })
      const { certificate } = public_page.known
      if (!certificate) return says('none')
      const { ends_at, problem } = certificate
      const left_ms = ends_at.getTime() - now.getTime()
      if (problem !== null) return says('untrusted', { problem })
      const values = { until: ends_at.toISOString(), left: span(left_ms) }
      return says(left_ms < CERTIFICATE_LEAST_MS ? 'ending' : 'ok', values)
    },
  }),
  check({
    name: 'public_page',
    area: 'settings',
    about: 'PUBLIC_URL leads to this service',
    says: {
      ok: { state: 'ok', found: 'PUBLIC_URL/healthz answers.' },
      other: {
        state: 'red',
        found: 'PUBLIC_URL/healthz answers with status {http}, and not as this service does.',
        to_do: 'Let the proxy forward every path to the port of the service.',
      },
      unknown: unknown('Check DNS, the firewall and the proxy.', ['curl -v {url}/healthz']),
    },
    judge({ public_page, settings: { public_url: url = 'PUBLIC_URL' } }) {
      if ('unknown' in public_page) return says('unknown', { why: public_page.unknown, url })
      const { is_service, http } = public_page.known
      return says(is_service ? 'ok' : 'other', { http })
    },
  }),
  check({
    name: 'proxy',
    area: 'settings',
    about: 'The proxy before the service is trusted',
    says: {
      ok: { state: 'ok', found: 'TRUST_PROXY is set.' },
      absent: {
        state: 'red',
        found:
          'TRUST_PROXY is not set: every partner seems to come from the proxy, and all share its limits and its address.',
        to_do: 'Set TRUST_PROXY to the addresses of the proxy that ends TLS, and to nothing else.',
        commands: ['TRUST_PROXY=192.0.2.7'],
      },
    },
    judge: ({ settings: { trusts_proxy } }) => says(trusts_proxy ? 'ok' : 'absent'),
  }),
  check({
    name: 'secret_key',
    area: 'settings',
    about: 'SECRET_KEY is random',
    says: {
      ok: { state: 'ok', found: 'The key looks random.' },
      weak: {
        state: 'red',
        found: 'SECRET_KEY repeats a few bytes: it is an example or a test key.',
        to_do: 'Make a random key, name the present one in SECRET_KEY_PREVIOUS, and rotate.',
        commands: ['openssl rand -hex 32', 'trilho secrets rotate'],
      },
    },
    judge: ({ settings: { has_weak_key } }) => says(has_weak_key ? 'weak' : 'ok'),
  }),
  check({
    name: 'test_settings',
    area: 'settings',
    about: 'No setting is in force that is meant for tests',
    says: {
      ok: { state: 'ok', found: 'None is.' },
      set: {
        state: 'red',
        found: 'Set, and meant for tests: {names}.',
        to_do: 'Remove these settings, and restart every node.',
      },
    },
    judge: ({ settings: { for_tests } }) =>
      for_tests.length === 0 ? says('ok') : says('set', { names: for_tests.join(', ') }),
  }),
  check({
    name: 'egress',
    area: 'settings',
    about: 'Webhooks reach public addresses only',
    says: {
      ok: { state: 'ok', found: 'WEBHOOK_ALLOW_PRIVATE is off.' },
      open: {
        state: 'red',
        found: 'WEBHOOK_ALLOW_PRIVATE is on: a partner can make the service call addresses of your network.',
        to_do: 'Remove WEBHOOK_ALLOW_PRIVATE, and restart every node.',
      },
    },
    judge: ({ settings: { allows_private_webhooks } }) => says(allows_private_webhooks ? 'open' : 'ok'),
  }),
  check({
    name: 'retention',
    area: 'settings',
    about: 'Records are kept for as long as partners are promised',
    says: {
      ok: { state: 'ok', found: 'Events {events} d, deliveries {deliveries} d, requests {requests} d.' },
      short: {
        state: 'red',
        found:
          'Events {events} d, deliveries {deliveries} d, requests {requests} d. The least is 30 d, 7 d and 7 d.',
        to_do: 'Raise EVENT_RETENTION_DAYS, DELIVERY_RETENTION_DAYS or REQUEST_RETENTION_DAYS.',
      },
    },
    judge({ settings: { retention_days: days } }) {
      const is_kept = Object.entries(LEAST_DAYS).every(
        ([what, least]) => days[what as keyof typeof LEAST_DAYS] >= least,
      )
      return says(is_kept ? 'ok' : 'short', days)
    },
  }),
  check({
    name: 'demo',
    area: 'settings',
    about: 'Nothing is left of the demo',
    says: {
      ok: { state: 'ok', found: 'There is no demo partner, user or key.' },
      left: {
        state: 'red',
        found: 'Left of the demo: {what}.',
        to_do: 'Remove the user and the file, revoke the keys of the partner, and set DEMO to false.',
        commands: ['trilho users remove owner@demo.example', 'trilho keys list', 'trilho keys revoke KEY'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ demo_left }) =>
      known(demo_left, (left) => (left.length === 0 ? says('ok') : says('left', { what: left.join(', ') }))),
  }),
]
