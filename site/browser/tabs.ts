import { element } from './element.ts'

const KEPT_IN = 'trilho.docs.language'

/** Turns samples in several languages, which are stacked in the HTML, into tabs. The chosen language applies to all pages. */
export function openTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>('.tabs')].map(tabsOf)
  const chosen = localStorage.getItem(KEPT_IN)
  for (const group of groups) group.show(chosen)

  function tabsOf(box: HTMLElement, number: number) {
    const panels = [...box.querySelectorAll<HTMLElement>('.sample')]
    const buttons = panels.map((panel, index) => {
      panel.id = `sample-${number}-${index}`
      panel.setAttribute('role', 'tabpanel')
      const title = panel.querySelector('figcaption')!.textContent
      panel.setAttribute('aria-label', title)
      return element('button', { type: 'button', role: 'tab', 'aria-controls': panel.id }, title)
    })
    const list = element('div', { role: 'tablist', class: 'tab-list' }, ...buttons)
    box.prepend(list)
    box.classList.add('live')
    list.addEventListener('click', ({ target }) => choose(buttons.indexOf(target as HTMLButtonElement)))
    list.addEventListener('keydown', (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
      if (by === undefined) return
      const next = buttons.findIndex(({ tabIndex }) => tabIndex === 0) + by
      choose((next + buttons.length) % buttons.length)
      buttons.find(({ tabIndex }) => tabIndex === 0)!.focus()
      event.preventDefault()
    })

    function choose(index: number): void {
      if (index < 0) return
      const language = panels[index]!.dataset.language!
      localStorage.setItem(KEPT_IN, language)
      const top = box.getBoundingClientRect().top
      for (const group of groups) group.show(language)
      // Samples above may change height: scroll so that the clicked tab stays in place.
      scrollBy(0, box.getBoundingClientRect().top - top)
    }

    /** Shows the first sample if the chosen language is missing. */
    function show(language: string | null): void {
      const at = Math.max(
        0,
        panels.findIndex((panel) => panel.dataset.language === language),
      )
      for (const [index, panel] of panels.entries()) {
        panel.hidden = index !== at
        buttons[index]!.setAttribute('aria-selected', String(index === at))
        buttons[index]!.tabIndex = index === at ? 0 : -1
      }
    }
    return { show }
  }
}
