import { useLanguage } from '../text.tsx'
import { charges as en } from './en.ts'
import { charges as ptBR } from './pt-BR.ts'

/** Both languages, loaded with the pages that show charges and not with the first page. */
const spoken = { en, 'pt-BR': ptBR } as const

export type ChargeTexts = typeof en

export const useChargeText = (): ChargeTexts => spoken[useLanguage().language]
