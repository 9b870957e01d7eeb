/**
 * Runs `trilho …` again and again in one process, one command after the other: most of what a command costs is loading the
 * program. A command has ended when nothing keeps the process alive any more, exactly as if it had a process of its own.
 */
const [, , entry] = process.argv
let runs = 0

process.on('message', ({ args, env }) => {
  const printed = { out: '', err: '' }
  process.stdout.write = writerOf(printed, 'out')
  process.stderr.write = writerOf(printed, 'err')
  process.argv = [process.argv[0], entry, ...args]
  process.env = env
  process.exitCode = undefined
  process.channel.unref()
  process.once('beforeExit', (code) => {
    process.channel.ref()
    process.removeAllListeners('uncaughtException')
    process.send({ code, ...printed })
  })
  // Every address is a module of its own; what it imports is loaded once.
  import(`${entry}?run=${++runs}`)
})

function writerOf(printed, stream) {
  return (chunk, ...rest) => {
    printed[stream] += chunk
    rest.find((each) => typeof each === 'function')?.()
    return true
  }
}
