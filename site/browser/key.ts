import { isPortuguese } from './element.ts'

const KEPT_IN = 'trilho.docs.key'
const SANDBOX = /^svc_test_sk_[A-Za-z0-9_-]{20,80}$/
/** Finds the key in whatever was pasted: `export TRILHO_KEY=…`, `Authorization: Bearer …`, quotes. */
const KEY = /svc_(?:test|live)_[A-Za-z0-9_-]*/

const words = {
  en: {
    live: 'This is a live key: it moves real money. It was not kept. Use one that begins with svc_test_sk_.',
    other: 'A sandbox key begins with svc_test_sk_ and is longer than this.',
  },
  pt: {
    live: 'Esta é uma chave de produção: ela move dinheiro de verdade. Não foi guardada. Use uma que comece com svc_test_sk_.',
    other: 'Uma chave do sandbox começa com svc_test_sk_ e é mais longa do que isto.',
  },
}

/** Puts the reader's sandbox key into the samples. The key stays in this tab; a live key is refused. */
export function openKeyField(): void {
  const slots = [...document.querySelectorAll<HTMLElement>('.slot')]
  const variables = slots.map(({ textContent }) => textContent)
  fill(sessionStorage.getItem(KEPT_IN) ?? '')

  const box = document.querySelector<HTMLElement>('.key-field')
  if (!box) return
  const input = box.querySelector('input')!
  const about = box.querySelector('p')!
  const usual = about.textContent
  const said = words[isPortuguese() ? 'pt' : 'en']
  box.hidden = false
  input.value = sessionStorage.getItem(KEPT_IN) ?? ''
  input.addEventListener('input', () => take(input.value.trim()))

  function take(pasted: string): void {
    const live = pasted.includes('svc_live_')
    const value = KEY.exec(pasted)?.[0] ?? pasted
    const good = !live && SANDBOX.test(value)
    if (live) input.value = ''
    else if (good) input.value = value
    about.textContent = live ? said.live : good || value === '' ? usual : said.other
    box!.classList.toggle('wrong', live)
    if (good) sessionStorage.setItem(KEPT_IN, value)
    else sessionStorage.removeItem(KEPT_IN)
    fill(good ? value : '')
  }

  function fill(key: string): void {
    for (const [index, slot] of slots.entries()) {
      const quote = slot.dataset.quote ?? ''
      slot.textContent = key === '' ? variables[index]! : `${quote}${key}${quote}`
    }
  }
}
