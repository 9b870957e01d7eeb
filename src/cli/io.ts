import { NotShown } from './exit.ts'

/** What a command reads from and writes to, handed in: the process's own, or a test's. */
export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly stdout: Out
  /** Questions, progress and mistakes: standard output holds nothing but what was asked for. */
  readonly stderr: Out
  /** How far long work has come, over the line before; on a terminal only. Nothing takes the line away. */
  progress(text: string): void
  /**
   * Aborted when the command is told to stop, by a signal or because nobody reads on. Whoever asks for it stops in good order,
   * and answers for doing so.
   */
  stopped(): AbortSignal
  /** All of standard output has gone out. Throws `NotShown` where it could not. */
  shown(): Promise<void>
}

export type Out = { write(text: string): unknown; readonly isTTY?: boolean | undefined }

type Streams = Omit<Io, 'progress'>

export function openIo(streams: Streams): Io {
  const CLEAR_LINE = '\r\x1b[2K'
  return {
    ...streams,
    progress(text) {
      if (streams.stderr.isTTY) streams.stderr.write(`${CLEAR_LINE}${text}`)
    },
  }
}

export function processIo(): Io {
  const { env, stdin, stdout, stderr } = process
  const { failed, shown } = watchOutput(stdout)
  // What went wrong cannot be said then, and is in the exit code.
  stderr.on('error', () => {})
  const stopped = () => AbortSignal.any([onceTold(), failed])
  return openIo({ env, stdin, stdout, stderr, stopped, shown })
}

/** Whoever reads no further, as `head` does, has what they wanted; a full disk has not. */
function watchOutput(stdout: NodeJS.WriteStream): { failed: AbortSignal; shown(): Promise<void> } {
  const failed = new AbortController()
  stdout.on('error', (error) => failed.abort(error))
  const shown = async () => {
    await new Promise((resolve) => stdout.write('', resolve))
    // The stream tells of an error behind the write that met it.
    await new Promise((resolve) => setImmediate(resolve))
    const { code } = (failed.signal.reason ?? {}) as NodeJS.ErrnoException
    if (failed.signal.aborted && code !== 'EPIPE') throw new NotShown(code)
  }
  return { failed: failed.signal, shown }
}

function onceTold(): AbortSignal {
  const told = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => told.abort(signal))
  return told.signal
}

/** Somebody is there to be asked. */
export const isTerminal = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY === true

const colours = { green: 32, yellow: 33, red: 31, dim: 2 } as const

/** On a terminal, unless NO_COLOR is set. */
export function coloured({ env, stdout }: Io, colour: keyof typeof colours, text: string): string {
  const plain = stdout.isTTY !== true || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  return plain ? text : `\x1b[${colours[colour]}m${text}\x1b[0m`
}
