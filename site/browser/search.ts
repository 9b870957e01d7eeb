import {
  arrange,
  type FoundSection,
  needsOther,
  openSearch,
  type Search,
} from '../../src/doors/reference/search.ts'
import { element, isPortuguese } from './element.ts'

const SHOWN = 8

/** Shows results below the field while the reader types. Without JavaScript the field is a form that the server answers. */
export function openSearchField(): void {
  const form = document.querySelector<HTMLFormElement>('.bar .search')!
  const input = form.querySelector('input')!
  const list = element('div', {
    id: 'found',
    role: 'listbox',
    class: 'found',
    'aria-label': input.placeholder,
  })
  list.hidden = true
  form.append(list)
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-controls': 'found',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
  }))
    input.setAttribute(name, value)

  let active = -1
  const [own, other] = isPortuguese() ? (['pt', 'en'] as const) : (['en', 'pt'] as const)
  const searchIn = openIndexes()
  input.addEventListener('focus', () => searchIn(own).catch(close))
  input.addEventListener('input', () => find().catch(close))
  input.addEventListener('keydown', onKey)
  input.addEventListener('blur', () =>
    setTimeout(() => form.contains(document.activeElement) || close(), 100),
  )
  document.addEventListener('keydown', (event) => {
    const typing = (event.target as Element).closest('input, textarea, select')
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
  })

  /** If no index loads, submitting the form asks the server. */
  async function find(): Promise<void> {
    const search = await searchIn(own)
    const asked = input.value
    const found = search(asked)
    if (!needsOther(found) || asked.trim() === '') return show(found.sections)
    const elsewhere = (await searchIn(other))(asked)
    // Both languages get room in the short list.
    const order = arrange(found, elsewhere)
    const share = SHOWN / Math.max(1, order.length)
    if (input.value === asked)
      show(order.flatMap((which) => (which === 'own' ? found : elsewhere).sections.slice(0, share)))
  }

  function show(found: readonly FoundSection[]): void {
    active = -1
    list.replaceChildren(...found.slice(0, SHOWN).map(option))
    if (found.length === 0 && input.value.trim() !== '') list.append(nothing())
    toggle(input.value.trim() !== '')
  }

  function toggle(open: boolean): void {
    list.hidden = !open
    input.setAttribute('aria-expanded', String(open))
    if (!open) input.removeAttribute('aria-activedescendant')
  }

  function close(): void {
    active = -1
    toggle(false)
  }

  function onKey(event: KeyboardEvent): void {
    const options = [...list.querySelectorAll<HTMLAnchorElement>('a[role=option]')]
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter' && active >= 0) {
      event.preventDefault()
      location.href = options[active]!.href
      close()
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && options.length > 0) {
      event.preventDefault()
      active = (active + (event.key === 'ArrowDown' ? 1 : -1) + options.length) % options.length
      for (const [place, one] of options.entries())
        one.setAttribute('aria-selected', String(place === active))
      input.setAttribute('aria-activedescendant', options[active]!.id)
    }
  }
}

/** Each index is fetched once; after a failure the next search tries again. */
function openIndexes(): (language: 'en' | 'pt') => Promise<Search> {
  const indexes = new Map<string, Promise<Search>>()
  return (language) => {
    const known = indexes.get(language)
    if (known) return known
    const fetched = fetchIndex(language)
    indexes.set(language, fetched)
    fetched.catch(() => indexes.delete(language))
    return fetched
  }
}

async function fetchIndex(language: string): Promise<Search> {
  const response = await fetch(`/docs/search/${language}.json`)
  if (!response.ok) throw new Error(`the index came back as ${response.status}`)
  return openSearch(await response.json())
}

function option({ address, title, heading, text }: FoundSection, place: number): HTMLElement {
  return element(
    'a',
    { href: address, tabindex: '-1', role: 'option', id: `found-${place}`, 'aria-selected': 'false' },
    element('b', {}, heading || title),
    ...(heading ? [element('small', {}, title)] : []),
    element('span', {}, text),
  )
}

const nothing = () =>
  element(
    'div',
    { class: 'none', role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' },
    isPortuguese() ? 'Nada encontrado' : 'Nothing found',
  )
