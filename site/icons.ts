import { type Html, html } from '../src/doors/reference/html.ts'

/** Drawn on 16 × 16 as the console's are, in the colour of the text. */
const shapes = {
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  search: 'M11.3 7a4.3 4.3 0 1 1-8.6 0 4.3 4.3 0 0 1 8.6 0M10.3 10.3l3.2 3.2',
  theme: 'M8 2.2a5.8 5.8 0 1 0 0 11.6zM8 2.2a5.8 5.8 0 0 1 0 11.6M10 4v8M12 5.5v5',
} as const

export function icon(name: keyof typeof shapes): Html {
  return html`<svg viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${shapes[name]}"/></svg>`
}

export const mark = html`<svg viewBox="0 0 24 24" width="22" height="22" fill="none" stroke="currentColor" stroke-width="2.2" aria-hidden="true"><path d="M8 2v12.5A6.5 6.5 0 0 0 14.5 21H20M13 2v12a2.2 2.2 0 0 0 2.2 2.2H20M3.5 8h14.5"/></svg>`

export const done = html`<svg viewBox="0 0 14 14" width="16" height="16" aria-hidden="true"><circle cx="7" cy="7" r="6.2" fill="currentColor"/><path class="cut" d="m4.2 7.2 2 2 3.7-4.2" fill="none" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`
