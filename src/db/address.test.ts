import { describe, expect, test } from 'vitest'
import { hostName, parseAddress, withoutPasswords } from './address.ts'

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
    // The driver's URL names one host, and no option that only libpq knows.
    for (const host of address.hosts) {
      const single = new URL(address.urlOf(host))
      expect(`${single.hostname}:${single.port}`).toBe(hostName(host))
      expect(single.searchParams.has('target_session_attrs')).toBe(false)
    }
  })

  test.each([
    ['postgresql://u:hunter2@h/a', 'postgresql://u:********@h/a'],
    ['postgresql://u@h:5433/a?sslmode=require', 'postgresql://u@h:5433/a?sslmode=require'],
    ['postgresql://:hunter2@h1,h2/a', 'postgresql://:********@h1,h2/a'],
    ['postgresql://u:hun@ter2@h/a', 'postgresql://u:********@h/a'],
    [
      'postgresql://u@/a?password=hunter2&host=/run/pg&ssl%50assword=hun?ter2',
      'postgresql://u@/a?password=********&host=/run/pg&ssl%50assword=********',
    ],
  ])('%s is shown without its passwords', (url, shown) => {
    expect(withoutPasswords(url)).toBe(shown)
  })

  test('explains an invalid percent-encoding', () => {
    for (const url of ['postgresql://u%zz:p@h/a', 'postgresql://u:p@h/a%'])
      expect(() => parseAddress(url)).toThrow('a % itself is written %25')
  })

  test('keeps login, name and options for each of its hosts', () => {
    const { hosts, urlOf } = parseAddress(
      'postgresql://u:p%40x@h1,h2:5433/a?fallback_application_name=x&sslmode=require',
    )
    expect(hosts.map((host) => urlOf(host))).toEqual([
      'postgresql://u:p%40x@h1:5432/a?fallback_application_name=x',
      'postgresql://u:p%40x@h2:5433/a?fallback_application_name=x',
    ])
  })

  test('gives the URL of the same database with other credentials', () => {
    const as = { user: 'a b_live', password: 'p/@:' }
    const told = (url: string) => {
      const { hosts, urlOf } = parseAddress(url)
      return urlOf(hosts[0]!, as)
    }
    expect(told('postgresql://u:p@h/a%20b')).toBe('postgresql://a%20b_live:p%2F%40%3A@h:5432/a%20b')
    expect(told('postgresql://h/a')).toBe('postgresql://a%20b_live:p%2F%40%3A@h:5432/a')
    expect(told('postgresql://only:p@h')).toBe('postgresql://a%20b_live:p%2F%40%3A@h:5432/only')
    expect(told('postgresql:///a?host=/run&user=u&password=p')).toBe(
      'postgresql://a%20b_live:p%2F%40%3A@/a?host=%2Frun',
    )
  })

  test.each<[string, string, unknown]>([
    ['another machine', 'h/db', { rejectUnauthorized: true }],
    ['one of several on another machine', '127.0.0.1,h/db', { rejectUnauthorized: true }],
    ['an address that is not of this machine', '10.0.0.7/db', { rejectUnauthorized: true }],
    ['a name in the query', '127.0.0.1/db?host=h', { rejectUnauthorized: true }],
    ['a weaker way to say it', 'h/db?sslmode=require', { rejectUnauthorized: true }],
    ['this machine, asked for', '127.0.0.1/db?sslmode=verify-full', { rejectUnauthorized: true }],
    ['this machine', '127.0.0.1/db', false],
    ['this machine by its name', 'localhost/db', false],
    ['this machine, by IPv6', '[::1]/db', false],
    ['a socket', 'h/db?host=/run/postgresql', false],
    ['a socket by its folder', '%2Frun%2Fpostgresql/db', false],
    ['switched off by name', 'h/db?sslmode=disable', false],
  ])('encrypts what goes to another machine: %s', (_, rest, tls) => {
    const found = parseAddress(`postgresql://u:p@${rest}`).tls
    if (tls === false) expect(found).toBe(false)
    else expect(found).toMatchObject(tls as object)
  })

  test.each([
    ['postgresql://u:p@h/db?sslmode=no-verify', /has sslmode=no-verify; it must be verify-full, or disable/],
    ['postgresql://u:p@h/db?sslmode=allow', /must be verify-full, or disable/],
    [
      'postgresql://u:p@h/db?sslrootcert=/nowhere/ca.pem',
      /a file in sslrootcert that cannot be read \(ENOENT\)/,
    ],
    ['mysql://u:p@h/db', /must look like/],
    ['postgresql://u:p@h:99999/db', /must look like/],
    ['postgresql://u:p@h1:a,h2/db', /must look like/],
    ['postgresql://u:p@h/db?target_session_attrs=any', /works with the primary only/],
  ])('is refused when it is wrong: %s', (url, message) => {
    expect(() => parseAddress(url)).toThrow(message)
  })
})
