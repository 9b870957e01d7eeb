import { randomBytes, randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { Agent, request } from 'undici'
import { openAssault } from './pace.ts'

/**
 * A client without a key: headers that are dear to read, paths that do not exist, guessed keys from every corner of one
 * /48, connections that say nothing, speak slowly, or ask and never read. `stranger.ts URL`
 */
const [url] = process.argv.slice(2) as [string]
const assault = openAssault()
const dispatcher = new Agent({ connections: 64, headersTimeout: 15_000, bodyTimeout: 15_000 })

const group = () => randomInt(65_536).toString(16)
const someAddress = () => `2001:db8:77:${group()}:${group()}:${group()}:${group()}:${group()}`
const someKey = () =>
  `svc_${randomInt(2) ? 'live' : 'test'}_sk_${randomBytes(24).toString('hex').slice(0, 43)}`

async function ask(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<string> {
  const from = { 'x-forwarded-for': someAddress() }
  const answer = await request(url + path, {
    method,
    dispatcher,
    headers: { ...from, ...headers },
    body: body ?? null,
  })
  await answer.body.dump()
  return String(answer.statusCode)
}

const json = { 'content-type': 'application/json' }
const large = JSON.stringify({ text: 'x'.repeat(60_000) })
const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
const spaces = ' '.repeat(15_000)
const acts: readonly (() => Promise<string>)[] = [
  () => ask('POST', '/v1/pix/payouts', { 'content-type': `application/json${spaces}x` }, '{}'),
  () => ask('POST', '/nowhere', { 'content-type': `application/json;${spaces}x` }, '{}'),
  () => ask('POST', `/nowhere/${randomInt(1e9)}`, json, large),
  () => ask('POST', '/v1/nowhere', json, deep),
  () => ask('GET', `/v1/customers?${'a='.repeat(3000)}`, {}),
  () => ask('GET', `/docs/${'%2e'.repeat(2000)}`, {}),
  () => ask('GET', '/openapi.json', {}),
  () => ask('GET', '/docs', {}),
  () => ask('GET', '/metrics', {}),
  () => ask('GET', '/readyz', {}),
  () => ask('GET', '/v1/customers', { authorization: `Bearer ${' '.repeat(15_000)}x` }),
  () => ask('GET', '/v1/customers', { authorization: `Bearer${spaces}` }),
]
const guess = () => ask('GET', '/v1/customers', { authorization: `Bearer ${someKey()}` })
const guessPayout = () =>
  ask('POST', '/v1/pix/payouts', { ...json, authorization: `Bearer ${someKey()}` }, large)

assault.often({ per_second: 150, at_once: 24 }, () => acts[randomInt(acts.length)]!())
assault.often({ per_second: 150, at_once: 24 }, () => (randomInt(2) ? guess() : guessPayout()))

const { hostname, port } = new URL(url)
/** A connection of its own, until either side ends it; counts how it ended. */
function hold(speak: (write: (text: string) => void) => NodeJS.Timeout | undefined): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let speaking: NodeJS.Timeout | undefined
    const give_up = setTimeout(() => socket.destroy(), 8000)
    socket.once('connect', () => {
      speaking = speak((text) => void (socket.writable && socket.write(text)))
    })
    socket.on('error', () => {})
    socket.once('close', () => {
      clearInterval(speaking)
      clearTimeout(give_up)
      resolve('connection')
    })
    socket.pause()
  })
}

assault.often({ per_second: 40, at_once: 80 }, () => hold(() => undefined))
assault.often({ per_second: 20, at_once: 40 }, () =>
  hold((write) => {
    write('GET /v1/usage HTTP/1.1\r\nHost: a\r\n')
    return setInterval(() => write('X-A: a\r\n'), 500)
  }),
)
assault.often({ per_second: 20, at_once: 40 }, () =>
  hold((write) => {
    const one = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'
    write(one.repeat(20))
    return setInterval(() => write(one.repeat(5)), 500)
  }),
)
process.stdout.write('ready\n')
