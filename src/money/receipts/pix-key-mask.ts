import { maskDocument } from '../../core/document.ts'
import { parsePixKey } from '../pix/key.ts'

export type PixKeyType = NonNullable<ReturnType<typeof parsePixKey>>['type']

/**
 * A Pix key as a receipt shows it. A receipt is passed on to others, so the key can be recognised by somebody who knows it,
 * and read by nobody else. A random key identifies an account and no person, and stays whole.
 */
export function maskPixKey(pix_key: string): { readonly type: PixKeyType; readonly shown: string } {
  const { type, key } = parsePixKey(pix_key) ?? { type: 'random', key: '***' }
  return { type, shown: masks[type](key) }
}

const masks: Readonly<Record<PixKeyType, (key: string) => string>> = {
  cpf: maskDocument,
  cnpj: maskDocument,
  email: (key) => {
    const at = key.lastIndexOf('@')
    return `${key.slice(0, Math.min(2, at - 1))}***${key.slice(at)}`
  },
  // +55 area code, nine digits.
  phone: (key) => `+55 ${key.slice(3, 5)} *****-${key.slice(-4)}`,
  random: (key) => key,
}
