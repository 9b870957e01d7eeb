import { type Static, Type as T, type TObject } from 'typebox'
import { Value } from 'typebox/value'
import { InvalidAnswer, problemOf } from '../../answers.ts'
import type { UnreadEntry } from '../rail.ts'
import { unreadEntry } from '../unread.ts'
import { idsOf } from './bodies.ts'
import { describeAnswer, type EfiClient } from './client.ts'

const LIST_MOST_BYTES = 4 * 1024 * 1024
const PER_PAGE = 100

const PageBody = T.Object({
  parametros: T.Object({
    paginacao: T.Object({
      paginaAtual: T.Integer({ minimum: 0 }),
      quantidadeDePaginas: T.Integer({ minimum: 0, maximum: 10_000 }),
    }),
  }),
  pix: T.Array(T.Unknown(), { maxItems: 1000 }),
})

type List<S extends TObject, Payment> = {
  readonly path: string
  readonly from: Date
  readonly to: Date
  /** Only payments of which something went back. */
  readonly returned?: true | undefined
  /** The form of one payment. An entry of another form, or one for which `read` throws `InvalidAnswer`, is handed on as unread. */
  readonly item: S
  read(item: Static<S>): Payment
  readonly signal?: AbortSignal | undefined
}

/** Reads a list of Efí page by page. */
export async function* readList<S extends TObject, Payment>(
  client: EfiClient,
  { path, from, to, returned, item, read, signal }: List<S, Payment>,
): AsyncGenerator<Payment | UnreadEntry> {
  const invalid = (problem: string) => new InvalidAnswer({ rail: 'pix', call: 'list', problem })
  for (let page = 0, pages = 1; page < pages; page++) {
    const query = new URLSearchParams({
      inicio: from.toISOString(),
      fim: to.toISOString(),
      ...(returned ? { devolucaoPresente: 'true' } : {}),
      'paginacao.paginaAtual': String(page),
      'paginacao.itensPorPagina': String(PER_PAGE),
    })
    const call = { path: `${path}?${query}`, most_bytes: LIST_MOST_BYTES, signal }
    const answer = await client.call({ method: 'GET', ...call })
    const body = answer.http === 200 && Value.Check(PageBody, answer.body) ? answer.body : undefined
    if (body?.parametros.paginacao.paginaAtual !== page) throw invalid(describeAnswer(answer))
    pages = body.parametros.paginacao.quantidadeDePaginas
    // A list without end would keep its reader busy for ever.
    if (body.pix.length === 0 && page + 1 < pages) throw invalid('a page before the last is empty')
    for (const one of body.pix) yield readEntry(one, item, read)
  }
}

function readEntry<S extends TObject, Payment>(
  entry: unknown,
  item: S,
  read: (item: Static<S>) => Payment,
): Payment | UnreadEntry {
  if (!Value.Check(item, entry)) return unreadEntry(entry, problemOf(item, entry), idsOf(entry))
  try {
    return read(entry as Static<S>)
  } catch (error) {
    if (!(error instanceof InvalidAnswer)) throw error
    return unreadEntry(entry, error.problem, idsOf(entry))
  }
}
