/** Marks the section being read in the table of contents. */
export function followReading(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.side .here a')]
  const heads = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))))
  bringIntoView()
  if (links.length === 0) return
  const mark = () => {
    const line = innerHeight / 4
    const passed = heads.findLastIndex((head) => head !== null && head.getBoundingClientRect().top < line)
    for (const [index, link] of links.entries()) link.classList.toggle('read', index === passed)
  }
  addEventListener('scroll', mark, { passive: true })
  mark()
}

/** Scrolls the side bar to the current page. */
function bringIntoView(): void {
  const side = document.querySelector('.side')!
  const current = side.querySelector<HTMLElement>('[aria-current]')
  if (current && current.offsetTop > side.clientHeight * 0.7)
    side.scrollTop = current.offsetTop - side.clientHeight / 3
}
