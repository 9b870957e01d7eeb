import { type Input, options, usage } from '../command.ts'

/** The field `metadata` of a request, from the options --metadata NAME=TEXT. */
export function metadataOf(input: Input): { metadata?: Record<string, string> } {
  const given = options(input, 'metadata')
  if (given.length === 0) return {}
  const texts = given.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) usage(`--metadata must be NAME=TEXT, such as invoice=1042, not ${text}.`)
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  const metadata = Object.fromEntries(texts)
  const repeated = texts.find(([name, text]) => metadata[name] !== text)
  if (repeated) usage(`--metadata ${repeated[0]} is given twice, with different texts.`)
  return { metadata }
}
