import { NotShown } from './exit.ts'

/** The input and output of a command, passed in so that a test can replace the process's own. */
export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly stdout: Out
  /** Questions, progress and errors go to standard error; standard output holds only the result. */
  readonly stderr: Out
  /** Writes a progress line over the one before, on a terminal only. The caller clears the line at the end. */
  progress(text: string): void
  /**
   * Aborted by SIGINT, SIGTERM or a closed standard output. A command that calls this must stop by itself and return its exit
   * code: the default handling of the signals is off.
   */
  stopped(): AbortSignal
  /** Resolves when standard output is flushed. Throws `NotShown` if a write failed. */
  shown(): Promise<void>
}

type Out = { write(text: string): unknown; readonly isTTY?: boolean | undefined }

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
  // If standard error is closed, the exit code is the only report.
  stderr.on('error', () => {})
  const stopped = () => AbortSignal.any([onStopSignal(), failed])
  return openIo({ env, stdin, stdout, stderr, stopped, shown })
}

/** A reader that closes the pipe (EPIPE), as `head` does, is no failure; a full disk is. */
function watchOutput(stdout: NodeJS.WriteStream): { failed: AbortSignal; shown(): Promise<void> } {
  const failed = new AbortController()
  stdout.on('error', (error) => failed.abort(error))
  const shown = async () => {
    await new Promise((resolve) => stdout.write('', resolve))
    // The stream emits a write error after the callback of the write.
    await new Promise((resolve) => setImmediate(resolve))
    const { code } = (failed.signal.reason ?? {}) as NodeJS.ErrnoException
    if (failed.signal.aborted && code !== 'EPIPE') throw new NotShown(code)
  }
  return { failed: failed.signal, shown }
}

function onStopSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort(signal))
  return stopping.signal
}

/** Whether a person can be asked: standard input and standard error are terminals. */
export const isTerminal = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY === true

const colours = { green: 32, yellow: 33, red: 31, dim: 2 } as const

/** Colours the text on a terminal, unless NO_COLOR is set. */
export function coloured({ env, stdout }: Io, colour: keyof typeof colours, text: string): string {
  const plain = stdout.isTTY !== true || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  return plain ? text : `\x1b[${colours[colour]}m${text}\x1b[0m`
}
