import { environments } from '../../core/environment.ts'
import { listExceptions } from '../../records/exceptions/exceptions.ts'
import { type Exception, exceptionById } from '../../records/exceptions/store.ts'
import type { World, Worlds } from '../../world.ts'
import {
  argument,
  environmentOption,
  type Input,
  listed,
  type Output,
  type Reach,
  table,
  worldThatHas,
} from '../command.ts'
import { actFromShell } from './act-output.ts'
import { plainText } from './open-orders.ts'

const placed = (world: World, exception: Exception) => ({ environment: world.environment, ...exception })

function shown(world: World, exception: Exception) {
  const json = placed(world, exception)
  const fields = Object.entries({ ...json, details: JSON.stringify(exception.details) })
  const lines = fields.filter(([, value]) => value !== null && value !== '')
  return { json, text: table(lines.map(([field, value]) => ({ field, value }))) }
}

async function worldOfException(worlds: Worlds, id: string) {
  const place = await worldThatHas(worlds, (world) => exceptionById(world.db, id))
  if (!place) throw new Error(`No exception ${id}. See: trilho exceptions list`)
  return place
}

export async function exceptionsList(input: Input, { worlds }: Reach): Promise<Output> {
  const only = environmentOption(input)
  const chosen = environments.filter((name) => only === undefined || name === only)
  const found = await Promise.all(
    chosen.map(async (name) => {
      const exceptions = await listExceptions(worlds[name], { closed_too: input.options.all === true })
      return exceptions.map((exception) => placed(worlds[name], exception))
    }),
  )
  const data = found.flat()
  const rows = data.map(({ id, environment, kind, rail, object_id, opened_at, closed_by }) => ({
    id,
    environment,
    kind,
    rail: rail || null,
    object_id,
    opened_at,
    closed_by,
  }))
  return listed({ data }, rows)
}

export async function exceptionsShow(input: Input, { worlds }: Reach): Promise<Output> {
  const { world, found } = await worldOfException(worlds, argument(input, 0, 'EXCEPTION'))
  return shown(world, found)
}

export async function exceptionsClose(input: Input, reach: Reach): Promise<Output> {
  const reason = plainText(input, 'reason', 1000)
  const { world, found } = await worldOfException(reach.worlds, argument(input, 0, 'EXCEPTION'))
  const { environment } = world
  const details = { exception_id: found.id, reason }
  return actFromShell(input, reach, { name: 'close_exception', environment, details }, (closed) =>
    shown(world, closed),
  )
}
