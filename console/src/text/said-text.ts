import type { ui } from './en/ui.ts'

/** What a rail said, in the person's language: a word of the service, and behind it a code or id as the rail wrote it. */
export function saidText(
  { said: words, later: reasons }: Pick<typeof ui, 'said' | 'later'>,
  said: string,
): string {
  const [, word = '', rest = ''] = /^(\S*)(.*)$/s.exec(said) ?? []
  const reason = word === 'later' ? reasons[rest.trim()] : undefined
  if (reason !== undefined) return `${words.later}: ${reason}`
  return (words[word] ?? word) + rest
}
