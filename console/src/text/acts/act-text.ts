import type { Language } from '../../format/amount.ts'
import * as en from './en.ts'
import * as ptBR from './pt-BR.ts'

/** Both languages, loaded with the pages that show acts and not with the first page. */
const spoken = { en, 'pt-BR': ptBR } as const

const PLAYED = 'play '

/** `Created an API key` for `create_key`. An action of a newer version is shown as it is stored. */
export function actText(action: string, language: Language): string {
  const { acts, played } = spoken[language]
  if (action.startsWith(PLAYED)) return played(action.slice(PLAYED.length))
  return Object.hasOwn(acts, action) ? acts[action as keyof typeof acts] : action
}
