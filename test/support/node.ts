import { readConfig } from '../../src/node/config.ts'
import { type Service, startService } from '../../src/node/serve.ts'
import { testEnv } from './service.ts'

/** One more server of this process over a database that others may use too. */
export function startNode(database_url: string, env: Record<string, string> = {}): Promise<Service> {
  return startService({
    config: readConfig(testEnv(database_url, env)),
    print: () => {},
    onFatal: (error) => {
      throw error
    },
  })
}
