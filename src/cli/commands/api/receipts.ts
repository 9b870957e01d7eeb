import type { CliCommand } from '../../command.ts'

const load = () => import('../../api/receipts.ts')

/** Declares the `receipt` command of a noun. */
export const receiptCommand = (noun: 'payouts' | 'transfers', one: string, about: string): CliCommand => ({
  name: `${noun} receipt`,
  takes: one,
  about,
  who: 'key',
  options: {
    file: { type: 'string', value: 'FILE', about: 'Where to write it; comprovante-ID.pdf here when absent' },
    lang: { type: 'string', value: 'pt|en', about: 'The language; pt when absent' },
  },
  examples: [`trilho ${noun} receipt $${one}`, `trilho ${noun} receipt $${one} --lang en --file receipt.pdf`],
  run: async (input) => (await load()).receipt(noun, one, input),
})
