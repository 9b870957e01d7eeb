/** HTML that is safe to send. Only the `html` tag makes it, and `html` escapes every value. */
export type Html = { readonly html: string }

type Piece = Html | string | number | false | undefined | readonly Piece[]

export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return { html: strings.map((text, index) => text + toText(pieces[index])).join('') }
}

export const noHtml: Html = html``

function toText(piece: Piece): string {
  if (piece === undefined || piece === false) return ''
  if (Array.isArray(piece)) return piece.map(toText).join('')
  return typeof piece === 'object' ? (piece as Html).html : escaped(String(piece))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!)
}

/** Text of the contracts and the error catalogue: plain text with `code` in backticks. */
export function prose(text: string): Html {
  const parts = text.split(/`([^`]+)`/)
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

export function paragraphs(text: string): Html[] {
  return text.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)
}

/** Allows line breaks before slashes, dots and @ and after underscores, and nowhere else. */
export function breakable(text: string): Html {
  return html`${text.split(/(?<=_)|(?=[/.@])/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}`
}
