import type { Language } from '../../format/amount.ts'
import { checks as en } from './en.ts'
import { checks as ptBR } from './pt-BR.ts'

const texts: Readonly<Record<Language, Readonly<Record<string, string>>>> = { en, 'pt-BR': ptBR }

/** What a check of the ledger proof holds, as a sentence. A proof of another version may have checks that are unknown here. */
export function checkText(language: Language, name: string): string {
  const text = texts[language][name] ?? name
  return text.charAt(0).toUpperCase() + text.slice(1)
}
