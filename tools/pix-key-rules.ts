/**
 * The rules for documents and Pix keys as the SDK has them: the server's own declarations, copied. The SDK has no dependencies,
 * and a second version of the rules would differ from the first one day.
 */
const copied: readonly { readonly file: string; readonly names: readonly string[] }[] = [
  {
    file: 'src/core/document.ts',
    names: [
      'Document',
      'cpfBare',
      'parseDocument',
      'makeCpf',
      'makeCnpj',
      'isGenuine',
      'withCheckDigits',
      'checkDigit',
    ],
  },
  {
    file: 'src/money/pix/key.ts',
    names: [
      'PixKey',
      'PIX_KEY_MAX',
      'email',
      'phone',
      'random',
      'areaCodes',
      'parsePixKey',
      'parseEmail',
      'parsePhone',
    ],
  },
]

/** Declarations that the SDK's own code imports. */
const EXPORTED = ['parseDocument', 'parsePixKey']

export function renderPixKeyRules(read: (path: string) => string): string {
  const blocks = copied.flatMap(({ file, names }) => {
    const found = read(file).split(/\n\n(?=\S)/)
    return names.map((name) => {
      const block = found.find((text) =>
        new RegExp(`^(?:export )?(?:const|type|function) ${name}\\b`, 'm').test(text),
      )
      if (block === undefined) throw new Error(`${file} has no ${name} for the SDK`)
      return block
        .trim()
        .replaceAll(/^export (?=(?:const|type|function) (\w+))/gm, (word, declared) =>
          EXPORTED.includes(declared) ? word : '',
        )
    })
  })
  const files = copied.map(({ file }) => file).join(' and ')
  return `// Written by \`npm run generate\` from ${files}. Not to be edited.\n\n${blocks.join('\n\n')}\n`
}
