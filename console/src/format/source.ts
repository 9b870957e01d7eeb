/** Where a price comes from: one source, or several. Names of exchanges are the same in every language; other names stay as they are. */
export const sourceText = (texts: Readonly<Record<string, string>>, source: string): string =>
  source
    .split(', ')
    .map((one) => texts[one] ?? (/^[a-z_]+$/.test(one) ? withCapitals(one) : one))
    .join(', ')

const withCapitals = (name: string): string =>
  name.replaceAll('_', ' ').replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
