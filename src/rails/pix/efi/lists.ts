import { type Static, Type as T, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { InvalidAnswer } from '../../answers.ts'
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

type List<S extends TSchema> = {
  readonly path: string
  readonly from: Date
  readonly to: Date
  /** Only payments of which something went back. */
  readonly returned?: true | undefined
  /** The form of one payment. One that does not have it makes the list invalid: what is skipped would never be booked. */
  readonly item: S
  readonly signal?: AbortSignal | undefined
}

/** Reads a list of Efí page by page. */
export async function* readList<S extends TSchema>(
  client: EfiClient,
  { path, from, to, returned, item, signal }: List<S>,
): AsyncGenerator<Static<S>> {
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
    for (const one of body.pix) {
      if (!Value.Check(item, one)) throw invalid('a payment cannot be read')
      yield one as Static<S>
    }
  }
}
