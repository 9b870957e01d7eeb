import { environments } from '../core/environment.ts'
import { listExceptions } from '../exceptions/exceptions.ts'
import { type Exception, exceptionById } from '../exceptions/store.ts'
import { act } from '../operator/act.ts'
import type { World, Worlds } from '../world.ts'
import { actorOf } from './actor.ts'
import { argument, type CliCommand, environmentOption, table, worldThatHas } from './command.ts'
import { operatorOption, plainText } from './operator.ts'
import { told } from './told.ts'

/** What may be wrong with money, and needs a person. */
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

export const exceptionCommands: CliCommand[] = [
  {
    name: 'exceptions list',
    about: 'List what may be wrong with money and waits for somebody to look, newest first',
    options: {
      environment: {
        type: 'string',
        value: environments.join('|'),
        about: 'Only this one; both when absent',
      },
      all: { type: 'boolean', about: 'Those that were closed too' },
    },
    async runWith(input, { worlds }) {
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
      return { json: { data }, text: table(rows) }
    },
  },
  {
    name: 'exceptions show',
    takes: 'EXCEPTION',
    about: 'Show one exception with all that was seen',
    async runWith(input, { worlds }) {
      const { world, found } = await worldOfException(worlds, argument(input, 0, 'EXCEPTION'))
      return shown(world, found)
    },
  },
  {
    name: 'exceptions close',
    takes: 'EXCEPTION',
    about: 'Close an exception; who did it and why stay with it',
    options: {
      reason: { type: 'string', value: 'TEXT', about: 'What you found and did', required: true },
      operator: operatorOption,
    },
    async runWith(input, { office, shared, worlds }) {
      const reason = plainText(input, 'reason', 1000)
      const { world, found } = await worldOfException(worlds, argument(input, 0, 'EXCEPTION'))
      const acted = await act(office, await actorOf(input, shared), {
        name: 'close_exception',
        environment: world.environment,
        details: { exception_id: found.id, reason },
      })
      return told(acted, (closed) => shown(world, closed))
    },
  },
]
