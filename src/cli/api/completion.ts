import { argument, type Input, type Output, usage } from '../command.ts'
import { scriptOf, shells } from '../completion.ts'

export async function completion(input: Input): Promise<Output> {
  const name = argument(input, 0, 'The shell')
  const shell = shells.find((one) => one === name) ?? usage(`The shell must be one of ${shells.join(', ')}.`)
  const script = scriptOf(shell, input.commands)
  return { json: { shell, script }, text: script }
}
