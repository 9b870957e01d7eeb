import { newSecret, showSecret, signatureHeaders } from '../../src/webhooks/signature.ts'

/** Requests of webhooks, and what a receiver must say of each. The verifiers of all languages are held against them. */
const [ours, foreign] = [newSecret(), newSecret()]
const id = 'evt_01m7ev31f2c87dbjv7esth4ybv'
const body =
  '{"type":"pix.payout.completed","data":{"object":{"amount":"1050","description":"São João, nº 12 ✓"}}}'
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
const signed = (options: { at?: Date; secrets?: readonly Buffer[] } = {}) =>
  signatureHeaders({ id, body, at: new Date(), secrets: [ours], ...options })

const good = 'good'
const old = 'too old'
const changed = 'not signed with this secret'

type WebhookCase = {
  readonly headers: ReturnType<typeof signed>
  readonly body: string
  readonly is: typeof good | typeof old | typeof changed
}

const withSignature = (write: (right: string) => string) => {
  const headers = signed()
  return { ...headers, 'webhook-signature': write(headers['webhook-signature']) }
}

const cases: Readonly<Record<string, Omit<WebhookCase, 'body'> & { body?: string }>> = {
  good: { headers: signed(), is: good },
  'good beside foreign signatures': { headers: signed({ secrets: [foreign, ours, foreign] }), is: good },
  'good beside signatures of other kinds': {
    headers: withSignature((right) => `v1a,AAAA v2 ${right}  v1,`),
    is: good,
  },
  // Programs check these some time after they are signed, on a busy machine minutes.
  'a minute old': { headers: signed({ at: ago(60) }), is: good },
  old: { headers: signed({ at: ago(360) }), is: old },
  'from a clock that is far ahead': { headers: signed({ at: ago(-3600) }), is: old },
  'without a time': { headers: { ...signed(), 'webhook-timestamp': '' }, is: old },
  'with a time that is no number': { headers: { ...signed(), 'webhook-timestamp': 'soon' }, is: old },
  'a changed body': { headers: signed(), body: body.replace('12', '13'), is: changed },
  'another id': { headers: { ...signed(), 'webhook-id': 'evt_other' }, is: changed },
  'another time': {
    headers: { ...signed({ at: ago(360) }), 'webhook-timestamp': signed()['webhook-timestamp'] },
    is: changed,
  },
  'signed by somebody else': { headers: signed({ secrets: [foreign] }), is: changed },
  'without a signature': { headers: withSignature(() => ''), is: changed },
  'with the beginning of the signature': {
    headers: withSignature((right) => right.slice(0, -1)),
    is: changed,
  },
  'with the right signature of another version': {
    headers: withSignature((right) => right.replace('v1,', 'v2,')),
    is: changed,
  },
}

export const webhookVectors = {
  secret: showSecret(ours),
  foreign: showSecret(foreign),
  cases: Object.fromEntries(
    Object.entries(cases).map(([name, one]): [string, WebhookCase] => [name, { body, ...one }]),
  ),
}
