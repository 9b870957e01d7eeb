import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { usage } from '../command.ts'
import type { Io } from '../io.ts'

/**
 * Reads the API key from a file or from standard input. A key on the command line would be visible to every user of the
 * machine.
 */
export async function readKeyFile({ stdin }: Io, file: string): Promise<string> {
  const read = file === '-' ? text(stdin) : readFile(file, 'utf8')
  const key = (
    await read.catch((error: NodeJS.ErrnoException) =>
      usage(`--key-file ${file} cannot be read (${error.code}).`),
    )
  ).trim()
  return key === '' ? usage(`--key-file ${file} is empty.`) : key
}
