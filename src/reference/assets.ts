/** The look of the pages, served by the same server: nothing is loaded from elsewhere, and nothing is inline. */
export const style = `:root {
  color-scheme: light dark;
  --ground: #fbfcfb;
  --raised: #ffffff;
  --sunken: #f1f5f3;
  --line: #dde5e1;
  --text: #16211d;
  --quiet: #55645e;
  --accent: #0b6b5b;
  --accent-strong: #084f43;
  --accent-soft: #e2f1ed;
  --code-ground: #10211c;
  --code-line: #1d342d;
  --code-text: #dcebe5;
  --code-quiet: #94b0a6;
  --code-key: #8fd9c6;
  --code-string: #e9d9a6;
  --code-word: #f0b08f;
  --get: #0b6b5b;
  --post: #1d5ca8;
  --patch: #8a5300;
  --delete: #a8323a;
  --top: 3.5rem;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}

@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0c1412;
    --raised: #111c19;
    --sunken: #15211d;
    --line: #22332d;
    --text: #e2ebe7;
    --quiet: #9cb0a8;
    --accent: #5ecdb4;
    --accent-strong: #8fe0cd;
    --accent-soft: #12322b;
    --code-ground: #0f1b18;
    --code-line: #22332d;
    --get: #5ecdb4;
    --post: #86b8f5;
    --patch: #e6b566;
    --delete: #f29a9f;
  }
}

* { box-sizing: border-box; }

html {
  scroll-padding-top: calc(var(--top) + 1.5rem);
  text-size-adjust: 100%;
  -webkit-text-size-adjust: 100%;
}

body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.6 var(--sans);
  overflow-wrap: break-word;
}

h1, h2, h3, h4 { line-height: 1.25; letter-spacing: -0.011em; text-wrap: balance; }
h1 { margin: 0 0 1rem; font-size: clamp(1.9rem, 1.5rem + 1.6vw, 2.6rem); letter-spacing: -0.025em; }
h2 { margin: 0 0 0.75rem; font-size: 1.5rem; letter-spacing: -0.018em; }
h3 { margin: 0 0 0.5rem; font-size: 1.1875rem; }
h4 {
  margin: 1.75rem 0 0.25rem;
  color: var(--quiet);
  font-size: 0.75rem;
  font-weight: 600;
  letter-spacing: 0.07em;
  text-transform: uppercase;
}
p, ul, ol, dl { margin: 0 0 1rem; }
ul, ol { padding-left: 1.25rem; }
li { margin-bottom: 0.4rem; }

a { color: var(--accent); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
a:hover { color: var(--accent-strong); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }

code { font-family: var(--mono); font-size: 0.875em; }
:is(p, li, dd, td, th) > code, .rule > code {
  padding: 0.1em 0.35em;
  border-radius: 4px;
  background: var(--sunken);
  overflow-wrap: anywhere;
}

.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 0.75rem; z-index: 3; padding: 0.4rem 0.8rem; background: var(--raised); border-radius: 6px; }

.top {
  position: sticky;
  top: 0;
  z-index: 2;
  display: flex;
  align-items: center;
  gap: 0.75rem;
  height: var(--top);
  padding-inline: calc(max(0px, (100% - 100rem) / 2) + clamp(1rem, 2.5vw, 2rem));
  background: var(--ground);
  border-bottom: 1px solid var(--line);
}
.brand { display: flex; align-items: center; gap: 0.5rem; color: var(--text); font-weight: 650; font-size: 1.0625rem; letter-spacing: -0.015em; text-decoration: none; }
.brand:hover { color: var(--accent); }
.mark { fill: none; stroke: var(--accent); stroke-width: 1.9; stroke-linecap: round; }
.version { color: var(--quiet); font-size: 0.8125rem; }
.top nav { display: flex; gap: clamp(0.9rem, 2vw, 1.5rem); margin-left: auto; font-size: 0.875rem; }
.top nav a { color: var(--quiet); text-decoration: none; padding: 0.5rem 0; }
.top nav a:hover { color: var(--accent); }

.frame { display: grid; grid-template-columns: 16.5rem minmax(0, 1fr); max-width: 100rem; margin: 0 auto; }
.frame.single { display: block; max-width: 46rem; }
main { min-width: 0; padding: 0 clamp(1.25rem, 3vw, 3.5rem) 6rem; }

.side {
  position: sticky;
  top: var(--top);
  align-self: start;
  height: calc(100vh - var(--top));
  overflow-y: auto;
  padding: 2rem 1rem 3rem clamp(1rem, 2.5vw, 2rem);
  border-right: 1px solid var(--line);
  font-size: 0.875rem;
  line-height: 1.4;
  scrollbar-width: thin;
  scrollbar-color: var(--line) transparent;
}
.side ul { list-style: none; margin: 0; padding: 0; }
.side > ul > li { margin-bottom: 1.5rem; }
.side li { margin-bottom: 0; }
.side a { display: flex; align-items: baseline; gap: 0.5rem; padding: 0.3rem 0.6rem; border-radius: 6px; color: var(--quiet); text-decoration: none; }
.side a:hover { color: var(--text); background: var(--sunken); }
.side a.head { color: var(--text); font-weight: 600; }
.side a[aria-current] { color: var(--accent-strong); background: var(--accent-soft); }
.side .method.method { flex: none; width: 2.6rem; padding: 0; background: none; text-align: left; font-size: 0.625rem; }

.pair { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem clamp(2rem, 3vw, 3.5rem); padding: 3rem 0; border-top: 1px solid var(--line); }
.intro.pair { border-top: 0; padding-top: 3.5rem; }
.pair > .prose, .group > header { max-width: 42rem; }
.group > header { padding-bottom: 2rem; }
.group { padding-top: 3.5rem; border-top: 1px solid var(--line); }
.group > header > h2 { font-size: 1.875rem; }
.group > header > p { color: var(--quiet); margin: 0; }
.lede { color: var(--quiet); font-size: 1.125rem; line-height: 1.6; text-wrap: pretty; }

@media (min-width: 72rem) {
  .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .pair > .code { position: sticky; top: calc(var(--top) + 1.5rem); align-self: start; }
}

.anchor { color: inherit; text-decoration: none; }
.anchor:hover { color: inherit; }
.anchor:hover::after, .anchor:focus-visible::after { content: " #"; color: var(--accent); font-weight: 400; }

.facts { display: grid; grid-template-columns: minmax(0, 1fr); margin: 1.5rem 0; border-top: 1px solid var(--line); }
.facts > div { display: flex; gap: 0 1rem; padding: 0.55rem 0; border-bottom: 1px solid var(--line); font-size: 0.9375rem; }
.facts dt { flex: 0 0 clamp(6.5rem, 30%, 9.5rem); color: var(--quiet); }
.facts dd { margin: 0; min-width: 0; }

.route { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.35rem 0.6rem; font-size: 0.9375rem; }
.route > code { background: none; padding: 0; color: var(--text); overflow-wrap: normal; }
.needs { color: var(--quiet); font-size: 0.9375rem; }

.method { display: inline-block; padding: 0.1rem 0.45rem; border-radius: 5px; font: 650 0.6875rem/1.5 var(--mono); letter-spacing: 0.03em; color: var(--get); background: var(--accent-soft); }
.method.post { color: var(--post); background: color-mix(in srgb, var(--post) 11%, transparent); }
.method.patch { color: var(--patch); background: color-mix(in srgb, var(--patch) 12%, transparent); }
.method.delete { color: var(--delete); background: color-mix(in srgb, var(--delete) 11%, transparent); }
.pill { padding: 0.05rem 0.55rem; border: 1px solid var(--line); border-radius: 99px; color: var(--quiet); font-size: 0.75rem; }

.fields { margin: 0; }
.fields > div { padding: 0.7rem 0; border-top: 1px solid var(--line); }
.fields > div:first-child { border-top: 0; }
.fields dt { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.6rem; }
.fields dt code { font-weight: 600; overflow-wrap: anywhere; }
.fields dd { margin: 0.1rem 0 0; color: var(--quiet); font-size: 0.9375rem; }
.fields dd:empty { display: none; }
.type, .optional, .required { font-size: 0.8125rem; color: var(--quiet); }
.required { color: var(--accent); font-weight: 550; }

.answers { list-style: none; margin: 0.5rem 0 0; padding: 0; font-size: 0.9375rem; }
.answers li { display: flex; gap: 0.6rem; align-items: baseline; margin-bottom: 0.15rem; }
.answers a > code, .calls a > code { background: none; padding: 0; }
.status { flex: none; display: inline-block; min-width: 2.2rem; font: 550 0.8125rem/1.6 var(--mono); color: var(--quiet); }
.status.good { color: var(--accent); }

.sample { margin: 0 0 1.25rem; border: 1px solid var(--code-line); border-radius: 10px; background: var(--code-ground); color: var(--code-text); overflow: hidden; }
.sample figcaption { display: flex; align-items: center; justify-content: space-between; min-height: 2.4rem; padding: 0 0.5rem 0 1rem; border-bottom: 1px solid var(--code-line); color: var(--code-quiet); font-size: 0.8125rem; }
.sample pre { margin: 0; padding: 0.9rem 1rem 1rem; overflow-x: auto; font: 0.8125rem/1.65 var(--mono); tab-size: 2; scrollbar-width: thin; scrollbar-color: var(--code-quiet) transparent; }
.sample pre:focus-visible { outline-color: var(--code-key); outline-offset: -3px; border-radius: 10px; }
.sample code { font-size: inherit; }
.sample .key { color: var(--code-key); }
.sample .text { color: var(--code-string); }
.sample .word { color: var(--code-word); }
.copy { padding: 0.2rem 0.6rem; border: 0; border-radius: 6px; background: none; color: var(--code-quiet); font: inherit; cursor: pointer; }
.copy:hover { color: var(--code-text); background: var(--code-line); }
.copy:focus-visible { outline-color: var(--code-key); outline-offset: -2px; }

.table { overflow-x: auto; margin: 0 0 1.25rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
th, td { padding: 0.55rem 1rem 0.55rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: baseline; font-weight: 400; }
thead th { color: var(--quiet); font-size: 0.8125rem; font-weight: 500; }
th > code, td > code { white-space: nowrap; }

.error { padding-top: 2.5rem; }
.error h1 code { font-size: 0.85em; letter-spacing: -0.03em; }
.error h2 { margin: 2.25rem 0 0.5rem; font-size: 1.1875rem; }
.crumbs { color: var(--quiet); font-size: 0.875rem; margin-bottom: 1.75rem; }
.crumbs a { color: var(--quiet); }
.crumbs a:hover { color: var(--accent); }
.back { margin-top: 2.5rem; }
.calls { list-style: none; padding: 0; }
.calls li { display: flex; flex-wrap: wrap; gap: 0 0.9rem; padding: 0.45rem 0; border-bottom: 1px solid var(--line); margin: 0; font-size: 0.9375rem; }
.calls li > span { color: var(--quiet); }
.codes { margin-top: 3rem; }
.codes > p { color: var(--quiet); }
.codes > ul { list-style: none; margin: 0; padding: 0; }
.codes li { padding: 0.8rem 0; border-top: 1px solid var(--line); margin: 0; }
.codes li > a { display: flex; align-items: baseline; gap: 0.5rem; text-decoration: none; font-weight: 600; }
.codes li > a:hover code { text-decoration: underline; text-underline-offset: 0.2em; }
.codes li > p { margin: 0.15rem 0 0; padding-left: 2.7rem; color: var(--quiet); font-size: 0.9375rem; }

@media (max-width: 56rem) {
  :root { --strip: 2.75rem; }
  html { scroll-padding-top: calc(var(--top) + var(--strip) + 1rem); }
  .frame { display: block; }
  .side { z-index: 1; height: auto; padding: 0.4rem clamp(0.5rem, 2vw, 1rem); border-right: 0; border-bottom: 1px solid var(--line); background: var(--ground); overflow-x: auto; scrollbar-width: none; }
  .side > ul { display: flex; gap: 0.15rem; }
  .side > ul > li { flex: none; margin: 0; }
  .side ul ul { display: none; }
  .side a.head { white-space: nowrap; font-weight: 500; color: var(--quiet); }
  .side a.head[aria-current] { color: var(--accent-strong); }
  .pair { padding: 2.25rem 0; }
  .intro.pair { padding-top: 2rem; }
  .group { padding-top: 2.25rem; }
  .codes li > p { padding-left: 0; }
}

@media (max-width: 30rem) {
  .version { display: none; }
  .sample { border-radius: 8px; }
}

@media print {
  .top, .side, .copy { display: none; }
  .frame, .pair { display: block; }
}
`

/** The pages are whole without it; it adds buttons that copy, and marks in the contents where the reader is. */
export const script = `'use strict'
for (const sample of navigator.clipboard ? document.querySelectorAll('.sample') : []) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(sample.querySelector('pre').textContent)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 1500)
  })
  sample.querySelector('figcaption').append(button)
}

const side = document.querySelector('.side')
if (side) {
  const links = [...side.querySelectorAll('a')]
  const targets = links.map((link) => document.getElementById(link.hash.slice(1)))
  let waiting = false
  const reveal = (link) => {
    const [box, own] = [side.getBoundingClientRect(), link.getBoundingClientRect()]
    if (own.top < box.top || own.bottom > box.bottom) side.scrollTop += own.top - box.top - box.height / 3
    if (own.left < box.left || own.right > box.right) side.scrollLeft += own.left - box.left - box.width / 3
  }
  const mark = () => {
    waiting = false
    let index = 0
    targets.forEach((target, i) => { if (target.getBoundingClientRect().top < 160) index = i })
    const own = links[index].closest('ul ul')
    const head = own ? own.previousElementSibling : links[index]
    for (const link of links) {
      const here = link === links[index] || (link === head && getComputedStyle(side.querySelector('ul ul')).display === 'none')
      if (here === link.hasAttribute('aria-current')) continue
      if (!here) link.removeAttribute('aria-current')
      else link.setAttribute('aria-current', 'true')
      if (here) reveal(link)
    }
  }
  addEventListener('scroll', () => { if (!waiting) waiting = Boolean(requestAnimationFrame(mark)) }, { passive: true })
  mark()
}
`

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="#0b6b5b"/><path d="M10.1 5 6.6 19M13.9 5l3.5 14M8.2 8.5h7.6M6.9 12.5h10.2M5.6 16.5h12.8" fill="none" stroke="#fff" stroke-width="1.7" stroke-linecap="round"/></svg>
`
