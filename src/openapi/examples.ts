import { exampleByRule } from './fields.ts'
import type { Json } from './schemas.ts'

/** A value that fits a schema, made of the examples of its members; optional members are left out of requests. */
export function exampleOf(schema: Json, components: Record<string, Json>, io: 'input' | 'output'): unknown {
  const { $ref, examples, anyOf, oneOf, allOf, type, properties, required, items, minItems } = schema as Schema
  if ($ref !== undefined) return exampleOf(components[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}, components, io)
  if (examples !== undefined) return examples[0]
  const byRule = exampleByRule(schema)
  if (byRule !== undefined) return byRule
  const choice = [...(anyOf ?? oneOf ?? [])].find((each) => each['type'] !== 'null')
  if (choice !== undefined) return exampleOf(choice, components, io)
  if (allOf?.[0] !== undefined && type === undefined) return exampleOf(allOf[0], components, io)
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(properties ?? {})
          .filter(([name]) => io === 'output' || required?.includes(name) === true)
          .map(([name, member]) => [name, exampleOf(member, components, io)]),
      )
    case 'array':
      return Array.from({ length: minItems ?? 1 }, () => exampleOf(items ?? {}, components, io))
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'string':
      return 'text'
    default:
      return null
  }
}

type Schema = {
  $ref?: string
  examples?: readonly unknown[]
  anyOf?: readonly Json[]
  oneOf?: readonly Json[]
  allOf?: readonly Json[]
  type?: string | readonly string[]
  properties?: Record<string, Json>
  required?: readonly string[]
  items?: Json
  minItems?: number
}
