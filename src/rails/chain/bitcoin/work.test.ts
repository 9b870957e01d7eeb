import { expect, test } from 'vitest'
import { provesWork } from './work.ts'

test.each([
  [
    'block 500,000, of December 2017',
    '00000000000000000024fb37364cbf81fd49cc2d51c09c75c35433c3a1945d04',
    true,
  ],
  ['block 800,000, of July 2023', '00000000000000000002a7c4c1e48d76c5a37902165a270156b7a8d72728a054', true],
  [
    'block 0, which a laptop finds',
    '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
    false,
  ],
  ['a hash with one zero less', `${'0'.repeat(17)}1${'a'.repeat(46)}`, false],
])('%s', (_, hash, proves) => {
  expect(provesWork(hash)).toBe(proves)
})
