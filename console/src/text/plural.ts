import type { Language } from '../format/amount.ts'

type Forms = { readonly one: string; readonly other: string }

/** Picks the plural form by the rules of the language; `#` stands for the number. */
export function plural(language: Language): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(language)
  const figures = new Intl.NumberFormat(language)
  return (count, forms) =>
    (rules.select(count) === 'one' ? forms.one : forms.other).replaceAll('#', figures.format(count))
}
