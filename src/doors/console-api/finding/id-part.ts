import { type IdKind, idPrefixes, timesOfIds } from '../../../core/ids.ts'

/** A part of an id, as people have it: the beginning, the end, or both as the console shows them (`po_01m7…xzbnr`). */
export type IdPart = {
  /** Undefined: any kind. */
  readonly kind: IdKind | undefined
  /** Behind the prefix. */
  readonly begins: string
  readonly ends: string
}

const LETTERS = '[0-9a-hjkmnp-tv-z]'
const PARTS = new RegExp(`^(?:([a-z]{2,3})_)?(${LETTERS}{0,25})(?:(?:…|\\.\\.\\.)(${LETTERS}{0,26}))?$`)

/** The console shows the last five characters. Fewer match too many rows. */
const ENDS_LEAST = 5
/** Four characters behind the prefix are twelve days. */
const BEGINS_LEAST = 4

export function readIdPart(text: string): IdPart | undefined {
  const [found, prefix, first = '', last] = PARTS.exec(text.trim().toLowerCase()) ?? []
  if (found === undefined) return undefined
  const kind = (Object.keys(idPrefixes) as IdKind[]).find((each) => idPrefixes[each] === prefix)
  if (prefix !== undefined && kind === undefined) return undefined
  // Without a prefix and without dots the text is an end: the beginnings of all recent ids are the same.
  const part =
    prefix === undefined && last === undefined
      ? { begins: '', ends: first }
      : { begins: first, ends: last ?? '' }
  const enough = part.ends.length >= ENDS_LEAST || (kind !== undefined && part.begins.length >= BEGINS_LEAST)
  return enough ? { kind, ...part } : undefined
}

/** Ids are made by the clock of a node, times of rows by the clock of the database. */
const CLOCKS_DIFFER_MS = 600_000

/** The time in which rows with such ids were created. */
export function timeOfPart({ begins }: IdPart): { after: Date | undefined; before: Date | undefined } {
  if (begins === '') return { after: undefined, before: undefined }
  const { first, last } = timesOfIds(begins)
  return { after: new Date(Math.max(0, first - CLOCKS_DIFFER_MS)), before: new Date(last + CLOCKS_DIFFER_MS) }
}
