import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react'
import type { Language } from '../format/amount.ts'
import { isServed, reloadOnce } from '../reload.ts'
import type { Texts } from './en/en.ts'
import { english } from './en/english.ts'

/** The texts of the operator's pages, once they are needed. Until then English lacks them, and no other page uses them. */
let operators: Pick<Texts, 'operator'> | undefined

const loaders: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => ({ ...english, ...operators }) as Texts,
  'pt-BR': async () => (await import('./pt-BR/pt-BR.ts')).ptBR,
}

const KEPT_IN = 'trilho.language'

/** The language chosen in this browser, or else the browser's own. */
function firstLanguage(): Language {
  const kept = localStorage.getItem(KEPT_IN)
  if (kept === 'en' || kept === 'pt-BR') return kept
  return navigator.language.toLowerCase().startsWith('pt') ? 'pt-BR' : 'en'
}

/** The texts to start with. English is bundled, so a file that fails to load costs the language, not the page. */
export async function firstTexts(): Promise<Pick<Spoken, 'language' | 'texts'>> {
  const language = firstLanguage()
  return loaders[language]().then(
    (texts) => ({ language, texts }),
    async () => ({ language: 'en', texts: await loaders.en() }),
  )
}

type Spoken = {
  readonly language: Language
  readonly texts: Texts
  readonly speak: (language: Language) => void
}

const TextContext = createContext<Spoken>({ language: 'en', texts: english as Texts, speak: () => {} })

/** Shows the texts anew, in the language of now. */
let refresh: () => Promise<void> = async () => {}

/** Loads the texts of the operator's pages, before the first of these pages is shown. */
export async function loadOperatorTexts(): Promise<void> {
  if (operators !== undefined) return
  operators = await import('./en/operator.ts')
  await refresh()
}

type ProviderProps = Pick<Spoken, 'language' | 'texts'> & { readonly children: ReactNode }

export function TextProvider({ language, texts, children }: ProviderProps) {
  const [spoken, setSpoken] = useState({ language, texts })

  const speak = useCallback(async (next: Language) => {
    localStorage.setItem(KEPT_IN, next)
    const loaded = await loaders[next]()
    setSpoken({ language: next, texts: loaded })
  }, [])

  useEffect(() => {
    document.documentElement.lang = spoken.language
    refresh = async () => setSpoken({ language: spoken.language, texts: await loaders[spoken.language]() })
  }, [spoken.language])

  const value = useMemo(
    () => ({ ...spoken, speak: (next: Language) => void speak(next).catch(loadAnew) }),
    [spoken, speak],
  )
  return <TextContext value={value}>{children}</TextContext>
}

/** The service responds but no longer has the file: this tab is older than the running version. */
const loadAnew = async () => {
  if (await isServed()) reloadOnce()
}

/** Every text in the person's language: `const { money, ui } = useText()`. */
export const useText = (): Texts => use(TextContext).texts

export const useLanguage = (): Pick<Spoken, 'language' | 'speak'> => use(TextContext)
