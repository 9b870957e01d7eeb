// Cc is C0, DEL and C1. U+2028–U+202E are the line and paragraph separators and the bidi embeddings and
// overrides, U+2066–U+2069 the isolates: they can make a console or a receipt show another text than was sent.
const unclean = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u

/** Whether a text can be stored and shown as sent. A lone surrogate would come back from the database changed. */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !unclean.test(text)
}

/** Clean text for schemas, in escapes that every regex dialect knows; the JSON reader refuses lone surrogates. */
const UNCLEAN = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069'
const SPACES = ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff'
export const CLEAN_PATTERN = `^[^${UNCLEAN}]*$`
/** Clean and not blank. Matches in linear time: there is only one place for the first non-space character. */
export const CLEAN_TEXT_PATTERN = `^[${SPACES}]*[^${UNCLEAN}${SPACES}][^${UNCLEAN}]*$`

/** Length as PostgreSQL counts it: an emoji of two UTF-16 units is one. */
export function codePoints(text: string): number {
  return [...text].length
}
