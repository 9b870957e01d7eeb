/** What a command reads from and writes to, handed in: the process's own, or a test's. */
export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly stdout: Out
  /** Questions, progress and mistakes: standard output holds nothing but what was asked for. */
  readonly stderr: Out
  /** How far long work has come, over the line before; on a terminal only. Nothing takes the line away. */
  progress(text: string): void
  /** Aborted when the command is told to stop. Whoever asks for it stops in good order, and answers for doing so. */
  stopped(): AbortSignal
}

export type Out = { write(text: string): unknown; readonly isTTY?: boolean | undefined }

type Streams = Pick<Io, 'env' | 'stdin' | 'stdout' | 'stderr' | 'stopped'>

export function openIo(streams: Streams): Io {
  const CLEAR_LINE = '\r\x1b[2K'
  return {
    ...streams,
    progress(text) {
      if (streams.stderr.isTTY) streams.stderr.write(`${CLEAR_LINE}${text}`)
    },
  }
}

export const processIo = (): Io =>
  openIo({
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    stopped: onceTold,
  })

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
