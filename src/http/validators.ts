import AjvCompiler from '@fastify/ajv-compiler'

type Compile = ReturnType<ReturnType<typeof AjvCompiler>>
type Validator = ReturnType<Compile>

/**
 * Compiling all schemas takes longer than the rest of a start, and most of them are not used for days. So each schema is
 * compiled at its first use; servers in one process share the compiled validators, because they share the declarations.
 */
const compiled = new WeakMap<object, Validator>()

/** Fastify's own compiler, deferred to the first use. */
export function compileLate(
  ...asked: Parameters<ReturnType<typeof AjvCompiler>>
): (part: Parameters<Compile>[0]) => Validator {
  let compile: Compile | undefined
  return (part) => {
    const { schema } = part as { schema: object }
    let validate: Validator | undefined
    const compileOnce = () => {
      const made = compiled.get(schema) ?? (compile ??= AjvCompiler()(...asked))(part)
      compiled.set(schema, made)
      return made
    }
    const late = ((data: unknown) => {
      validate ??= compileOnce()
      const fits = validate(data)
      late.errors = validate.errors ?? null
      return fits
    }) as Validator
    return late
  }
}
