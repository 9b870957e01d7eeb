import { firstTexts } from './first-texts.ts'
import { operator } from './operator.ts'

/** Every text of the console. Other languages must have the same type. */
export const en = { ...firstTexts, operator }

export type Texts = typeof en
