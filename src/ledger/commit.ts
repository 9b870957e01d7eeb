import type { Logger } from 'pino'
import type { Seat } from '../db/pool.ts'
import { attemptBatch } from './batch.ts'
import type { Command } from './command.ts'
import { openRunnerConnection, type RunnerConnection } from './connection.ts'
import { attemptPreviews, type Preview } from './preview.ts'
import type { Pending } from './queue.ts'
import { openRunner, type RunnerOptions } from './runner.ts'

/**
 * The one door for money. Every change of a balance, with the changes of state that belong to it, is a command that goes
 * through here: lock, decide, write, with many commands in one transaction. There is no timer: an idle lane starts a batch
 * at once, and commands that arrive while a batch commits form the next one.
 */
export type Door = {
  /** Resolves after COMMIT. Rejects with a Refusal when the command was refused, or when the outcome is unknown (503). */
  commit<Result>(command: Command<Result>): Promise<Result>
  /** The result that `commit` would have now, refusals included. Changes nothing. */
  preview<Result>(command: Command<Result>): Promise<Preview<Result>>
  facts(): DoorFacts
  stop(): Promise<void>
}

/** For the metrics. */
export type DoorFacts = {
  /** Commands that were submitted and are not answered yet. */
  readonly waiting: number
  readonly connections_opened: number
}

export type DoorOptions = {
  readonly seat: Seat
  readonly lanes: number
  readonly log: Logger
  /** The longest time a caller waits, for its turn and for an unreachable database. */
  readonly wait_ms?: number
  /** Called after each committed batch, for the metrics. */
  readonly onBatch?: (batch: { commands: number; seconds: number }) => void
}

const BATCH_MAX = 512
/** Small batches, because real commands wait for the locks of previews. */
const PREVIEWS_MAX = 32

export function openDoor(options: DoorOptions): Door {
  const lanes = Array.from({ length: options.lanes }, () =>
    openLane(options, {
      names: ['main', 'side'],
      batch_max: BATCH_MAX,
      attempt: (connection, commands, pipeline) => attemptBatch(connection, commands, pipeline, options),
    }),
  )
  // A separate lane, so that real commands do not queue behind dry runs.
  const previews = openLane(options, {
    names: ['preview', 'preview side'],
    batch_max: PREVIEWS_MAX,
    attempt: attemptPreviews,
  })
  return {
    commit: (command) => submitTo(lanes[laneOf(command.partner_id, lanes.length)]!, command),
    preview: (command) => submitTo(previews, command),
    facts: () => sumOf([...lanes, previews].map((lane) => lane.facts())),
    async stop() {
      await Promise.all([...lanes, previews].map((lane) => lane.stop()))
    },
  }
}

const submitTo = <Result>(lane: Lane, command: Command<unknown>): Promise<Result> =>
  new Promise((resolve, reject) => lane.submit({ command, resolve, reject, since: performance.now() }))

function laneOf(partner_id: string, lanes: number): number {
  let hash = 0
  for (let i = 0; i < partner_id.length; i++) hash = (hash * 31 + partner_id.charCodeAt(i)) >>> 0
  return hash % lanes
}

type Lane = { submit(pending: Pending): void; facts(): DoorFacts; stop(): Promise<void> }

const sumOf = (facts: readonly DoorFacts[]): DoorFacts => ({
  waiting: facts.reduce((sum, { waiting }) => sum + waiting, 0),
  connections_opened: facts.reduce((sum, { connections_opened }) => sum + connections_opened, 0),
})

type LaneKind = Pick<RunnerOptions, 'batch_max' | 'attempt'> & {
  readonly names: readonly [main: string, side: string]
}

function openLane({ seat, log, wait_ms }: DoorOptions, { names, ...kind }: LaneKind): Lane {
  const [first, second] = names.map((name) => openRunnerConnection(seat, name)) as [
    RunnerConnection,
    RunnerConnection,
  ]
  const side = openRunner({ ...kind, connection: second, log, wait_ms })
  const aside = (pending: Pending) => side.submit(pending)
  const main = openRunner({ ...kind, connection: first, log, wait_ms, aside })
  return {
    submit: main.submit,
    facts: () => ({
      waiting: main.waiting() + side.waiting(),
      connections_opened: first.opened() + second.opened(),
    }),
    async stop() {
      await main.stop()
      await side.stop()
    },
  }
}
