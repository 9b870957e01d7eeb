import type { Endpoint } from '../../http/endpoint.ts'

/** An OpenAPI link from an operation that creates an object to the operations that take its id. */
export type OpenApiLink = {
  readonly operationId: string
  readonly description: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly requestBody?: Readonly<Record<string, string>>
}

type IdField = { readonly 'x-id'?: string }
type Holder = { readonly properties?: Readonly<Record<string, IdField>> } | undefined

const ITS_ID = '$response.body#/id'

export const operationId = ({ name }: Pick<Endpoint, 'name'>): string => name.replaceAll('.', '_')

/** The kind of the id in a response, if it has one. */
const kindOf = ({ reply }: Endpoint): string | undefined => (reply.schema as Holder)?.properties?.id?.['x-id']

/** The request field that takes ids of this kind. */
function fieldFor(kind: string, fields: Holder): string | undefined {
  return Object.entries(fields?.properties ?? {}).find(([, field]) => field['x-id'] === kind)?.[0]
}

export function linksOf(endpoint: Endpoint, endpoints: readonly Endpoint[]): Record<string, OpenApiLink> {
  const kind = kindOf(endpoint)
  if (kind === undefined || endpoint.reply.status !== 201) return {}
  const links = endpoints.flatMap((target) => {
    const link = target === endpoint ? undefined : linkTo(target, kind)
    return link ? [[link.operationId, link] as const] : []
  })
  return Object.fromEntries(links)
}

function linkTo(target: Endpoint, kind: string): OpenApiLink | undefined {
  const parameter = fieldFor(kind, target.params as Holder) ?? fieldFor(kind, target.query as Holder)
  const field = fieldFor(kind, target.body as Holder)
  if (parameter === undefined && field === undefined) return undefined
  return {
    operationId: operationId(target),
    description: target.summary,
    ...(parameter === undefined ? {} : { parameters: { [parameter]: ITS_ID } }),
    ...(field === undefined ? {} : { requestBody: { [field]: ITS_ID } }),
  }
}
