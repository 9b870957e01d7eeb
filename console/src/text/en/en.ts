import { english } from './english.ts'
import { operator } from './operator.ts'

/** Every text of the console. Other languages must have the same type. */
export const en = { ...english, operator }

export type Texts = typeof en
