import { parseArgs } from 'node:util'
import { compile } from './compile.ts'
import { quick } from './quick.ts'

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, build: { type: 'boolean', default: true } },
  allowNegative: true,
  allowPositionals: true,
})
if (values.build) compile()
if (values.quick) await quick()
