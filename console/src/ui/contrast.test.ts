import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The colour tokens, light first. */
const tokens = new Map(
  [
    ...readFileSync(new URL('./tokens.css', import.meta.url), 'utf8').matchAll(
      /--([\w-]+):\s*light-dark\(oklch\(([^)]*)\),\s*oklch\(([^)]*)\)\)/g,
    ),
  ].map(([, name, light, dark]) => [name!, [light!, dark!] as const]),
)

/** Relative luminance by WCAG 2.2, of a colour written in OKLCH. */
function luminance(oklch: string): number {
  const [l, c, h] = oklch.trim().split(/\s+/).map(Number) as [number, number, number]
  const a = c * Math.cos((h * Math.PI) / 180)
  const b = c * Math.sin((h * Math.PI) / 180)
  const [long, medium, short] = [
    (l + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (l - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (l - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ] as const
  const linear = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ].map(shown) as [number, number, number]
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

/** Clamps to the range of a screen. */
const shown = (channel: number) => Math.min(1, Math.max(0, channel))

function contrast(on: string, ground: string, theme: 0 | 1): number {
  const [a, b] = [tokens.get(on)![theme], tokens.get(ground)![theme]].map(luminance) as [number, number]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

const TEXT = 4.5
const MARK = 3

/** Every pair of colours in use; where the design names a ratio, that ratio is required. */
const pairs: readonly (readonly [
  on: string,
  ground: string,
  least: number,
  light?: number,
  dark?: number,
])[] = [
  ['ink', 'ground', TEXT, 15.9, 15.6],
  ['quiet', 'ground', TEXT, 7.1, 8.4],
  ['quiet', 'selected', TEXT, 6.3, 7.1],
  ['faint', 'sunken', TEXT, 4.8, 6.6],
  ['accent', 'ground', TEXT, 6.9, 10.3],
  ['on-accent', 'accent', TEXT, 7.0, 10.3],
  ['accent-deep', 'selected', TEXT, 8.6, 10.9],
  ['code-word', 'sunken', TEXT, 6.3, 10.4],
  ['good', 'ground', TEXT, 5.9, 9.7],
  ['going', 'ground', TEXT, 7.1, 9.6],
  ['warn', 'warn-soft', TEXT, 4.9, 8.9],
  ['bad', 'bad-soft', TEXT, 5.5, 6.6],
  ['brl', 'ground', TEXT, 6.0, 7.9],
  ['usdt', 'ground', TEXT, 5.2, 10.0],
  ['btc', 'ground', MARK, 4.4, 9.7],
  ['edge', 'ground', MARK, 3.3, 3.6],
  ['code-key', 'sunken', TEXT],
  ['code-text', 'sunken', TEXT],
  ['ink', 'raised', TEXT],
  ['quiet', 'raised', TEXT],
  ['faint', 'raised', TEXT],
  ['faint', 'ground', TEXT],
  ['faint', 'selected', TEXT],
  ['faint', 'hover', TEXT],
  ['accent', 'hover', TEXT],
  ['accent', 'accent-soft', MARK],
  ['warn', 'ground', TEXT],
  ['warn', 'sunken', TEXT],
  ['bad', 'ground', TEXT],
  ['bad', 'raised', TEXT],
  ['on-accent', 'bad', TEXT],
  ['on-accent', 'accent-deep', TEXT],
  ['good', 'selected', MARK],
  ['going', 'selected', MARK],
  ['brl', 'brl-soft', MARK],
  ['usdt', 'usdt-soft', MARK],
  ['btc', 'btc-soft', MARK],
  ['edge', 'raised', MARK],
]

test('all tokens are read', () => {
  expect(tokens.size).toBeGreaterThanOrEqual(30)
})

for (const [on, ground, least, light, dark] of pairs)
  test(`${on} on ${ground} has enough contrast, in both themes`, () => {
    for (const [theme, approved] of [light, dark].entries()) {
      const ratio = contrast(on, ground, theme as 0 | 1)
      expect(ratio, theme === 0 ? 'light' : 'dark').toBeGreaterThanOrEqual(least)
      if (approved !== undefined) expect(Math.abs(ratio - approved)).toBeLessThanOrEqual(0.1)
    }
  })
