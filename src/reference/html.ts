/** A piece of HTML that is safe to send. Only `html` makes one, and it escapes whatever it is given. */
export type Html = { readonly html: string }

type Piece = Html | string | number | false | undefined | readonly Piece[]

export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return { html: strings.map((text, index) => text + toText(pieces[index])).join('') }
}

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

/** Text of the contracts and of the error catalogue: plain, but for `code`. */
export function prose(text: string): Html {
  const parts = text.split(/`([^`]+)`/)
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

export function paragraphs(text: string): Html[] {
  return text.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)
}

/** A block of code. It scrolls inside of itself, so it must be reachable by keyboard. */
export function sample(title: string, code: Html | string): Html {
  return html`<figure class="sample">
<figcaption>${title}</figcaption>
<pre tabindex="0" role="group" aria-label="${title}"><code>${code}</code></pre>
</figure>`
}

export function jsonSample(title: string, value: unknown): Html {
  return sample(title, colouredJson(JSON.stringify(value, null, 2)))
}

const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g

function colouredJson(json: string): Html {
  const pieces: Piece[] = []
  let end = 0
  for (const match of json.matchAll(tokens)) {
    const [all, text, colon, word] = match
    pieces.push(json.slice(end, match.index))
    if (text !== undefined && colon !== undefined) pieces.push(html`<span class="key">${text}</span>${colon}`)
    else if (text !== undefined) pieces.push(html`<span class="text">${text}</span>`)
    else pieces.push(html`<span class="word">${word}</span>`)
    end = match.index + all.length
  }
  return html`${pieces}${json.slice(end)}`
}

type Row = readonly (Html | string)[]

export function table(head: readonly string[], rows: readonly Row[]): Html {
  return html`<div class="table"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`
}

const mark = html`<svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path d="M9.6 3.5 5 20.5M14.4 3.5 19 20.5M7.2 7.5h9.6M5.6 12.5h12.8M4 17.5h16"/></svg>`

export function page(options: {
  title: string
  description: string
  nav?: Html
  main: Html
  version?: string
}): string {
  const { title, description, nav, main, version } = options
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/script.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/docs">${mark}<span>Trilho</span></a>
${version !== undefined && html`<span class="version">v${version}</span>`}
<nav aria-label="Site"><a href="/docs">Reference</a><a href="/docs/errors">Errors</a><a href="/openapi.json">OpenAPI</a></nav>
</header>
<div class="${nav ? 'frame' : 'frame single'}">
${nav}
<main id="main">
${main}
</main>
</div>
</body>
</html>
`.html
}
