import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import { shortHash } from '../../src/db/postgres-files.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import type { Exchange } from '../../src/model-bank/answer-resource.ts'

/*
 * The official descriptions of the Read/Write API, and a validator for what passes between our connector and a bank.
 * Both sides are ours, so neither may be the judge of the other.
 */
type Schema = Record<string, unknown>
type Document = { paths: Record<string, Record<string, OperationObject>> }
type OperationObject = { requestBody?: Ref; responses: Record<string, Ref> }
type Ref = { $ref?: string; content?: Record<string, { schema: Schema }> }

const FILES = {
  '4.0': ['payment-initiation-v4.yaml', 'vrp-v4.yaml'],
  '3.1': ['payment-initiation-v3.1.yaml', 'vrp-v3.1.yaml'],
}

type Loaded = { id: string; document: Document; ajv: Ajv }
const loaded = new Map<string, Loaded>()

/**
 * Parsing half a megabyte of YAML takes half a second, which the processes of all runs share: what was parsed is kept
 * as JSON.
 */
function parsed(file: string): Document {
  const text = readFileSync(join(import.meta.dirname, 'obie', file), 'utf8')
  const folder = join(packageRoot(), 'node_modules', '.cache', 'svc-obie')
  const kept = join(folder, `${shortHash(text)}.json`)
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8')) as Document
  const document = parse(text) as Document
  mkdirSync(folder, { recursive: true })
  // Renamed into place, so that no process reads half of it.
  writeFileSync(`${kept}.${process.pid}`, JSON.stringify(document))
  renameSync(`${kept}.${process.pid}`, kept)
  return document
}

/** Each file is read when it is first needed. */
function load(file: string): Loaded {
  const known = loaded.get(file)
  if (known !== undefined) return known
  const document = parsed(file)
  // Documents of OpenAPI 3.0 have keywords that JSON Schema does not know.
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false })
  addFormats.default(ajv)
  ajv.addSchema({ ...document, $id: file })
  const entry = { id: file, document, ajv }
  loaded.set(file, entry)
  return entry
}

/** What the description has to say against a request and its answer; nothing when both are as it demands. */
export function complaintsAbout(exchange: Exchange): string[] {
  // What a gateway says is not the API's.
  if (exchange.status > 500) return []
  const found = find(exchange)
  const title = `${exchange.version} ${exchange.method} ${exchange.path} ${String(exchange.status)}`
  if (found === undefined) return [400, 404, 405].includes(exchange.status) ? [] : [`${title}: not described`]
  const { file, pointer, operation } = found
  const complaints: string[] = []
  const isAccepted = exchange.status < 300
  if (isAccepted && operation.requestBody !== undefined) {
    complaints.push(...check(file, `${pointer}/requestBody`, operation.requestBody, exchange.requestBody))
  }
  const response = operation.responses[String(exchange.status)]
  if (response === undefined) complaints.push('this status is not described')
  else if (exchange.answerBody !== '') {
    const responsePointer = `${pointer}/responses/${String(exchange.status)}`
    complaints.push(...check(file, responsePointer, response, exchange.answerBody))
  }
  return complaints.map((complaint) => `${title}: ${complaint}`)
}

function find(exchange: Exchange): { file: Loaded; pointer: string; operation: OperationObject } | undefined {
  for (const name of FILES[exchange.version]) {
    const file = load(name)
    for (const [path, operations] of Object.entries(file.document.paths)) {
      if (!new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(exchange.path)) continue
      const method = exchange.method.toLowerCase()
      const operation = operations[method]
      if (operation === undefined) return undefined
      return { file, pointer: `#/paths/${escapePointer(path)}/${method}`, operation }
    }
  }
  return undefined
}

function check(file: Loaded, pointer: string, ref: Ref, text: string): string[] {
  const place = ref.$ref ?? pointer
  const content = ref.content ?? resolve(file.document, place).content ?? {}
  const type = Object.keys(content).find((each) => each.startsWith('application/json'))
  if (type === undefined) return []
  const validate = compile(file, `${place}/content/${escapePointer(type)}/schema`)
  const isValid = validate(JSON.parse(text))
  return isValid
    ? []
    : (validate.errors ?? []).map(
        (error) => `${error.instancePath} ${String(error.message)} ${JSON.stringify(error.params)}`,
      )
}

function compile({ id, ajv }: Loaded, pointer: string): ValidateFunction {
  const $ref = `${id}${pointer
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%23', '#'))
    .join('/')}`
  return ajv.getSchema($ref) ?? ajv.compile({ $ref })
}

function resolve(document: Document, pointer: string): Ref {
  let place: unknown = document
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    place = typeof place === 'object' && place !== null ? Reflect.get(place, name) : undefined
  }
  return (place ?? {}) as Ref
}

function escapePointer(text: string): string {
  return text.replaceAll('~', '~0').replaceAll('/', '~1')
}
