import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The specification in docs/spec, and where code, tests and documents cite it. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
export const documents = ['interface', 'contract'] as const
export type SpecName = (typeof documents)[number]

/** A `§` in a text, with the document that it belongs to; none when nobody said which. */
type Citation = {
  readonly document: SpecName | undefined
  readonly section: string
  /** A numbered rule of the section: `interface §4.1, rule 2`. */
  readonly rule: string | undefined
  readonly line: number
}

/** `interface §4.1, §4.2 and §5`: the document is named once, in front of the first. */
export function citationsIn(text: string, own?: SpecName): Citation[] {
  const run =
    /(?:\b(interface|contract)[\s*/-]+)?(§[\d.]*\d(?:[,\s]+(?:and\s+)?§[\d.]*\d)*)(?:,? (?:rule|item) (\d+))?/gi
  return [...text.matchAll(run)].flatMap(({ 1: name, 2: sections, 3: rule, index }) => {
    const line = text.slice(0, index).split('\n').length
    const document = (name?.toLowerCase() as SpecName | undefined) ?? own
    return sections!.match(/[\d.]+/g)!.map((section) => ({ document, section, rule, line }))
  })
}

/** Every section that can be cited: headings by their numbers, and the numbered points of a section as `17.13`. */
export function sectionsOf(text: string): Set<string> {
  const sections = new Set<string>()
  let section = ''
  for (const line of text.split('\n')) {
    const heading = /^#{2,3} (\d+(?:\.\d+)?)\.? /.exec(line)?.[1]
    const point = /^(\d+)\. /.exec(line)?.[1]
    if (heading) sections.add((section = heading))
    else if (point) sections.add(`${section}.${point}`)
  }
  return sections
}

export function readSpec(name: SpecName): string {
  return readFileSync(join(root, 'docs/spec', `${name}.md`), 'utf8')
}

/** Whether a citation leads to a section, and to a rule of it where it names one. */
export function resolves({ document, section, rule }: Citation): boolean {
  if (!document) return false
  const sections = specs[document]
  return sections.has(section) && (rule === undefined || sections.has(`${section}.${rule}`))
}

const specs = { interface: sectionsOf(readSpec('interface')), contract: sectionsOf(readSpec('contract')) }

/** Files of the project that may cite the specification, by their path from its root. */
export function sources(): { readonly path: string; readonly text: string }[] {
  return walk(root)
    .filter((path) => /\.(ts|sql|md|json|yaml)$/.test(path) && !/package-lock\.json$/.test(path))
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }))
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !/^(\..*|node_modules|dist|data)$/.test(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return walk(path)
      return entry.isFile() ? [path] : []
    })
}
