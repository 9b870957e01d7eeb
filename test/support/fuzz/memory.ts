import { idPrefixes, newId } from '../../../src/core/ids.ts'
import { someCpf } from '../service.ts'
import type { CallerName } from './requests.ts'

/** What the fuzzer has seen so far, and puts into the requests that it sends. */
export type Memory = ReturnType<typeof openMemory>

type Owner = 'own' | 'live' | 'other'
const ownerOf = (caller: CallerName): Owner => (caller === 'live' || caller === 'other' ? caller : 'own')

const KEPT = 40
/** Something can still be done with these. */
const underWay = ['pending', 'processing']
const ends = ['completed', 'confirmed', 'failed', 'expired', 'executed']
const READY = ' ready'
/** The form of an id of the Pix network, which no payment has. */
const UNKNOWN_PAYMENT = 'E00000000202611151200unknown0000'
const kinds = Object.fromEntries(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind]))

const others: Readonly<Record<string, Record<Owner, Owner>>> = {
  own: { own: 'own', live: 'live', other: 'other' },
  foreign: { own: 'other', live: 'other', other: 'own' },
  elsewhere: { own: 'live', live: 'own', other: 'live' },
}

/** Lists of what was seen last, by name. */
function openLists() {
  const lists = new Map<string, string[]>()
  return {
    of: (name: string): readonly string[] => lists.get(name) ?? [],
    keep(name: string, value: string): void {
      const list = lists.get(name) ?? []
      if (!list.includes(value)) lists.set(name, [value, ...list].slice(0, KEPT))
    },
    drop(ending: string, gone: readonly string[]): void {
      for (const [name, list] of lists)
        if (name.endsWith(ending))
          lists.set(
            name,
            list.filter((value) => !gone.includes(value)),
          )
    },
  }
}

/** `port`: where webhooks are taken. */
export function openMemory(port: number) {
  const ids = openLists()
  const cursors = openLists()
  const documents = new Map<string, string>()

  /** With these nothing more can be done. */
  const retire = (gone: readonly string[]) => ids.drop(READY, gone)
  const keepReady = (caller: CallerName, kind: string, id: string) =>
    ids.keep(`${ownerOf(caller)} ${kind}${READY}`, id)

  /** Remembers what an answer shows. */
  function learn(caller: CallerName, operation: string, json: any): void {
    if (typeof json !== 'object' || json === null) return
    if (typeof json.next_cursor === 'string') cursors.keep(operation, json.next_cursor)
    if (operation === 'sandbox.payments.create' && json.deposit_id)
      ids.keep(`${ownerOf(caller)} payment`, json.end_to_end_id)
    for (const object of Array.isArray(json.data) ? json.data : [json]) {
      for (const id of [object?.id, object?.event_id, object?.trade_id]) {
        const kind = kinds[String(id).split('_')[0]!]
        if (kind) ids.keep(`${ownerOf(caller)} ${kind}`, id)
        if (kind && underWay.includes(object.status)) keepReady(caller, kind, id)
        if (kind && ends.includes(object.status)) retire([id])
      }
    }
  }

  function idOf(caller: CallerName, kind: string, whose: string, which: number): string {
    const owner = others[whose]?.[ownerOf(caller)]
    const open = which % 3 > 0 ? ids.of(`${owner} ${kind}${READY}`) : []
    const list = owner === undefined ? [] : open.length > 0 ? open : ids.of(`${owner} ${kind}`)
    // The newest are asked for most, because what is old has come to its end.
    const index =
      which % 2 === 0 ? which % Math.max(1, Math.min(4, list.length)) : which % Math.max(1, list.length)
    return list[index] ?? (kind === 'payment' ? UNKNOWN_PAYMENT : newId(kind as never, Date.now()))
  }

  /** Puts in what a placeholder stands for. */
  function fill(text: string, caller: CallerName, operation: string): string {
    return text.replaceAll(/«([^»]*)»/g, (_, inner: string) => {
      const [what, ...parts] = inner.split(':')
      switch (what) {
        case 'id':
          return idOf(caller, parts[0]!, parts[1]!, Number(parts[2]))
        case 'cursor': {
          const list = cursors.of(operation)
          return list[Number(parts[0]) % Math.max(1, list.length)] ?? 'start'
        }
        case 'document':
          return documents.get(idOf(caller, 'customer', 'own', Number(parts[0]))) ?? someCpf()
        case 'url':
          return `${caller === 'live' ? 'https' : 'http'}://127.0.0.1:${port}/${parts[0]}`
        default:
          return inner
      }
    })
  }

  return { learn, retire, fill, keepReady, documents }
}
