import { expect, test } from 'vitest'
import { colour } from './colour.ts'

/** Each token as kind:text, without plain text. */
const pieces = (code: string, language: string) =>
  [...colour(code, language).html.matchAll(/<span class="(\w+)"[^>]*>([^<]*)/g)].map(
    ([, kind, text]) => `${kind}:${text}`,
  )

test.each([
  [
    'sh',
    'curl -H "a: b" $URL # why',
    ['word:curl', 'key:-H', 'string:&quot;a: b&quot;', 'variable:$URL', 'comment:# why'],
  ],
  [
    'json',
    '{"a": "b", "c": [1, true]}',
    ['key:&quot;a&quot;', 'string:&quot;b&quot;', 'key:&quot;c&quot;', 'word:1', 'word:true'],
  ],
  ['ts', "const a = 'b' // c", ['word:const', 'string:&#39;b&#39;', 'comment:// c']],
  ['py', 'import a # b\nx = "c"', ['word:import', 'comment:# b', 'string:&quot;c&quot;']],
  ['go', 'func a() { return nil }', ['word:func', 'word:return', 'word:nil']],
  ['java', 'final var a = "b"; // c', ['word:final', 'word:var', 'string:&quot;b&quot;', 'comment:// c']],
  ['php', '<?php $a = hash("b");', ['word:&lt;?php', 'variable:$a', 'string:&quot;b&quot;']],
  ['http', 'POST /v1/quotes\nContent-Type: application/json', ['word:POST', 'key:Content-Type']],
  ['sql', "SELECT 'a' -- b", ['word:SELECT', 'string:&#39;a&#39;', 'comment:-- b']],
])('%s', (language, code, expected) => {
  expect(pieces(code, language)).toEqual(expected)
})

test('code in an unknown language is escaped and not coloured', () => {
  expect(colour('a < b', 'cobol').html).toBe('a &lt; b')
})

test.each([
  ['sh', 'curl -H "Authorization: Bearer $TRILHO_KEY"', '$TRILHO_KEY', ''],
  ['ts', 'new Trilho({ key: process.env.TRILHO_KEY })', 'process.env.TRILHO_KEY', '&#39;'],
  ['py', 'x = os.environ["TRILHO_KEY"]', 'os.environ[&quot;TRILHO_KEY&quot;]', '&quot;'],
])('%s has a place for the reader’s key', (language, code, slot, quote) => {
  expect(colour(code, language).html).toContain(`<span class="slot" data-quote="${quote}">${slot}</span>`)
})

test('colouring keeps every character', () => {
  const code = `# a\ncurl -X POST "$URL" \\\n  -d '{"a": "b"}' && echo "x < y"`
  const text = colour(code, 'sh')
    .html.replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
  expect(text).toBe(code)
})
