/** Stands for characters that a receipt does not draw. */
export const SUBSTITUTE = '\ufffd'

/** Invisible characters: zero-width, bidirectional controls, variation selectors, tags. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u
/** Left over after composition: marks that would be stacked on the lines around them. */
const MARK = /\p{M}/u
const SPACES = /[\p{Z}\p{Cc}]+/gu
const LATIN = /[\p{Script_Extensions=Latin}\p{Script=Common}]/u

/**
 * The text as a receipt shows it: on one line, from left to right, in Latin letters. Letters of other scripts are
 * substituted even where a font has them, because a Cyrillic letter can pass for a Latin one. Names come from partners and
 * from the Pix directory, so a receipt must not trust them.
 */
export function drawableText(text: string, hasGlyph: (code_point: number) => boolean): string {
  const composed = text.toWellFormed().normalize('NFC').replaceAll(SPACES, ' ').trim()
  let drawn = ''
  for (const character of composed) {
    if (INVISIBLE.test(character) || MARK.test(character)) continue
    const is_drawn = LATIN.test(character) && hasGlyph(character.codePointAt(0)!)
    if (is_drawn) drawn += character
    // One substitute for a whole run.
    else if (!drawn.endsWith(SUBSTITUTE)) drawn += SUBSTITUTE
  }
  return drawn
}
