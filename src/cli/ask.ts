import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Interrupted } from './exit.ts'
import type { Io } from './io.ts'

/**
 * Asks a question on the terminal. Returns an empty text when the terminal is closed; with `hidden` the typed answer is not
 * echoed.
 */
export async function ask({ stdin, stderr }: Io, question: string, { hidden = false } = {}): Promise<string> {
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!hidden) stderr.write(String(chunk))
      done()
    },
  })
  const terminal = createInterface({ input: stdin, output, terminal: true, historySize: 0 })
  if (hidden) stderr.write(question)
  let interrupted = false
  terminal.once('SIGINT', () => {
    interrupted = true
    terminal.close()
  })
  const answer = await Promise.race([
    terminal.question(question).catch(() => ''),
    // `setImmediate` lets an answer win that arrived just before the terminal closed.
    new Promise<string>((resolve) => terminal.once('close', () => setImmediate(resolve, ''))),
  ])
  terminal.close()
  if (hidden || answer === '') stderr.write('\n')
  if (interrupted) throw new Interrupted()
  return answer.trim()
}

/** A closed terminal counts as no. */
export const agrees = async (io: Io, question: string): Promise<boolean> =>
  (await ask(io, `${question} Type yes: `)).toLowerCase() === 'yes'
