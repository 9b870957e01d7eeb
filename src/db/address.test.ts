import { describe, expect, test } from 'vitest'
import { hostName, parseAddress } from './address.ts'

describe('DATABASE_URL', () => {
  test.each([
    ['postgresql://u:p@db/trilho', ['db:5432'], 'trilho'],
    ['postgres://u:p@db:5433/trilho?sslmode=require', ['db:5433'], 'trilho'],
    [
      'postgresql://u:p%40x@h1:5432,h2:5433/a%20b?target_session_attrs=read-write',
      ['h1:5432', 'h2:5433'],
      'a b',
    ],
    ['postgresql://u:p@h1,h2,[::1]:5433/trilho', ['h1:5432', 'h2:5432', '[::1]:5433'], 'trilho'],
    ['postgresql://only:p@h1,h2', ['h1:5432', 'h2:5432'], 'only'],
  ])('%s', (url, hosts, database) => {
    const address = parseAddress(url)
    expect(address.hosts.map(hostName)).toEqual(hosts)
    expect(address).toMatchObject({ database, user: url.includes('only') ? 'only' : 'u' })
    // What the driver gets names one host, and nothing that only libpq knows.
    for (const host of address.hosts) {
      const single = new URL(address.urlOf(host))
      expect(`${single.hostname}:${single.port}`).toBe(hostName(host))
      expect(single.searchParams.has('target_session_attrs')).toBe(false)
    }
  })

  test('keeps login, name and options for each of its hosts', () => {
    const { hosts, urlOf } = parseAddress('postgresql://u:p%40x@h1,h2:5433/a?sslmode=require')
    expect(hosts.map(urlOf)).toEqual([
      'postgresql://u:p%40x@h1:5432/a?sslmode=require',
      'postgresql://u:p%40x@h2:5433/a?sslmode=require',
    ])
  })

  test.each([
    ['mysql://u:p@h/db', /must look like/],
    ['postgresql://u:p@h:99999/db', /must look like/],
    ['postgresql://u:p@h1:a,h2/db', /must look like/],
    ['postgresql://u:p@h/db?target_session_attrs=any', /works with the primary only/],
  ])('is refused when it is wrong: %s', (url, message) => {
    expect(() => parseAddress(url)).toThrow(message)
  })
})
