import { z } from 'zod'
import type { Path } from './source.ts'

/** The fields that an object at this place of a schema's value may have. */
export function keysAt(schema: z.ZodType, path: Path): string[] {
  const objects = schemasAt([schema], path).filter((found) => found instanceof z.ZodObject)
  return [...new Set(objects.flatMap((object) => Object.keys(object.shape)))]
}

/** All that a value at this place may be: the forms of unions one by one. */
function schemasAt(schemas: readonly z.core.$ZodType[], path: Path): z.core.$ZodType[] {
  const open = schemas.flatMap(unwrap)
  const [step, ...rest] = path
  if (step === undefined) return open
  const inner = open.flatMap((schema): readonly z.core.$ZodType[] => {
    if (schema instanceof z.ZodArray) return [schema.element]
    if (schema instanceof z.ZodRecord) return [schema.valueType]
    const member = schema instanceof z.ZodObject ? schema.shape[String(step)] : undefined
    return member === undefined ? [] : [member]
  })
  return inner.length === 0 ? [] : schemasAt(inner, rest)
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional) return unwrap(schema.unwrap())
  return schema instanceof z.ZodUnion ? schema.options.flatMap(unwrap) : [schema]
}

/** What stands at a place of a value; undefined where the way leads nowhere. */
export function valueAtPath(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => {
    if (typeof inner !== 'object' || inner === null) return undefined
    return Object.entries(inner).find(([key]) => key === String(step))?.[1]
  }, value)
}
