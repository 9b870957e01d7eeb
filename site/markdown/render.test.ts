import { expect, test } from 'vitest'
import { render } from './render.ts'

const linked = (href: string) => ({ href })
const main = (markdown: string) => render(`# Title\n\n${markdown}`, linked).main.html

test('a page has a title, a description, headings and search sections', () => {
  const page = render(
    '# Money\n\nAmounts are `strings`. More.\n\n## In BRL\n\nCents.\n\n```json\n{"amount": "1050"}\n```\n\n### Deep\n\n## In BRL\n',
    linked,
  )
  expect(page.head.html).toBe('<h1>Money</h1>')
  expect([page.title, page.description]).toEqual(['Money', 'Amounts are strings.'])
  expect(page.headings.map(({ id, level }) => [id, level])).toEqual([
    ['in-brl', 2],
    ['deep', 3],
    ['in-brl-1', 2],
  ])
  expect(page.sections[1]).toEqual({ id: 'in-brl', heading: 'In BRL', text: 'Cents.   {"amount": "1050"}' })
})

test.each([
  ['<b>bold</b>', 'inline'],
  ['<div>\nblock\n</div>', 'as a block'],
  ['a <!-- comment -->', 'as a comment'],
  ['- <img src=x>', 'in a list'],
  ['| a |\n|---|\n| <br> |', 'in a table'],
  ['![a picture](x.png)', 'as a picture'],
])('raw HTML is refused: %s %s', (markdown) => {
  expect(() => main(markdown)).toThrow(/a page cannot have this/)
})

test('HTML comments are dropped', () => {
  expect(main('<!-- Written by a program. -->\n\nText.')).not.toContain('Written')
  expect(() => main('<!-- a --><b>bold</b>')).toThrow(/a page cannot have this/)
})

test('a page without a title, or with two, is refused', () => {
  expect(() => render('Text', linked)).toThrow('begins with its title')
  expect(() => main('# Another')).toThrow('one title to a page')
})

test('text is escaped everywhere', () => {
  const page = main(
    'a & b "c" `<i>` [<](x)\n\n```sh\necho "<script>" & wait\n```\n\n| `<a>` |\n|---|\n| \\<b |',
  )
  expect(page).toContain('a &amp; b &quot;c&quot; <code>&lt;i&gt;</code> <a href="x">&lt;</a>')
  expect(page).toContain('&lt;script&gt;')
  expect(page).not.toMatch(/<(script|i|b)>/)
})

test('consecutive code fences in different languages become tabs', () => {
  const three = '```sh\ncurl x\n```\n\n```ts\nawait x\n```\n\n```py\nx()\n```\n'
  const page = main(`Send it:\n\n${three}`)
  expect(page.match(/class="tabs"/g)).toHaveLength(1)
  expect([...page.matchAll(/<figcaption>([^<]+)/g)].map(([, title]) => title)).toEqual([
    'curl',
    'TypeScript',
    'Python',
  ])
  expect(main('```sh\na\n```\n\n```sh\nb\n```')).not.toContain('class="tabs"')
  expect(main('```sh run\na\n```\n\n```json output\n{}\n```')).toContain('<figcaption>Output')
  expect(main('```ts\na\n```\n\nText.\n\n```py\nb\n```')).not.toContain('class="tabs"')
})

test('code is placed beside the paragraph before it, and later text below', () => {
  const page = main('First.\n\nLeads to it:\n\n```sh\nx\n```\n\nGoes on.\n\n## Next\n\nText.')
  const rows = page.split('<div class="row').slice(1)
  expect(rows.map((row) => row.replaceAll(/<[^>]*>/g, ' ').match(/First|Leads|Goes|Next/g))).toEqual([
    ['First'],
    ['Leads', 'Goes'],
    ['Next'],
  ])
  expect(rows[1]).toMatch(/Leads[\s\S]*class="beside"[\s\S]*class="text rest"[\s\S]*Goes/)
})

test('a one-line JSON response is formatted', () => {
  const long = JSON.stringify({
    id: 'po_01kc3v4x9zq8rj5m2t7w6y0ahb',
    customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
  })
  expect(main(`\`\`\`json\n${long}\n\`\`\``)).toContain('\n  <span class="key">&quot;customer_id')
  expect(main('```json\n{"a":1}\n```')).toContain('{<span class="key">&quot;a&quot;</span>:')
})

test('a code name in a table breaks only at its separators', () => {
  expect(main('| a |\n|---|\n| `timeout@sandbox.test` |')).toContain(
    '<td><code>timeout<wbr>@sandbox<wbr>.test</code></td>',
  )
  expect(main('`timeout@sandbox.test`')).toContain('<code>timeout@sandbox.test</code>')
})
