import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SignatureLine } from '../../src/rails/signer/log.ts'
import { type ServerProcess, startServerProcess } from '../../test/support/server-process.ts'
import type { Closing } from './closing.ts'
import { type Keys, secretSettings } from './keys.ts'

/** `trilho signer`: a process with a folder of its own, in which the keys, its settings and its log are. Nothing else has the keys. */
export type SignerProcess = Awaited<ReturnType<typeof openSigner>>

/** The folder of the signer, before the signer is started: the service's settings name the socket in it. */
export function signerPlaces(folder: string) {
  const home = join(folder, 'signer')
  return {
    home,
    seal_key: join(home, 'seal_key'),
    log_dir: join(home, 'log'),
    address: `unix:${join(home, 'signer.sock')}`,
  }
}

export async function openSigner(options: {
  program: string
  places: ReturnType<typeof signerPlaces>
  keys: Keys
  /** The contracts of USDT on the test chains, by their settings. */
  contracts: Record<string, string>
  closing: Closing
}) {
  const { program, places, contracts, closing } = options
  const files = await writeSecrets(places.home, secretSettings(options.keys))
  const env = {
    ...{ SIGNER_LISTEN: places.address, SIGNER_LOG_DIR: places.log_dir },
    ...{ SIGNER_SEAL_KEY_FILE: places.seal_key, LOG_LEVEL: 'warn', LOG_FORMAT: 'json' },
    ...files,
    ...contracts,
  }
  let running: ServerProcess | undefined
  closing.push(async () => running?.kill('SIGKILL'))
  return {
    ...places,
    env,
    async start(): Promise<void> {
      running = await startServerProcess({ program: [program], command: 'signer', env })
    },
    /** kill -9: its socket and its lock stay behind. */
    kill: () => running!.kill('SIGKILL'),
    /** The lines of its log, oldest first. */
    async lines(): Promise<readonly SignatureLine[]> {
      const text = await readFile(join(places.log_dir, 'signatures.jsonl'), 'utf8')
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    },
  }
}

/** Each secret becomes a file that only the signer's user can read. Returns the settings that name the files. */
async function writeSecrets(home: string, secrets: Record<string, string>): Promise<Record<string, string>> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  const named = await Promise.all(
    Object.entries(secrets).map(async ([name, value]) => {
      const file = join(home, name.toLowerCase())
      await writeFile(file, `${value}\n`, { mode: 0o600 })
      return [`${name}_FILE`, file] as const
    }),
  )
  return Object.fromEntries(named)
}
