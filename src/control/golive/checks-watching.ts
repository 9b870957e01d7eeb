import { check, type GoliveCheck, known, says, span, unknown } from './check.ts'

const AUDIT_LEAST_MS = 6 * 3_600_000
const DATABASE_CLOCK_MOST_MS = 500
const OUTSIDE_CLOCK_MOST_MS = 2000
const OK = 200

const alert_docs = 'docs/operate/monitoring.md, “Dashboard and alerts”'

export const watchingChecks: readonly GoliveCheck[] = [
  check({
    name: 'metrics',
    area: 'watching',
    about: 'The metrics of this node can be read',
    says: {
      ok: { state: 'ok', found: '/metrics answers.' },
      absent: {
        state: 'red',
        found: 'Neither METRICS_TOKEN nor METRICS_PORT is set: nobody can read the metrics.',
        to_do: 'Set METRICS_TOKEN, and give it to Prometheus.',
        commands: ['openssl rand -hex 32'],
      },
      refused: {
        state: 'red',
        found: '/metrics answers with status {http}.',
        to_do: 'Run this command with the settings of the service: METRICS_TOKEN or METRICS_PORT is another.',
      },
      unknown: unknown('Start the service, and run this command on its machine, with its HOST and PORT.'),
    },
    judge: ({ metrics }) =>
      metrics === undefined
        ? says('absent')
        : known(metrics, ({ http }) => says(http === OK ? 'ok' : 'refused', { http })),
  }),
  check({
    name: 'prometheus',
    area: 'watching',
    about: 'Prometheus reads the metrics',
    says: {
      ok: { state: 'ok', found: 'Prometheus is ready, and has figures of {nodes} nodes.' },
      absent: {
        state: 'red',
        found: 'PROMETHEUS_URL is not set.',
        to_do: `Set PROMETHEUS_URL to where this machine reaches Prometheus (${alert_docs}).`,
        commands: ['PROMETHEUS_URL=http://prometheus.example.com:9090'],
      },
      refused: {
        state: 'red',
        found: 'Prometheus answers with status {http}.',
        to_do: 'Look at the log of Prometheus.',
        commands: ['curl PROMETHEUS_URL/-/ready'],
      },
      blind: {
        state: 'red',
        found: 'Prometheus is ready, and has no figures of this service.',
        to_do: 'Add the nodes to the configuration of Prometheus, with METRICS_TOKEN (deploy/prometheus).',
      },
      unknown: unknown('Start Prometheus, and check PROMETHEUS_URL.', ['curl PROMETHEUS_URL/-/ready']),
    },
    judge({ prometheus }) {
      if (prometheus === undefined) return says('absent')
      return known(prometheus, ({ http, nodes }) => {
        if (http !== OK) return says('refused', { http })
        return says(nodes === 0 ? 'blind' : 'ok', { nodes })
      })
    },
  }),
  check({
    name: 'alertmanager',
    area: 'watching',
    about: 'Alertmanager can send alerts',
    says: {
      ok: { state: 'ok', found: 'Alertmanager is ready.' },
      absent: {
        state: 'red',
        found: 'ALERTMANAGER_URL is not set.',
        to_do: `Set ALERTMANAGER_URL to where this machine reaches Alertmanager (${alert_docs}).`,
        commands: ['ALERTMANAGER_URL=http://alertmanager.example.com:9093'],
      },
      refused: {
        state: 'red',
        found: 'Alertmanager answers with status {http}.',
        to_do: 'Look at the log of Alertmanager.',
        commands: ['curl ALERTMANAGER_URL/-/ready'],
      },
      unknown: unknown('Start Alertmanager, and check ALERTMANAGER_URL.', ['curl ALERTMANAGER_URL/-/ready']),
    },
    judge: ({ alertmanager }) =>
      alertmanager === undefined
        ? says('absent')
        : known(alertmanager, ({ http }) => says(http === OK ? 'ok' : 'refused', { http })),
  }),
  check({
    name: 'mail',
    area: 'watching',
    about: 'Operators get mail',
    says: {
      ok: { state: 'ok', found: 'The mail server took a mail at {at}.' },
      absent: {
        state: 'red',
        found: 'SMTP_URL is not set: operators see notifications in the console only.',
        to_do: 'Set SMTP_URL and MAIL_FROM (docs/operate/mail.md).',
      },
      untried: {
        state: 'red',
        found: 'No mail was sent yet.',
        to_do: 'Send a test mail, and find it in the mailbox.',
        commands: ['trilho mail test YOUR_ADDRESS'],
      },
      failing: {
        state: 'red',
        found: 'The last attempt failed at {at}: {problem}',
        to_do: 'Correct SMTP_URL, and send a test mail.',
        commands: ['trilho mail status', 'trilho mail test YOUR_ADDRESS'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ mail }) =>
      known(mail, ({ is_set_up, sent_at, failed_at, error }) => {
        if (!is_set_up) return says('absent')
        if (failed_at && (!sent_at || failed_at > sent_at))
          return says('failing', { at: failed_at.toISOString(), problem: error ?? '?' })
        return sent_at ? says('ok', { at: sent_at.toISOString() }) : says('untried')
      }),
  }),
  check({
    name: 'audit',
    area: 'watching',
    about: 'The audit of production ran to its end and found nothing',
    says: {
      ok: { state: 'ok', found: 'No findings, {age} ago.' },
      none: {
        state: 'red',
        found: 'No pass of the background audit has ended yet.',
        to_do: 'Run a node with ROLE all or worker, and AUDIT_EVERY_MS above 0, and wait for the first pass.',
        commands: ['trilho audit --environment production'],
      },
      old: {
        state: 'red',
        found: 'The last whole pass is {age} old.',
        to_do: 'Look for "audit" in the log of the worker nodes.',
        commands: ['trilho audit --environment production'],
      },
      found: {
        state: 'red',
        found: 'Findings: {findings}.',
        to_do: 'Do not go live. Find out what each finding means (docs/operate/incidents.md).',
        commands: ['trilho audit --environment production'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ audit, settings }) =>
      known(audit, ({ age_ms, findings }) => {
        if (findings > 0) return says('found', { findings })
        if (age_ms === null) return says('none')
        const most_ms = Math.max(AUDIT_LEAST_MS, 2 * settings.audit_every_ms)
        return says(age_ms > most_ms ? 'old' : 'ok', { age: span(age_ms) })
      }),
  }),
  check({
    name: 'exceptions',
    area: 'watching',
    about: 'Nothing in production waits for a person',
    says: {
      ok: { state: 'ok', found: 'There are no open exceptions.' },
      open: {
        state: 'red',
        found: 'Open exceptions: {count}.',
        to_do: 'Look at each of them, and close it when its cause is gone.',
        commands: ['trilho exceptions list'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ exceptions }) => known(exceptions, (count) => says(count === 0 ? 'ok' : 'open', { count })),
  }),
  check({
    name: 'database_clock',
    area: 'clock',
    about: 'This machine and the database have the same time',
    says: {
      ok: { state: 'ok', found: 'They differ by {offset}.' },
      off: {
        state: 'red',
        found: 'They differ by {offset}. At most 500 ms are right.',
        to_do: 'Set up NTP on this machine and on that of the database.',
        commands: ['timedatectl status'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ database_clock }) =>
      known(database_clock, (offset_ms) =>
        says(Math.abs(offset_ms) > DATABASE_CLOCK_MOST_MS ? 'off' : 'ok', { offset: span(offset_ms) }),
      ),
  }),
  check({
    name: 'outside_clock',
    area: 'clock',
    about: 'This machine has the time of the world',
    says: {
      ok: { state: 'ok', found: '{source} differs by {offset}, measured to {within}.' },
      unasked: {
        state: 'unused',
        found: 'No endpoint or exchange with https is configured that could tell the time.',
      },
      off: {
        state: 'red',
        found: '{source} differs by {offset}, measured to {within}. At most 2 s are right.',
        to_do: 'Set up NTP on this machine.',
        commands: ['timedatectl status'],
      },
      unknown: unknown('Check the way to the endpoints and exchanges.', ['trilho rails check']),
    },
    judge({ outside_clock }) {
      if (outside_clock === undefined) return says('unasked')
      return known(outside_clock, ({ source, offset_ms, within_ms }) =>
        says(Math.abs(offset_ms) > OUTSIDE_CLOCK_MOST_MS + within_ms ? 'off' : 'ok', {
          ...{ source, offset: span(offset_ms), within: span(within_ms) },
        }),
      )
    },
  }),
]
