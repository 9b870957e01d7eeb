import type { CliCommand } from '../../command.ts'
import { shells } from '../../completion.ts'

export const completionCommands: CliCommand[] = [
  {
    name: 'completion',
    takes: shells.join('|'),
    about: 'Print the completion script of a shell',
    who: 'key',
    alone: true,
    examples: [
      'source <(trilho completion bash)',
      'trilho completion zsh > "$' + '{fpath[1]}/_trilho"',
      'trilho completion fish > ~/.config/fish/completions/trilho.fish',
    ],
    run: async (input) => (await import('../../api/completion.ts')).completion(input),
  },
]
