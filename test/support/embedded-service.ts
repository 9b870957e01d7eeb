import { readFileSync } from 'node:fs'
import { runningEmbedded } from '../../src/db/embedded/running.ts'
import { type Config, readConfig } from '../../src/node/config.ts'
import { startService } from '../../src/node/serve.ts'
import { openDirectAccess } from './service.ts'

/** A server with the embedded database in its data folder, as on somebody's laptop, and direct access to that database. */
export async function startEmbeddedService(data_dir: string, env: Record<string, string> = {}) {
  const config: Config = readConfig({
    DATA_DIR: data_dir,
    PORT: '0',
    LOG_LEVEL: 'silent',
    DRAIN_MS: '0',
    ...env,
  })
  const service = await startService({
    config,
    print: () => {},
    onFatal: (error) => {
      throw error
    },
  })
  const url = (await runningEmbedded(data_dir))!
  const key = Buffer.from(readFileSync(`${data_dir}/secret.key`, 'utf8').trim(), 'hex')
  const direct = openDirectAccess({ url, drop: async () => {} }, [key])
  return {
    ...direct,
    config,
    secret_key: key,
    url: service.url,
    partner: (options?: Parameters<typeof direct.partner>[1]) => direct.partner(service.url, options),
    async stop() {
      await direct.stop()
      await service.stop()
    },
  }
}

export type EmbeddedService = Awaited<ReturnType<typeof startEmbeddedService>>
