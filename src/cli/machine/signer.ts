import { writeFile } from 'node:fs/promises'
import { readSignerConfig, readSignerLogDir } from '../../node/config.ts'
import { createLog } from '../../node/log.ts'
import { startSigner } from '../../node/signer.ts'
import {
  headText,
  parseHeadText,
  readHeadFile,
  SignerLogBroken,
  verifySignerLog,
} from '../../rails/signer/log.ts'
import { sealKeyOf } from '../../rails/signer/seal.ts'
import { SignerUnavailable } from '../../rails/signer/signer.ts'
import { type Input, type Output, option, type Reach, requiredOption, usage } from '../command.ts'
import { exit } from '../exit.ts'

/** Runs until a signal. Reads neither the database nor the settings of the service. */
export async function runSigner({ io }: Input): Promise<Output> {
  const config = readSignerConfig(io.env)
  const log = createLog({ level: config.log_level, format: config.log_format })
  if (process.env.CRASH_AT)
    log.warn(`CRASH_AT is set: this process will kill itself at ${process.env.CRASH_AT}`)
  const stopped = io.stopped()
  let fail: (error: Error) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  const signer = await startSigner({ config, log, onFatal: fail })
  io.stdout.write(`The signer is ready at ${signer.url}\n`)
  const ended = new Promise<void>((resolve) => {
    if (stopped.aborted) resolve()
    stopped.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([ended, failed]).finally(() => signer.stop())
  return undefined
}

export async function writeSealKey(input: Input, reach: Reach): Promise<Output> {
  const to = requiredOption(input, 'to')
  const key = sealKeyOf(await reach.logKey()).toString('hex')
  if (to === '-') return { json: { seal_key: key }, text: `${key}\n` }
  try {
    await writeFile(to, `${key}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    usage(code === 'EEXIST' ? `${to} exists. Name a new file.` : `${to} cannot be written (${code}).`)
  }
  return {
    json: { written_to: to },
    text: `The seal key is in ${to}. Move it to the signer, and remove it here.\n`,
  }
}

export async function checkSigner({ remote_signer }: Reach): Promise<Output> {
  if (!remote_signer) usage('SIGNER_URL is not set: this service has no signer in a process of its own.')
  try {
    const head = headText(await remote_signer.check())
    return {
      json: { ok: true, log_head: head },
      text: `The signer has the wallets and the seal key of this service. Its log ends with ${head}. Note this head: trilho signer verify-log --head compares the log with it.\n`,
    }
  } catch (error) {
    if (!(error instanceof SignerUnavailable)) throw error
    const { message: problem } = error
    return { json: { ok: false, problem }, text: `${problem}\n`, exit_code: exit.refused }
  }
}

export async function verifySignatures(input: Input): Promise<Output> {
  const folder = option(input, 'dir') ?? readSignerLogDir(input.io.env)
  if (folder === undefined) usage('--dir is missing, and SIGNER_LOG_DIR is not set.')
  const noted = option(input, 'head')
  const told = noted === undefined ? undefined : parseHeadText(noted)
  if (noted !== undefined && !told) usage('--head must be the number of a line, a colon, and its hash.')
  try {
    // Read before the log: a signer that runs meanwhile only appends.
    const beside = await readHeadFile(folder)
    const found = await verifySignerLog(folder, { expected: [beside, told].flatMap((head) => head ?? []) })
    if (found.lines === 0) throw new SignerLogBroken(`There is no log of signatures in ${folder}.`)
    const head = headText(found)
    const rest =
      found.cut_bytes > 0
        ? ` ${found.cut_bytes} bytes of an unfinished line follow: the signer writes, or was cut off.`
        : ''
    return {
      json: { ok: true, lines: found.lines, head, unfinished_bytes: found.cut_bytes },
      text: `The log is whole: ${found.lines} lines. Its head is ${head}.${rest}\n`,
    }
  } catch (error) {
    if (!(error instanceof SignerLogBroken)) throw error
    const { message: problem } = error
    return { json: { ok: false, problem }, text: `${problem}\n`, exit_code: exit.refused }
  }
}
