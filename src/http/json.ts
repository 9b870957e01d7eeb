export type JsonErrorReason =
  | 'empty'
  | 'encoding'
  | 'syntax'
  | 'too_deep'
  | 'duplicate_key'
  | 'forbidden_key'
  | 'forbidden_character'

/** The message goes to the caller of the API. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly reason: JsonErrorReason

  constructor(reason: JsonErrorReason, message: string) {
    super(message)
    this.reason = reason
  }
}

const depthMax = 32

/**
 * Parses JSON without the ambiguities that let two parsers see different bodies (contract §4): no duplicate keys, only text
 * that the database stores unchanged, bounded depth.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  checkDocument(text)
  try {
    return JSON.parse(text)
  } catch {
    // The engine's own message quotes the input, so it is not passed on.
    throw new JsonError('syntax', 'The body is not valid JSON.')
  }
}

function decode(bytes: Uint8Array): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new JsonError('encoding', 'The body starts with a byte order mark; send UTF-8 without one.')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new JsonError('encoding', 'The body is not valid UTF-8.')
  }
}

/** One pass with an explicit stack, so that deep nesting cannot exhaust the call stack. */
function checkDocument(text: string): void {
  // For each open level the keys seen so far, or undefined if the level is an array.
  const levels: (Set<string> | undefined)[] = []
  let expected: 'value' | 'value_or_end' | 'key' | 'key_or_end' | 'comma_or_end' = 'value'
  let at = skipSpace(text, 0)
  if (at === text.length) throw new JsonError('empty', 'The body is empty.')

  while (at < text.length) {
    const char = text[at]
    const keys = levels.at(-1)
    const closing = keys ? '}' : ']'

    if (expected === 'comma_or_end') {
      if (levels.length === 0) throw syntaxError(text, at, 'there is more text after the end of the document')
      if (char === ',') {
        expected = keys ? 'key' : 'value'
      } else if (char === closing) {
        levels.pop()
      } else {
        throw syntaxError(text, at, `a comma or ${closing} was expected`)
      }
      at++
    } else if ((expected === 'key_or_end' || expected === 'value_or_end') && char === closing) {
      levels.pop()
      expected = 'comma_or_end'
      at++
    } else if (keys && (expected === 'key' || expected === 'key_or_end')) {
      if (char !== '"') throw syntaxError(text, at, 'a key in double quotes was expected')
      const key = readString(text, at)
      addKey(keys, key.value, text, at)
      at = skipSpace(text, key.end)
      if (text[at] !== ':') throw syntaxError(text, at, 'a colon was expected')
      expected = 'value'
      at++
    } else if (char === '{' || char === '[') {
      if (levels.length === depthMax) {
        throw new JsonError(
          'too_deep',
          `The body is nested deeper than ${depthMax} levels at ${place(text, at)}.`,
        )
      }
      levels.push(char === '{' ? new Set() : undefined)
      expected = char === '{' ? 'key_or_end' : 'value_or_end'
      at++
    } else {
      at = char === '"' ? readString(text, at).end : scalarEnd(text, at)
      expected = 'comma_or_end'
    }
    at = skipSpace(text, at)
  }
  if (expected !== 'comma_or_end' || levels.length > 0) throw endedTooEarly()
}

function addKey(keys: Set<string>, key: string, text: string, at: number): void {
  if (key === '__proto__') {
    throw new JsonError('forbidden_key', `The key "__proto__" is not allowed (${place(text, at)}).`)
  }
  if (keys.has(key)) {
    const shown = /^[\w.-]{1,40}$/.test(key) ? `The key "${key}"` : 'A key'
    throw new JsonError(
      'duplicate_key',
      `${shown} appears twice in one object, again at ${place(text, at)}; send it once.`,
    )
  }
  keys.add(key)
}

const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** `start` is at the opening quote, `end` comes after the closing one. */
function readString(text: string, start: number): { value: string; end: number } {
  let at = start + 1
  let escaped = false
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === 0x22) break
    if (Number.isNaN(code)) throw endedTooEarly()
    if (code < 0x20) throw syntaxError(text, at, 'a control character inside a string must be escaped')
    if (code === 0x5c) {
      escapeSequence.lastIndex = at
      if (!escapeSequence.test(text)) throw syntaxError(text, at, 'the escape sequence is unknown')
      at = escapeSequence.lastIndex
      escaped = true
    } else {
      at++
    }
  }
  const end = at + 1
  // Only an escape can contain these two: the decoder and the control character rule refuse the raw characters.
  const value = escaped ? (JSON.parse(text.slice(start, end)) as string) : text.slice(start + 1, at)
  if (escaped && value.includes('\0')) throw forbiddenCharacter(text, start, 'the character U+0000')
  if (escaped && !value.isWellFormed()) throw forbiddenCharacter(text, start, 'half a surrogate pair')
  return { value, end }
}

const scalar = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

function scalarEnd(text: string, at: number): number {
  scalar.lastIndex = at
  if (!scalar.test(text)) throw syntaxError(text, at, 'a value was expected')
  return scalar.lastIndex
}

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at++
  }
}

function endedTooEarly(): JsonError {
  return new JsonError('syntax', 'The body is not valid JSON: it ends too early.')
}

function syntaxError(text: string, at: number, problem: string): JsonError {
  if (at >= text.length) return endedTooEarly()
  return new JsonError('syntax', `The body is not valid JSON: ${problem} at ${place(text, at)}.`)
}

function forbiddenCharacter(text: string, at: number, what: string): JsonError {
  return new JsonError('forbidden_character', `The string at ${place(text, at)} contains ${what}.`)
}

function place(text: string, at: number): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  return `line ${line}, column ${at - before.lastIndexOf('\n')}`
}
