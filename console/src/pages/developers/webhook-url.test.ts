import { expect, test } from 'vitest'
import { wrongPartOf } from './webhook-url.ts'

test('the wrong part of a URL is named', () => {
  const parts = {
    'ftp://example.com/x': 'scheme',
    'example.com/x': 'none',
    'https://': 'none',
    'https://exa mple.com': 'signs',
    'https://ana:secret@example.com/x': 'user',
    'https://example.com/x#y': 'fragment',
    'https://example.com:22/x': 'port',
    'http://localhost:3000/x': 'host',
    'https://10.0.0.7/x': 'host',
    'https://[::1]/x': 'host',
    'https://printer.local:8443': 'host',
    [`https://example.com/${'x'.repeat(2048)}`]: 'long',
  }
  for (const [url, part] of Object.entries(parts)) expect(wrongPartOf(url, 'sandbox'), url).toBe(part)
  expect(wrongPartOf('http://example.com/x', 'production')).toBe('https')
})
