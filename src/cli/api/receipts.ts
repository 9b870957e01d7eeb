import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Call, Trilho } from '#sdk'
import { argument, type Input, type Output, option, usage } from '../command.ts'
import { openApiClient } from './client.ts'

const languages = ['pt', 'en'] as const
type Language = (typeof languages)[number]

const readers = {
  payouts: (trilho: Trilho, id: string, lang: Language) => trilho.pix.payouts.receipt(id, { lang }),
  transfers: (trilho: Trilho, id: string, lang: Language) => trilho.onchain.transfers.receipt(id, { lang }),
} as const satisfies Record<string, (trilho: Trilho, id: string, lang: Language) => Call<Uint8Array>>

/** Writes the receipt to a file. The same receipt has the same bytes, so an older copy may be overwritten. */
export async function receipt(noun: keyof typeof readers, one: string, input: Input): Promise<Output> {
  const id = argument(input, 0, one)
  const lang = languageOf(option(input, 'lang'))
  const named = option(input, 'file')
  const { trilho } = await openApiClient(input)
  const bytes = await readers[noun](trilho, id, lang)
  // Only an id in the form of the service's ids has a receipt, so the name holds no path.
  const file = resolve(named ?? `${lang === 'pt' ? 'comprovante' : 'receipt'}-${id}.pdf`)
  await writeFile(file, bytes).catch(({ code }: NodeJS.ErrnoException) =>
    usage(`${file} cannot be written (${code}). Name another place with --file.`),
  )
  return { json: { file, bytes: bytes.length }, text: `Wrote ${file} (${bytes.length} bytes).\n` }
}

function languageOf(text = 'pt'): Language {
  return languages.find((language) => language === text) ?? usage('--lang must be pt or en.')
}
