import { Type as T } from 'typebox'
import { Value } from 'typebox/value'
import { InvalidAnswer } from '../../answers.ts'
import type { PixReturn } from '../rail.ts'
import { fromReais, Reais, type ReturnBodies } from './bodies.ts'

/** Returns (*devoluções*) as Efí lists them with a payment. */
const ReturnBody = T.Object({ rtrId: T.String({ pattern: '^[A-Za-z0-9]{1,64}$' }), valor: Reais })
const StatusField = T.Object({ status: T.String() })

/** A state that is not known is open: only `DEVOLVIDO` moves money. */
const STATES: Readonly<Partial<Record<string, PixReturn['state']>>> = {
  DEVOLVIDO: 'settled',
  NAO_REALIZADO: 'refused',
}

/** Throws `InvalidAnswer` if a return that moved money cannot be read. */
export function readReturns(call: string, devolucoes: ReturnBodies): readonly PixReturn[] {
  return (devolucoes ?? []).flatMap((one): PixReturn[] => {
    const state = (Value.Check(StatusField, one) && STATES[one.status]) || 'open'
    if (Value.Check(ReturnBody, one)) return [{ id: one.rtrId, amount: fromReais(one.valor), state }]
    // The network may not have named it yet.
    if (state !== 'settled') return []
    throw new InvalidAnswer({ rail: 'pix', call, problem: 'a return has no rtrId, or no valor' })
  })
}
