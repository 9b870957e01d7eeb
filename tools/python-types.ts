import { nameOf, type Schema, type Side } from './sdk-types.ts'

/**
 * Converts JSON Schemas of openapi.json to types of Python 3.9. Objects without a name become classes of their own, named after
 * the place where they stand.
 */
export type PythonTypes = {
  /** The expression for a schema; `name` is for the class that it may need. */
  typeOf(schema: Schema, side: Side, name: string): string
  /** Declares a class or an alias. */
  declare(name: string, schema: Schema, side: Side): void
  /** The declarations so far, in order. */
  readonly declared: readonly string[]
}

export const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A text as a literal of Python. JSON's escapes are Python's too. */
export const literal = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)

const literals = (values: readonly unknown[]) => `Literal[${values.map(literal).join(', ')}]`

/** Descriptions that say how an amount is spelt in JSON are about ints here. */
export const docstring = (text: string | undefined, indent: string): string =>
  text
    ? `${indent}"""${text.replaceAll(', as a string', '').replaceAll('\\', '\\\\').replaceAll('"""', "'''")}"""\n`
    : ''

/** The patterns of amounts: whole numbers in the one spelling that an `int` has. Codes with leading zeros have others. */
const WHOLE = /^\^(-\?)?(\[1-9\]\[0-9\](\{0,\d+\}|\*)|\(0\|\[1-9\]\[0-9\](\{0,\d+\}|\*)\))\$$/

/** Whether a text of the API is an `int` in Python. */
export const isAmount = ({ type, pattern }: Schema & { readonly pattern?: string }): boolean =>
  type === 'string' && pattern !== undefined && WHOLE.test(pattern)

/** Reserved words of Python, which cannot name an argument. No field of a type has such a name. */
const RESERVED = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return self try while with yield'.split(
    ' ',
  ),
)
/** The name of an argument: a reserved word gets an underscore, as is the custom. */
export const argumentOf = (name: string): string => (RESERVED.has(name) ? `${name}_` : name)

const isNull = ({ type }: Schema) => type === 'null'

export function openPythonTypes(prefix = ''): PythonTypes {
  const declared: string[] = []
  const named = (name: string) => `"${prefix}${name}"`

  function typeOf(schema: Schema, side: Side, name: string): string {
    if (schema.$ref) return named(nameOf(schema.$ref))
    if (schema.const !== undefined) return literals([schema.const])
    if (schema.enum) return literals(schema.enum)
    if (schema['x-known-values']) return `Union[${literals(schema['x-known-values'])}, str]`
    const choices = schema.anyOf ?? schema.oneOf
    if (choices) return union(choices, side, name)
    switch (schema.type) {
      case 'string':
        return isAmount(schema) ? 'int' : 'str'
      case 'integer':
        return 'int'
      case 'number':
        return 'float'
      case 'boolean':
        return 'bool'
      case 'null':
        return 'None'
      case 'array': {
        const item = typeOf(schema.items ?? {}, side, `${name}Item`)
        return side === 'sent' ? `Sequence[${item}]` : `List[${item}]`
      }
      case 'object':
        return objectType(schema, side, name)
      case undefined:
        return 'Any'
      default:
        throw new Error(`the generator of the Python package does not know the type ${schema.type}`)
    }
  }

  function union(choices: readonly Schema[], side: Side, name: string): string {
    const types = choices.filter((each) => !isNull(each)).map((each) => typeOf(each, side, name))
    const all = types.length > 1 ? `Union[${types.join(', ')}]` : types[0]!
    return choices.some(isNull) ? `Optional[${all}]` : all
  }

  function objectType(schema: Schema, side: Side, name: string): string {
    if (schema.properties) {
      declare(name, schema, side)
      return named(name)
    }
    const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
    const value = typeOf(rest, side, `${name}Value`)
    return side === 'sent' ? `Mapping[str, ${value}]` : `Dict[str, ${value}]`
  }

  function declare(name: string, schema: Schema, side: Side): void {
    if (!schema.properties) return void declared.push(`${name} = ${typeOf(schema, side, name)}\n`)
    const fields = Object.entries(schema.properties).map(([field, of]) => {
      if (RESERVED.has(field) || !/^[A-Za-z]\w*$/.test(field))
        throw new Error(`${name}.${field}: a class of Python cannot have this field`)
      const text = `    ${field}: ${typeOf(of, side, name + pascal(field))}\n${docstring(of.description, '    ')}`
      return { text, required: schema.required?.includes(field) === true }
    })
    const [needed, rest] = [true, false].map((required) =>
      fields
        .filter((field) => field.required === required)
        .map(({ text }) => text)
        .join(''),
    ) as [string, string]
    const about = docstring(schema.description, '    ')
    // Python 3.9 has no NotRequired: what is always there is a base class.
    if (needed && rest)
      declared.push(
        `class ${name}Always(TypedDict):\n${needed}\n\nclass ${name}(${name}Always, total=False):\n${about}${rest}`,
      )
    else
      declared.push(
        `class ${name}(TypedDict${needed ? '' : ', total=False'}):\n${about}${needed || rest || '    pass\n'}`,
      )
  }

  return { typeOf, declare, declared }
}
