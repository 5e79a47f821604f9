import { randomUUID } from 'node:crypto'
import type { SeededRandom } from '../../src/lib/seeded-random.ts'
import { exampleOf } from '../../src/openapi/examples.ts'
import type { Json } from '../../src/openapi/schemas.ts'
import { hasBody } from '../../src/wire/operation.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { BODIES, HEADERS, METHODS, NUMBERS, PATH_PARTS, TEXTS, TIMES, VALUES } from './corpora.ts'
import type { Described } from './described.ts'
import type { Caller, Known, World } from './world.ts'

/** A request as it is sent; `operation` is absent for pages and the identity provider. */
export type Sent = {
  operation: Operation | undefined
  caller: Caller
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

/** A body that an operation has accepted, with the parameters and headers beside it. */
export type Template = {
  caller: Caller
  params: Record<string, string>
  headers: Record<string, string>
  body: unknown
}

const KINDS_OF_ACCESS: Readonly<Record<string, readonly string[]>> = {
  sandbox: ['platform'],
  anyone: ['none'],
  bank: ['none'],
}

/** One request of an operation: valid for the most part, with none, one or several things wrong. */
export function makeRequest(world: World, { operation, random, described, templates }: MakingOne): Sent {
  const template = templates.length > 0 && random.chance(25) ? random.pick(templates) : undefined
  const known = operation.path.includes('{') ? someId(world, wordsOf(operation.path), random) : undefined
  const whose = template ?? known
  const fits = whose !== undefined && kindsOf(operation).has(whose.caller.kind)
  const caller = fits && random.chance(60) ? whose.caller : callerFor(world, operation, random)
  const headers = {
    ...caller.headers,
    ...headersFor(world, operation, { random, caller }),
    ...(random.chance(6) ? random.pick(HEADERS) : {}),
  }
  // With the credentials of two callers nobody can say whose things a response may show.
  const isMixed = random.chance(1)
  if (isMixed) headers['authorization'] = random.pick(world.callers).headers['authorization'] ?? ''
  const path = pathFor(world, operation, { random, template, id: known?.id }) + queryFor(world, described.query, random)
  const method = random.chance(3) ? random.pick(METHODS) : operation.method
  const body = hasBody(operation) || random.chance(1) ? bodyFor(world, { described, random, template }) : undefined
  if (body !== undefined) headers['content-type'] ??= 'application/json'
  return {
    operation,
    caller: isMixed ? { name: `${caller.name} and another`, kind: caller.kind, headers: caller.headers } : caller,
    method,
    path,
    headers: sendable(headers),
    body: method === 'GET' || method === 'HEAD' ? undefined : body,
  }
}

export type MakingOne = {
  operation: Operation
  random: SeededRandom
  described: Described
  templates: readonly Template[]
}

function kindsOf({ access }: Operation): ReadonlySet<string> {
  return new Set(access.flatMap((kind) => KINDS_OF_ACCESS[kind] ?? [kind]))
}

/** Who may call it, in two of three cases. */
function callerFor({ callers }: World, operation: Operation, random: SeededRandom): Caller {
  if (random.chance(33)) return random.pick(callers)
  const kinds = kindsOf(operation)
  const able = callers.filter(({ kind }) => kinds.has(kind))
  return random.pick(able.length > 0 ? able : callers)
}

const IDS_KEPT = 300

/** The literal words that begin a path: ids of one kind are shown and asked for below the same words. */
export function wordsOf(path: string): string {
  return path.split('/{')[0] ?? path
}

export function keepId({ ids }: World, words: string, known: Known): void {
  const kept = ids.get(words) ?? []
  ids.set(words, kept)
  if (kept.some(({ id }) => id === known.id)) return
  kept.push(known)
  if (kept.length > IDS_KEPT) kept.splice(0, IDS_KEPT / 2)
}

function someId({ ids }: World, words: string, random: SeededRandom): Known | undefined {
  const own = ids.get(words) ?? []
  if (own.length > 0 && random.chance(80)) return random.pick(own)
  const all = [...ids.values()]
  return all.length === 0 ? undefined : random.pick(random.pick(all))
}

function pathFor(
  world: World,
  { path }: Operation,
  { random, template, id }: { random: SeededRandom; template: Template | undefined; id: string | undefined },
): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (random.chance(12)) return random.pick(PATH_PARTS)
    const known = template?.params[name]
    if (known !== undefined && random.chance(70)) return encodeURIComponent(known)
    return encodeURIComponent((random.chance(85) ? id : someId(world, '', random)?.id) ?? randomUUID())
  })
}

function queryFor(world: World, members: Described['query'], random: SeededRandom): string {
  const parts: string[] = []
  for (const [name, { required, schema }] of Object.entries(members)) {
    if (!random.chance(required ? 95 : name === 'dry_run' ? 4 : 20)) continue
    const value = random.chance(35)
      ? hostileText(random)
      : String(valueFor(world, { name, schema, components: {} }, random))
    parts.push(`${name}=${encodeURIComponent(value.toWellFormed())}`)
    if (random.chance(3)) parts.push(`${name}=2`)
  }
  if (random.chance(3))
    parts.push(random.pick(['unknown=1', '__proto__=1', 'a[b]=1', '%00=1', '=', 'cursor=%ff', '&&']))
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

function headersFor(
  world: World,
  { headers }: Operation,
  { random, caller }: { random: SeededRandom; caller: Caller },
): Record<string, string> {
  const shape = (headers as { shape?: object }).shape ?? {}
  const made: Record<string, string> = {}
  for (const name of Object.keys(shape)) {
    if (!random.chance(92)) continue
    if (random.chance(8)) made[name] = hostileText(random).slice(0, 2_000)
    else if (name === 'x-idempotency-key') {
      made[name] = random.chance(15) ? (someId(world, name, random)?.id ?? 'x') : randomUUID()
      keepId(world, name, { id: made[name], caller })
    }
  }
  return made
}

function bodyFor(
  world: World,
  { described, random, template }: { described: Described; random: SeededRandom; template: Template | undefined },
): string {
  if (random.chance(4)) return random.pick(BODIES)
  const { body: schema, components } = described
  const body: unknown =
    template !== undefined && random.chance(70)
      ? structuredClone(template.body ?? {})
      : valueFor(world, { name: '', schema, components }, random)
  const faults = random.pick([0, 0, 0, 1, 1, 1, 2, 4])
  for (let count = 0; count < faults; count += 1) spoil(world, body, random)
  const text = JSON.stringify(body) ?? ''
  if (random.chance(3)) return damaged(text, random)
  // A duplicate of a member, in front or behind.
  return random.chance(2)
    ? text.replace(/^\{(.*)\}$/s, (_, inner: string) => `{"amount":"1.00",${inner === '' ? '"a":1' : inner},"id":"x"}`)
    : text
}

/** Puts something wrong at a random place in a body. */
function spoil(world: World, body: unknown, random: SeededRandom): void {
  if (typeof body !== 'object' || body === null) return
  const names = Object.keys(body)
  const dice = random.below(10)
  if (names.length === 0 || dice === 0) return void setMember(body, random.pick(EXTRA), random.pick(VALUES))
  const name = random.pick(names)
  const inner: unknown = Reflect.get(body, name)
  if (typeof inner === 'object' && inner !== null && dice < 6) return spoil(world, inner, random)
  if (dice === 1) return void Reflect.deleteProperty(body, name)
  if (dice === 2) return void setMember(body, name, random.pick(VALUES))
  if (dice === 3) return void Reflect.set(body, name, someId(world, '', random)?.id)
  Reflect.set(body, name, hostileText(random))
}

function setMember(body: object, name: string, value: unknown): void {
  if (Array.isArray(body)) body.push(structuredClone(value))
  else Reflect.set(body, name, structuredClone(value))
}

/** Columns and members that no request may set. */
const EXTRA = [
  'id',
  'status',
  'merchant_id',
  'role',
  'is_active',
  'kyb_status',
  'fee_amount',
  'constructor',
  'toJSON',
  'length',
  '',
]

function damaged(text: string, random: SeededRandom): string {
  const at = random.below(Math.max(1, text.length))
  return random.pick([
    text.slice(0, at),
    `${text}${text}`,
    text.slice(0, at) + random.pick(TEXTS).slice(0, 50) + text.slice(at),
    text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(7))) + text.slice(at + 1),
  ])
}

export function hostileText(random: SeededRandom): string {
  return random.pick(random.pick([TEXTS, TEXTS, NUMBERS, TIMES]))
}

type ValueSpec = { name: string; schema: Json; components: Record<string, Json> }

/** A value that fits a schema, as far as an example tells; optional members come and go. */
function valueFor(world: World, { name, schema, components }: ValueSpec, random: SeededRandom): unknown {
  const { $ref, anyOf, oneOf, enum: values, properties, required, type, items, minimum, maximum } = schema as Shape
  const of = (each: Json, inner = name): unknown => valueFor(world, { name: inner, schema: each, components }, random)
  if ($ref !== undefined) return of(components[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {})
  if (values !== undefined) return random.pick(values)
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([member]) => required?.includes(member) === true || random.chance(30))
        .map(([member, each]) => [member, of(each, member)]),
    )
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return of(random.pick(choices))
  if (type === 'array' && items !== undefined) return Array.from({ length: random.between(1, 2) }, () => of(items))
  if (type === 'integer' && random.chance(50)) return random.pick([minimum ?? 0, Math.min(maximum ?? 100, 100), 1])
  if (type === 'boolean') return random.chance(50)
  if (/(?:^id|_id|Id|cursor|after)$/.test(name) && random.chance(60)) return someId(world, name, random)?.id ?? ''
  if (/amount$/i.test(name) && type === 'string' && random.chance(60))
    return random.pick(['1.00', '0.01', '10.50', '999.99'])
  if (name.endsWith('email') && random.chance(60)) return `${randomUUID().slice(0, 8)}@acme.example`
  return exampleOf(schema, components, 'input')
}

type Shape = {
  $ref?: string
  anyOf?: readonly Json[]
  oneOf?: readonly Json[]
  enum?: readonly unknown[]
  properties?: Record<string, Json>
  required?: readonly string[]
  type?: string
  items?: Json
  minimum?: number
  maximum?: number
}

/** Without what an HTTP client refuses to write into a header: line ends and what is not Latin-1 (RAW has more). */
export function sendable(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, text.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '?')]),
  )
}

/** A request as it can be repeated. */
export function textOf({ caller, method, path, headers, body }: Sent): string {
  const { authorization: _proof, ...shown } = headers
  return `${caller.name}: ${method} ${path.slice(0, 1_000)} ${JSON.stringify(shown).slice(0, 600)} ${(body ?? '').slice(0, 1_500)}`
}
