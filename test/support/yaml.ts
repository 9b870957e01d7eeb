import assert from 'node:assert/strict'

/**
 * Reads the part of YAML that the files in ops/ keep to: mappings, lists, plain and single-quoted text, and folded text
 * of one paragraph. Refuses everything else, so that no file means something else to a real reader.
 */
export function parseYaml(text: string): any {
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line))
    .map((line) => ({ indent: line.search(/\S/), text: line.trim() }))
  assert(
    lines.every(({ text }) => !text.includes('\t')),
    'tabs',
  )
  let at = 0

  function block(indent: number): unknown {
    assert(at < lines.length && lines[at]!.indent === indent, `indentation of line ${at}`)
    return lines[at]!.text.startsWith('- ') ? list(indent) : mapping(indent)
  }
  function list(indent: number): unknown[] {
    const items: unknown[] = []
    while (at < lines.length && lines[at]!.indent === indent && lines[at]!.text.startsWith('- ')) {
      const rest = lines[at]!.text.slice(2)
      if (isPair(rest)) {
        lines[at] = { indent: indent + 2, text: rest }
        items.push(mapping(indent + 2))
      } else {
        items.push(scalar(rest))
        at++
      }
    }
    return items
  }
  function mapping(indent: number): Record<string, unknown> {
    const pairs: Record<string, unknown> = {}
    while (at < lines.length && lines[at]!.indent === indent && !lines[at]!.text.startsWith('- ')) {
      const [, name, rest = ''] = /^([A-Za-z_]\w*):(?: (.*))?$/.exec(lines[at]!.text) ?? []
      assert(name !== undefined && !(name in pairs), `line: ${lines[at]!.text}`)
      at++
      if (rest === '>-') pairs[name] = folded(indent)
      else pairs[name] = rest === '' ? block(lines[at]!.indent) : scalar(rest)
    }
    return pairs
  }
  function folded(indent: number): string {
    const parts: string[] = []
    while (at < lines.length && lines[at]!.indent > indent) parts.push(lines[at++]!.text)
    return parts.join(' ')
  }

  const read = block(0)
  assert.equal(at, lines.length, `line: ${lines[at]?.text}`)
  return read
}

const isPair = (text: string) => /^[A-Za-z_]\w*:( |$)/.test(text)

function scalar(text: string): string {
  const quoted = /^'((?:[^']|'')*)'$/.exec(text)
  if (quoted) return quoted[1]!.replaceAll("''", "'")
  assert(/^[A-Za-z0-9/]/.test(text) && !/: | #|[{}[\]&*!|>%@`"]/.test(text), `quote this: ${text}`)
  return text
}
