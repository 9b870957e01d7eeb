import type { Reply } from '../../api/client.ts'
import { useLanguage } from '../text.tsx'
import { golive as en } from './en.ts'
import { lines as ptLines } from './lines-pt-BR.ts'
import { golive as ptBR } from './pt-BR.ts'

/** Both languages, loaded with the page and not with the first one. */
const spoken = { en, 'pt-BR': ptBR } as const

export const useGoliveText = (): typeof en => spoken[useLanguage().language]

export type GoliveLine = NonNullable<Reply<'console.operator.golive.get'>['report']>['lines'][number]

const fill = (text: string, values: GoliveLine['values']): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)

/** The service has its sentences in English. A line of another version may be unknown here, and stays in English. */
export function lineText(language: string, line: GoliveLine): Pick<GoliveLine, 'about' | 'found' | 'to_do'> {
  const check = language === 'pt-BR' ? ptLines[line.check] : undefined
  const said = check?.says[line.says]
  if (!check || !said) return line
  const [found, to_do] = said
  return {
    about: check.about,
    found: fill(found, line.values),
    to_do: to_do === undefined ? null : fill(to_do, line.values),
  }
}
