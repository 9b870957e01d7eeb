import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

// Compiles TestToken.sol with the solc of the current folder; see README.md.
const solc = createRequire(join(process.cwd(), 'package.json'))('solc')
const source = readFileSync(new URL('TestToken.sol', import.meta.url), 'utf8')
const settings = { optimizer: { enabled: true, runs: 200 }, evmVersion: 'paris' }
const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: 'Solidity',
      sources: { 'TestToken.sol': { content: source } },
      settings: { ...settings, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
    }),
  ),
)
if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'))
const { abi, evm } = output.contracts['TestToken.sol'].TestToken
const artefact = {
  compiler: `solc ${solc.version()}`,
  settings,
  source_sha256: createHash('sha256').update(source).digest('hex'),
  abi,
  creation_code: `0x${evm.bytecode.object}`,
}
writeFileSync(new URL('TestToken.json', import.meta.url), `${JSON.stringify(artefact, null, 2)}\n`)
