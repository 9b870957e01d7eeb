import { expect, test } from 'vitest'
import { assertSameOrigin, type OriginHeaders } from './same-origin.ts'

const PUBLIC = 'https://pay.example.com'
const same = { 'sec-fetch-site': 'same-origin' }

const own: readonly [string, OriginHeaders, string][] = [
  ['the public address', { origin: PUBLIC, host: 'pay.example.com' }, PUBLIC],
  ['a proxy that rewrites Host', { origin: PUBLIC, host: 'trilho:8080', ...same }, PUBLIC],
  ['no Origin, the public Host', { host: 'pay.example.com', ...same }, PUBLIC],
  ['a tunnel to this machine', { origin: 'http://localhost:9000', host: 'localhost:9000', ...same }, PUBLIC],
  ['development, IPv4', { origin: 'http://127.0.0.1:8080', ...same }, 'http://127.0.0.1:8080'],
  ['development, a name', { origin: 'http://localhost:8080', ...same }, 'http://127.0.0.1:8080'],
  ['development, IPv6', { origin: 'http://[::1]:8080', ...same }, 'http://127.0.0.1:8080'],
  ['the address of the machine', { origin: 'http://192.0.2.7:8080', ...same }, 'http://127.0.0.1:8080'],
  [
    'plain HTTP to another machine, where browsers send no Sec-Fetch-Site',
    { origin: 'http://192.0.2.7:8080', host: '192.0.2.7:8080' },
    'http://127.0.0.1:8080',
  ],
  ['no Origin, an IPv6 Host', { host: '[2001:db8::7]:8080', ...same }, 'http://127.0.0.1:8080'],
]

test.each(own)('comes from a page of our own: %s', (_, headers, public_url) => {
  expect(() => assertSameOrigin(headers, public_url)).not.toThrow()
})

const foreign: readonly [string, OriginHeaders][] = [
  ['another site', { origin: 'https://elsewhere.example', host: 'pay.example.com' }],
  ['another site of the same domain', { origin: 'https://docs.example.com', 'sec-fetch-site': 'same-site' }],
  [
    'a foreign name that resolves to this server',
    { origin: 'http://rebound.example:8080', host: 'rebound.example:8080', ...same },
  ],
  ['the same without an Origin', { host: 'rebound.example:8080', ...same }],
  ['a name that looks like ours', { origin: 'https://pay.example.com.evil.example', ...same }],
  ['our name over plain HTTP', { origin: 'http://pay.example.com', ...same }],
  ['an opaque origin', { origin: 'null', host: 'pay.example.com', ...same }],
  [
    'the same where the browser sends no Sec-Fetch-Site',
    { origin: 'http://rebound.example', host: 'rebound.example' },
  ],
  [
    'another site, to the address of the machine',
    { origin: 'https://elsewhere.example', host: '192.0.2.7:8080' },
  ],
  [
    'one port of a machine from a page of another port',
    { origin: 'http://192.0.2.7:3000', host: '192.0.2.7:8080' },
  ],
  ['a browser that says nothing', { host: 'pay.example.com' }],
  ['this machine, without a word of the browser', { origin: 'http://localhost:9000' }],
]

test.each(foreign)('is refused: %s', (_, headers) => {
  expect(() => assertSameOrigin(headers, PUBLIC)).toThrow(
    expect.objectContaining({ code: 'cross_site_request' }),
  )
})

test('the refusal says where the console is', () => {
  const headers = { origin: 'http://pay.internal:8080', ...same }
  expect(() => assertSameOrigin(headers, PUBLIC)).toThrow(
    /pay\.internal:8080.*https:\/\/pay\.example\.com\/console.*PUBLIC_URL/,
  )
})
