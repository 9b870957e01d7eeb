import type { ui } from './en/ui.ts'

/** What a rail said, in the person's language: a word of the service, and behind it a code or id as the rail wrote it. */
export function saidText({ said: words }: Pick<typeof ui, 'said'>, said: string): string {
  const [, word = '', rest = ''] = /^(\S*)(.*)$/s.exec(said) ?? []
  return (words[word] ?? word) + rest
}
