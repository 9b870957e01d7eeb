import { element, isPortuguese } from './element.ts'

const SHOWN_MS = 1500

export function addCopyButtons(): void {
  const [copy, copied] = isPortuguese() ? ['Copiar', 'Copiado'] : ['Copy', 'Copied']
  for (const sample of document.querySelectorAll<HTMLElement>('.sample')) {
    const button = element('button', { type: 'button', class: 'copy' }, copy!)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(sample.querySelector('code')!.innerText)
      button.textContent = copied!
      setTimeout(() => (button.textContent = copy!), SHOWN_MS)
    })
    sample.querySelector('figcaption')!.after(button)
  }
}
