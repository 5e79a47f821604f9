import { z } from 'zod'
import { hasBody } from '../wire/operation.ts'
import type { Operation } from '../wire/operation.ts'
import { describeFields } from './fields.ts'
import { WIRE } from './wire.ts'

export type Json = Record<string, unknown>

type Io = 'input' | 'output'

/** The schemas of a document: its components, and how its operations refer to them. */
export type Schemas = {
  components: Record<string, Json>
  /** A reference to a body or response. */
  ref(schema: z.ZodType, io: Io): Json
  /** The members of a query, path or set of headers. */
  members(schema: z.ZodType): { properties: Record<string, Json>; required: string[] }
}

const ROOT = '#/components/schemas/'
const Members = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
})

/**
 * The schemas of the operations and of `others`, each under a name: what src/wire exports under that, a body or response of
 * one operation under the operation's. Zod refers from one to the other. Where a schema is both accepted and
 * sent in different forms, the accepted one has the suffix Input.
 */
export function makeSchemas(operations: readonly Operation[], others: readonly z.ZodType[]): Schemas {
  const registry = z.registry<{ id: string }>()
  const add = (schema: z.ZodType, id: string): void => void (registry.has(schema) || registry.add(schema, { id }))
  for (const [name, value] of Object.entries(WIRE)) if (isNamed(value)) add(value, name === 'None' ? 'Empty' : name)
  for (const operation of operations) nameParts(operation, add)
  const idOf = (schema: z.ZodType): string => registry.get(unwrapped(schema))?.id ?? ''
  const made = { input: convert(registry, 'input'), output: convert(registry, 'output') }
  const used = {
    input: reachable(made.input, operations.flatMap((each) => bodiesOf(each)).map(idOf)),
    output: reachable(made.output, [...operations.flatMap(repliesOf), ...others].map(idOf)),
  }
  for (const { params, query, headers } of operations)
    for (const schema of [params, query, headers])
      for (const id of reachable(made.input, [idOf(schema)]).slice(1)) used.input.push(id)
  const differing = namesThatDiffer(made, used)
  const nameOf = (id: string, io: Io): string => (io === 'input' && differing.has(id) ? `${id}Input` : id)
  const renamed = (node: unknown): Json =>
    JSON.parse(JSON.stringify(node), (key, value) =>
      key === '$ref' ? ROOT + nameOf(String(value).slice(ROOT.length), 'input') : value,
    ) as Json
  const component = (id: string, io: Io): [string, Json] => {
    const schema = made[io][id] ?? {}
    return [nameOf(id, io), io === 'input' ? renamed(schema) : schema]
  }
  const entries = [
    ...used.output.map((id) => component(id, 'output')),
    ...used.input.map((id) => component(id, 'input')),
  ]
  return {
    components: Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    ref: (schema, io) => ({ $ref: ROOT + nameOf(idOf(schema), io) }),
    members: (schema) => Members.parse(renamed(made.input[idOf(schema)])),
  }
}

/** Objects and lists of values are components; a text with a rule is described where it is used. */
function isNamed(value: unknown): value is z.ZodType {
  if (value instanceof z.ZodPipe) return isNamed(value.in)
  return value instanceof z.ZodObject || value instanceof z.ZodEnum || value instanceof z.ZodUnion
}

function nameParts(operation: Operation, add: (schema: z.ZodType, id: string) => void): void {
  const name = operation.name[0]?.toUpperCase() + operation.name.slice(1)
  for (const body of bodiesOf(operation)) add(unwrapped(body), `${name}Request`)
  for (const reply of repliesOf(operation)) add(unwrapped(reply), `${name}Response`)
  add(operation.params, `${name}Path`)
  add(operation.query, `${name}Query`)
  add(operation.headers, `${name}Headers`)
}

function bodiesOf(operation: Operation): z.ZodType[] {
  const { body, bodyWithCheckoutToken: other } = operation
  if (!hasBody(operation)) return []
  return other === undefined ? [body] : [body, other]
}

function repliesOf({ replies, stream }: Operation): z.ZodType[] {
  const sent = Object.entries(replies).flatMap(([status, schema]) => (status === '204' ? [] : [schema]))
  return stream === undefined ? sent : Object.values(stream)
}

function unwrapped(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema
}

function convert(registry: z.core.$ZodRegistry<{ id: string }>, io: Io): Record<string, Json> {
  const uri = (id: string): string => ROOT + id
  const { schemas } = z.toJSONSchema(registry, { io, uri, target: 'draft-2020-12', unrepresentable: 'any' })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, describeFields(schema, io)]),
  )
}

/** The names themselves, and those that their schemas refer to. */
function reachable(made: Record<string, Json>, names: readonly string[]): string[] {
  const found = new Set(names)
  for (const name of found) for (const other of namesIn(made[name])) found.add(other)
  return [...found]
}

function namesIn(schema: Json | undefined): string[] {
  return [...JSON.stringify(schema ?? {}).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, id = '']) => id)
}

/** The names that both sides use for different schemas, and those that refer to one of them. */
function namesThatDiffer(
  made: Record<Io, Record<string, Json>>,
  used: Record<Io, readonly string[]>,
): ReadonlySet<string> {
  const both = used.input.filter((id) => used.output.includes(id))
  const differing = new Set(both.filter((id) => JSON.stringify(made.input[id]) !== JSON.stringify(made.output[id])))
  for (;;) {
    const more = both.filter((id) => !differing.has(id) && namesIn(made.input[id]).some((each) => differing.has(each)))
    if (more.length === 0) return differing
    for (const id of more) differing.add(id)
  }
}
