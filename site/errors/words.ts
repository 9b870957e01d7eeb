import type { ErrorType } from '../../src/core/errors.ts'
import type { Language } from '../page.ts'

/** Headings and labels of the error pages. */
export type Words = {
  readonly errors: string
  readonly error: string
  readonly index_about: string
  readonly what: string
  readonly money: string
  readonly todo: string
  readonly retry: string
  readonly details: string
  readonly example: string
  readonly cause: string
  readonly where: string
  readonly anywhere: string
  readonly status: string
  readonly type: string
  readonly no_call: string
  readonly console_only: string
  readonly console: readonly [title: string, about: string]
  readonly types: Readonly<Record<ErrorType, readonly [title: string, about: string]>>
}

export const words: Readonly<Record<Language, Words>> = {
  en: {
    errors: 'Errors',
    error: 'Error',
    index_about:
      'Every code that the API can return, by type. Decide by `code`; use the type for codes that you do not handle one by one.',
    what: 'What happened',
    money: 'Did money move?',
    todo: 'What to do',
    retry: 'Does a retry help?',
    details: 'Details',
    example: 'Response',
    cause: 'A request that causes it',
    where: 'Where it happens',
    anywhere: 'Any call under `/v1` may return it.',
    status: 'HTTP status',
    type: 'Type',
    no_call: 'No call of the reference returns it: it is for paths and methods that the API does not have.',
    console_only: 'Only the console’s own calls return it; API calls with a key never do.',
    console: ['Console only', 'Only the console’s own calls return these; API calls with a key never do.'],
    types: {
      authentication_error: ['Authentication', 'The service does not know who is calling.'],
      permission_error: ['Permission', 'The service knows who is calling, but this is not allowed.'],
      invalid_request_error: ['Invalid request', 'The request itself must change before it can succeed.'],
      not_found_error: ['Not found', 'There is nothing under this path or id for this key.'],
      conflict_error: ['Conflict', 'The request is valid, but conflicts with the current state.'],
      business_error: ['Business rule', 'The request is valid, but a rule refuses it.'],
      rate_limit_error: ['Rate limit', 'Too many requests in a window, or open at the same time.'],
      api_error: ['Service', 'The problem is in the service, or in a network behind it.'],
    },
  },
  pt: {
    errors: 'Erros',
    error: 'Erro',
    index_about:
      'Todos os códigos que a API pode devolver, por tipo. Decida pelo `code`; o tipo serve para os casos que você não trata um a um.',
    what: 'O que aconteceu',
    money: 'Algum dinheiro saiu do lugar?',
    todo: 'O que fazer',
    retry: 'Repetir ajuda?',
    details: 'Detalhes',
    example: 'Resposta',
    cause: 'Uma requisição que causa o erro',
    where: 'Onde acontece',
    anywhere: 'Qualquer chamada em `/v1` pode devolvê-lo.',
    status: 'Status HTTP',
    type: 'Tipo',
    no_call: 'Nenhuma chamada da referência o devolve: ele é para caminhos e métodos que a API não tem.',
    console_only: 'Só as chamadas do próprio console o devolvem; chamadas da API com uma chave nunca.',
    console: [
      'Só no console',
      'Só as chamadas do próprio console devolvem estes; chamadas da API com uma chave nunca.',
    ],
    types: {
      authentication_error: ['Autenticação', 'O serviço não sabe quem está chamando.'],
      permission_error: ['Permissão', 'O serviço sabe quem está chamando, mas isto não é permitido.'],
      invalid_request_error: ['Requisição inválida', 'A própria requisição precisa mudar para dar certo.'],
      not_found_error: ['Não encontrado', 'Não há nada neste caminho ou id para esta chave.'],
      conflict_error: ['Conflito', 'A requisição é válida, mas entra em conflito com o estado atual.'],
      business_error: ['Regra de negócio', 'A requisição é válida, mas uma regra a recusa.'],
      rate_limit_error: [
        'Limite de requisições',
        'Requisições demais em uma janela, ou abertas ao mesmo tempo.',
      ],
      api_error: ['Serviço', 'O problema está no serviço, ou em uma rede de que ele depende.'],
    },
  },
}
