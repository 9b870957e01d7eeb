import { withoutPasswords } from '../../db/address.ts'
import { connectionFile } from '../../db/embedded/folder.ts'
import { runningEmbedded } from '../../db/embedded/running.ts'
import { secretKeyFile } from '../../db/open.ts'
import { type Config, describeConfig } from '../../node/config.ts'
import { type Input, type Output, table } from '../command.ts'

export async function configCheck({ config, io }: Input): Promise<Output> {
  const settings = describeConfig(io.env)
  const running = config.database_url ? undefined : await runningEmbedded(config.data_dir)
  const json = {
    ok: true,
    settings: Object.fromEntries(settings.map(({ name, value, source }) => [name, { value, source }])),
    ...(running ? whereabouts(running, config) : {}),
  }
  return { json, text: table(settings) }
}

/** How another node reaches the embedded database: these files, readable by their owner only, hold the password and the key. */
const whereabouts = (url: string, { data_dir }: Config) => ({
  database_url: withoutPasswords(url),
  connection_file: connectionFile(data_dir),
  secret_key_file: secretKeyFile(data_dir),
})
