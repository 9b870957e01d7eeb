import AjvCompiler from '@fastify/ajv-compiler'

type Compile = ReturnType<ReturnType<typeof AjvCompiler>>
type Validator = ReturnType<Compile>

/**
 * To compile what every call may say takes longer than the rest of a start, and most of it is not said for days. So each part
 * is compiled when it is first needed; servers in one process share what was compiled, since they share the declarations.
 */
const compiled = new WeakMap<object, Validator>()

/** As the framework's own, but later. */
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
