import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Counts } from './attacks/pace.ts'

export type Attacker = {
  /** Whatever it printed so far. */
  output(): string
  /** Ends it, and tells what it counted. */
  stop(): Promise<Counts>
}

/** Starts an attack in a process of its own, at the lowest priority: its own work would be done on another machine. */
export function startAttack(name: 'stranger' | 'partner' | 'console', args: readonly string[]): Attacker {
  const script = fileURLToPath(new URL(`attacks/${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  setPriority(child.pid!, constants.priority.PRIORITY_LOW)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return {
    output: () => text,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'close')
        child.kill('SIGTERM')
        await ended
      }
      const last = text.trimEnd().split('\n').at(-1) ?? ''
      if (!last.startsWith('{')) throw new Error(`the attack ended by itself:\n${text}`)
      return JSON.parse(last)
    },
  }
}
