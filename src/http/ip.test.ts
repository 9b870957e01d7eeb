import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Cidr, cidrContains, clientAddress, faultOfRange, normalizeAddress, parseCidr } from './ip.ts'

const mustParse = (text: string): Cidr => parseCidr(text) ?? expect.fail(`${text} is no range`)

// The naive model: an address is a string of bits, a range is a prefix of such a string.
const bits = (width: 32 | 128) =>
  fc
    .string({ unit: fc.constantFrom('0', '1'), minLength: width, maxLength: width })
    .filter((it) => width === 32 || !it.startsWith(mappedBits))
const mappedBits = '0'.repeat(80) + '1'.repeat(16)

function chunks(text: string, size: number): number[] {
  return Array.from({ length: text.length / size }, (_, index) =>
    Number.parseInt(text.slice(index * size, (index + 1) * size), 2),
  )
}

const ipv4Text = (address: string) => chunks(address, 8).join('.')
const ipv6Text = (address: string) =>
  chunks(address, 16)
    .map((group) => group.toString(16))
    .join(':')
const plainText = (address: string) => (address.length === 32 ? ipv4Text(address) : ipv6Text(address))

/** Every way to write the same address that the model knows. */
function spellings(address: string): string[] {
  if (address.length === 32) {
    const hex = ipv6Text(mappedBits + address)
    const dotted = `::ffff:${ipv4Text(address)}`
    return [ipv4Text(address), dotted, dotted.toUpperCase(), hex, `${dotted}%eth0`]
  }
  const groups = ipv6Text(address).split(':')
  const padded = groups.map((group) => group.padStart(4, '0')).join(':')
  const tail = `${groups.slice(0, 6).join(':')}:${ipv4Text(address.slice(96))}`
  const squeezed = new URL(`http://[${padded}]`).hostname.slice(1, -1)
  return [groups.join(':'), padded, padded.toUpperCase(), tail, squeezed, `${squeezed}%en0`]
}

describe('normalizeAddress', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['0000:0000:0000:0000:0000:FFFF:0102:0304', '1.2.3.4'],
    ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
    ['::ffff:0:0', '0.0.0.0'],
    ['::', '::'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['FE80::1%eth0', 'fe80::1'],
    ['fe80::1%12', 'fe80::1'],
    ['2001:0DB8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
    ['1::', '1::'],
    ['::1.2.3.4', '::102:304'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
    ['::ffff:0:1.2.3.4', '::ffff:0:102:304'],
    ['::fffe:1.2.3.4', '::fffe:102:304'],
    ['::1:ffff:1.2.3.4', '::1:ffff:102:304'],
    ['8000::ffff:1.2.3.4', '8000::ffff:102:304'],
  ])('%s becomes %s', (address, normal) => {
    expect(normalizeAddress(address)).toBe(normal)
  })

  it.each([
    '',
    'localhost',
    '01.2.3.4',
    '1.2.3',
    '0x7f.1',
    '1.2.3.4%eth0',
    'fe80::1%',
    'fe80::1%a%b',
    '1.2.3.4:80',
    '[::1]',
  ])('leaves %j alone', (text) => {
    expect(normalizeAddress(text)).toBe(text)
  })

  it('gives one spelling for all, the one that URL also gives', () => {
    fc.assert(
      fc.property(fc.oneof(bits(32), bits(128), sparseBits()), (address) => {
        const normal =
          address.length === 32
            ? ipv4Text(address)
            : new URL(`http://[${ipv6Text(address)}]`).hostname.slice(1, -1)
        for (const spelling of spellings(address)) expect(normalizeAddress(spelling)).toBe(normal)
      }),
      { numRuns: 5000 },
    )
  })
})

/** IPv6 addresses with many zero groups, so that runs of them meet and compete. */
function sparseBits() {
  const group = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 0xffff }))
  return fc
    .array(group, { minLength: 8, maxLength: 8 })
    .map((groups) => groups.map((it) => it.toString(2).padStart(16, '0')).join(''))
    .filter((it) => !it.startsWith(mappedBits))
}

describe('parseCidr', () => {
  it.each([
    ['10.0.0.0/8', 4, 8],
    ['10.1.2.3', 4, 32],
    ['10.1.2.3/32', 4, 32],
    ['0.0.0.0/0', 4, 0],
    ['::/0', 6, 0],
    ['::1', 6, 128],
    ['2001:DB8::/32', 6, 32],
    ['::ffff:10.0.0.0/104', 4, 8],
    ['::ffff:a00:0/104', 4, 8],
    ['::ffff:10.1.2.3', 4, 32],
    ['::ffff:0:0/96', 4, 0],
    ['fe80::/10', 6, 10],
  ])('takes %s', (text, family, prefix) => {
    expect(parseCidr(text)).toMatchObject({ family, prefix })
  })

  it.each([
    '',
    '/',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/+8',
    '10.0.0.0/08',
    '10.0.0.0/8.0',
    '10.0.0.0/8 ',
    ' 10.0.0.0/8',
    '10.0.0.0/8\n',
    '10.0.0.0 /8',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10/8',
    '10.0.0/24',
    '010.0.0.0/8',
    '10.0.0.1/8',
    '10.0.0.0/0',
    '10.0.0.0-10.0.0.9',
    '10.0.0.*',
    '::/129',
    '::1/64',
    '2001:db8::1/32',
    '::ffff:10.0.0.0/8',
    '::ffff:10.0.0.1/104',
    '::ffff:0:0/95',
    'fe80::1%eth0',
    'fe80::%eth0/64',
    '[::1]',
    '[::1]/128',
    '1.2.3.4:80',
    'localhost',
    '::g',
    ':::',
    '1::2::3',
  ])('refuses %j', (text) => {
    expect(parseCidr(text)).toBeUndefined()
  })

  it('agrees with the bit model about host bits', () => {
    fc.assert(
      fc.property(fc.oneof(bits(32), bits(128), sparseBits()), fc.nat(128), (address, wanted) => {
        const prefix = Math.min(wanted, address.length)
        const host = address.slice(prefix)
        const clean = address.slice(0, prefix) + '0'.repeat(host.length)
        const offset = clean.length === 128 && clean.startsWith(mappedBits) ? 96 : 0
        expect(parseCidr(`${plainText(address)}/${prefix}`) !== undefined).toBe(!host.includes('1'))
        expect(parseCidr(`${plainText(clean)}/${prefix}`)).toMatchObject({ prefix: prefix - offset })
      }),
      { numRuns: 4000 },
    )
  })
})

describe('cidrContains', () => {
  it.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '9.255.255.255', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '::ffff:a01:203', true],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.2', false],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '::1', true],
    ['::/0', '10.0.0.1', false],
    ['::/0', '::ffff:10.0.0.1', false],
    ['::/96', '10.0.0.1', false],
    ['::a00:1', '10.0.0.1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
    ['10.0.0.0/8', '', false],
    ['10.0.0.0/8', '10.0.0.1:80', false],
    ['0.0.0.0/0', 'unknown', false],
  ])('%s, %s: %s', (range, address, inside) => {
    expect(cidrContains(mustParse(range), address)).toBe(inside)
  })

  it('agrees with the bit model and with BlockList, in every spelling', () => {
    const pair = fc.oneof(near(32), near(128), fc.tuple(bits(32), bits(128)), fc.tuple(bits(128), bits(32)))
    fc.assert(
      fc.property(pair, fc.nat(128), fc.nat(5), ([base, address], wanted, pick) => {
        const prefix = Math.min(wanted, base.length)
        const network = base.slice(0, prefix).padEnd(base.length, '0')
        fc.pre(network.length === 32 || !network.startsWith(mappedBits))
        const inside = address.length === base.length && address.startsWith(base.slice(0, prefix))

        const written = spellings(address)[pick] ?? plainText(address)
        expect(cidrContains(mustParse(`${plainText(network)}/${prefix}`), written)).toBe(inside)

        if (address.length !== base.length) return
        const family = base.length === 32 ? 'ipv4' : 'ipv6'
        const list = new BlockList()
        list.addSubnet(plainText(network), prefix, family)
        expect(list.check(plainText(address), family)).toBe(inside)
      }),
      { numRuns: 10_000 },
    )
  })
})

/** Two addresses that differ in few bits, so that both sides of a range's edge come up. */
function near(width: 32 | 128) {
  return fc
    .tuple(bits(width), fc.array(fc.nat(width - 1), { maxLength: 2 }))
    .map(([base, flips]): [string, string] => {
      const other = [...base]
      for (const place of flips) other[place] = other[place] === '0' ? '1' : '0'
      return [base, other.join('')]
    })
    .filter(([, other]) => width === 32 || !other.startsWith(mappedBits))
}

describe('clientAddress', () => {
  const proxy = '10.0.0.1'
  const oneHop = ['10.0.0.1'].map(mustParse)
  const twoHops = ['10.0.0.1', '172.16.0.0/12', '2001:db8:ed6e::/48'].map(mustParse)
  const long = Array.from({ length: 700 }, (_, index) => `192.0.2.${index % 256}`).join(', ')

  // Header, then the answer with one trusted hop and with two. Without trust it is always the socket.
  const cases: [name: string, header: string | undefined, one: string, two: string][] = [
    ['no header', undefined, proxy, proxy],
    ['empty header', '', proxy, proxy],
    ['blank header', '   ', proxy, proxy],
    ['a client', '203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['spaces around', '  203.0.113.9\t', '203.0.113.9', '203.0.113.9'],
    ['spoofed left-most', '192.0.2.1, 203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['spoofed left-most is trusted', '10.0.0.1, 203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['spoofed list of two', '10.0.0.1, 10.0.0.1, 203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['no space after the comma', '192.0.2.1,203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['through the edge', '203.0.113.9, 172.16.0.5', '172.16.0.5', '203.0.113.9'],
    ['through the edge, spoofed', '192.0.2.1, 203.0.113.9, 172.16.0.5', '172.16.0.5', '203.0.113.9'],
    ['edge at the end of its range', '203.0.113.9, 172.31.255.255', '172.31.255.255', '203.0.113.9'],
    ['just past the range', '203.0.113.9, 172.32.0.0', '172.32.0.0', '172.32.0.0'],
    ['just before the range', '203.0.113.9, 172.15.255.255', '172.15.255.255', '172.15.255.255'],
    ['edge twice', '203.0.113.9, 172.16.0.5, 172.16.0.6', '172.16.0.6', '203.0.113.9'],
    ['the proxy itself in the list', '203.0.113.9, 10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['proxy, then edge', '203.0.113.9, 172.16.0.5, 10.0.0.1', '172.16.0.5', '203.0.113.9'],
    ['only trusted ones', '10.0.0.1', proxy, proxy],
    ['only the edge', '172.16.0.5', '172.16.0.5', '172.16.0.5'],
    ['all trusted', '172.16.0.7, 172.16.0.5', '172.16.0.5', '172.16.0.7'],
    ['untrusted between trusted', '172.16.0.7, 203.0.113.9, 172.16.0.5', '172.16.0.5', '203.0.113.9'],
    ['IPv4 with a port', '203.0.113.9:51234', '203.0.113.9', '203.0.113.9'],
    ['edge with a port', '203.0.113.9:1, 172.16.0.5:443', '172.16.0.5', '203.0.113.9'],
    ['port 0', '203.0.113.9:0', '203.0.113.9', '203.0.113.9'],
    ['port 65535', '203.0.113.9:65535', '203.0.113.9', '203.0.113.9'],
    ['port 65536', '203.0.113.9:65536', proxy, proxy],
    ['port of six digits', '203.0.113.9:000080', proxy, proxy],
    ['empty port', '203.0.113.9:', proxy, proxy],
    ['negative port', '203.0.113.9:-1', proxy, proxy],
    ['port that is a word', '203.0.113.9:http', proxy, proxy],
    ['IPv6', '2001:db8::9', '2001:db8::9', '2001:db8::9'],
    ['IPv6 in capitals', '2001:DB8:0:0::9', '2001:db8::9', '2001:db8::9'],
    ['IPv6 in brackets', '[2001:db8::9]', '2001:db8::9', '2001:db8::9'],
    ['IPv6 with a port', '[2001:db8::9]:443', '2001:db8::9', '2001:db8::9'],
    ['bare IPv6 whose end looks like a port', '2001:db8::9:443', '2001:db8::9:443', '2001:db8::9:443'],
    ['IPv6 edge', '203.0.113.9, 2001:db8:ed6e::5', '2001:db8:ed6e::5', '203.0.113.9'],
    ['IPv6 edge with a port', '203.0.113.9, [2001:db8:ed6e::5]:8443', '2001:db8:ed6e::5', '203.0.113.9'],
    ['IPv6 next to the edge', '203.0.113.9, 2001:db8:ed6f::5', '2001:db8:ed6f::5', '2001:db8:ed6f::5'],
    ['IPv6 loopback with a port', '[::1]:443', '::1', '::1'],
    ['mapped client', '::ffff:203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['mapped client in hex', '::ffff:cb00:7109', '203.0.113.9', '203.0.113.9'],
    ['mapped client in brackets', '[::ffff:203.0.113.9]:80', '203.0.113.9', '203.0.113.9'],
    ['mapped edge', '203.0.113.9, ::FFFF:172.16.0.5', '172.16.0.5', '203.0.113.9'],
    ['mapped edge in hex', '203.0.113.9, ::ffff:ac10:5', '172.16.0.5', '203.0.113.9'],
    ['zone id', 'fe80::9%eth0', 'fe80::9', 'fe80::9'],
    ['zone id in brackets', '[fe80::9%eth0]:443', 'fe80::9', 'fe80::9'],
    ['zone id on the edge', '203.0.113.9, 2001:db8:ed6e::5%en0', '2001:db8:ed6e::5', '203.0.113.9'],
    ['empty zone id', 'fe80::9%', proxy, proxy],
    ['zone id on IPv4', '203.0.113.9%eth0', proxy, proxy],
    ['garbage', 'garbage', proxy, proxy],
    ['unknown', 'unknown', proxy, proxy],
    ['an obfuscated name', '_hidden', proxy, proxy],
    ['garbage on the right', '203.0.113.9, garbage', proxy, proxy],
    ['garbage behind the edge', '203.0.113.9, garbage, 172.16.0.5', '172.16.0.5', '172.16.0.5'],
    ['garbage on the left', 'garbage, 203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['trailing comma', '203.0.113.9,', proxy, proxy],
    ['leading comma', ',203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['hole in the middle', '203.0.113.9,,172.16.0.5', '172.16.0.5', '172.16.0.5'],
    ['semicolon for the comma', '192.0.2.1; 203.0.113.9', proxy, proxy],
    ['space for the comma', '192.0.2.1 203.0.113.9', proxy, proxy],
    ['quotes', '"203.0.113.9"', proxy, proxy],
    ['the syntax of Forwarded', 'for=203.0.113.9', proxy, proxy],
    ['a range', '203.0.113.0/24', proxy, proxy],
    ['a URL', 'http://203.0.113.9/', proxy, proxy],
    ['leading zero', '203.0.113.09', proxy, proxy],
    ['hexadecimal IPv4', '0xcb.0.0x71.9', proxy, proxy],
    ['IPv4 as one number', '3405803785', proxy, proxy],
    ['three bytes', '203.0.113', proxy, proxy],
    ['byte too large', '203.0.113.256', proxy, proxy],
    ['IPv4 in brackets', '[203.0.113.9]:80', proxy, proxy],
    ['bracket not closed', '[2001:db8::9', proxy, proxy],
    ['bracket not opened', '2001:db8::9]:80', proxy, proxy],
    ['text after the bracket', '[2001:db8::9]x', proxy, proxy],
    ['empty brackets', '[]:80', proxy, proxy],
    ['two double colons', '2001::db8::9', proxy, proxy],
    ['full-width digits', '２０３.0.113.9', proxy, proxy],
    ['NUL inside', '203.0.113.9\0', proxy, proxy],
    ['10 KB of addresses', long, '192.0.2.187', '192.0.2.187'],
    ['10 KB of garbage', 'a'.repeat(10_240), proxy, proxy],
    ['10 KB of colons in a bracket', `[${':'.repeat(10_240)}`, proxy, proxy],
    ['10 KB of commas', ','.repeat(10_240), proxy, proxy],
  ]

  it('has the cases it promises', () => {
    expect(cases.length).toBeGreaterThanOrEqual(60)
  })

  it.each(cases)('%s', (_, header, one, two) => {
    const answer = (socket: string, trusted: Cidr[]) =>
      clientAddress({ socket, forwarded_for: header, trusted })
    expect(answer(proxy, oneHop)).toBe(one)
    expect(answer(proxy, twoHops)).toBe(two)
    expect(answer(`::ffff:${proxy}`, twoHops)).toBe(two)
    // The header of a peer that is not a trusted proxy is ignored.
    expect(answer(proxy, [])).toBe(proxy)
    expect(answer('198.51.100.7', twoHops)).toBe('198.51.100.7')
    expect(answer('::ffff:198.51.100.7', oneHop)).toBe('198.51.100.7')
  })

  it('returns the empty address of a closed socket unchanged', () => {
    expect(clientAddress({ socket: '', forwarded_for: '203.0.113.9', trusted: oneHop })).toBe('')
  })

  it('never depends on what the client itself sent', () => {
    const sent = fc.oneof(
      fc.string(),
      fc.constantFrom('10.0.0.1', '172.16.0.5', '192.0.2.1, 10.0.0.1', '[::1]:80', ','),
    )
    fc.assert(
      fc.property(sent, (claim) => {
        const forwarded_for = `${claim}, 203.0.113.9, 172.16.0.5`
        expect(clientAddress({ socket: proxy, forwarded_for, trusted: twoHops })).toBe('203.0.113.9')
      }),
      { numRuns: 1000 },
    )
  })
})

describe('text that is not a range', () => {
  it('is refused with the range that may have been meant', () => {
    expect(faultOfRange('198.51.100.7/24')).toEqual({
      kind: 'host_bits',
      range: '198.51.100.0/24',
      address: '198.51.100.7',
    })
    expect(faultOfRange('2001:db8:42::1/48')).toMatchObject({ range: '2001:db8:42::/48' })
    expect(faultOfRange('::ffff:198.51.100.7/120')).toMatchObject({ range: '198.51.100.0/24' })
    expect(faultOfRange('10.1.*.*')).toEqual({ kind: 'wildcard', range: '10.1.0.0/16' })
    expect(faultOfRange('10.0.0.1/33')).toEqual({ kind: 'prefix', address: '10.0.0.1', longest: 32 })
    for (const text of ['', 'office', '300.1.*', '10.0.0', '10.0.0.1/', '10.0.0.1-10.0.0.9', '10.0.0.01'])
      expect([text, faultOfRange(text)]).toEqual([text, { kind: 'no_address' }])
  })

  it('never parses as a range, and the suggested range is always valid and contains it', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 40 }), (address, prefix) => {
        const fault = faultOfRange(`${address}/${prefix}`)
        expect(fault === undefined).toBe(parseCidr(`${address}/${prefix}`) !== undefined)
        if (fault?.kind === 'host_bits') expect(cidrContains(mustParse(fault.range), address)).toBe(true)
        if (fault && fault.kind !== 'no_address' && 'address' in fault) expect(fault.address).toBe(address)
      }),
    )
  })
})
