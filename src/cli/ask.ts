import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** Questions go to standard error: standard output holds nothing but what the command answers. */
export const isTerminal = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Empty when the terminal is closed instead. What is typed to a hidden question is not shown. */
export async function ask(question: string, { hidden = false } = {}): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const output = hidden ? nowhere : process.stderr
  const terminal = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
  if (hidden) process.stderr.write(question)
  const answer = await Promise.race([
    terminal.question(question).catch(() => ''),
    new Promise<string>((resolve) => terminal.once('close', () => resolve(''))),
  ])
  terminal.close()
  if (hidden || answer === '') process.stderr.write('\n')
  return answer.trim()
}
