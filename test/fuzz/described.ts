import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isOpenBanking } from '../../src/http/open-banking-errors.ts'
import { openApiDocument } from '../../src/openapi/document.ts'
import type { DocumentedService } from '../../src/openapi/security.ts'
import type { Json } from '../../src/openapi/schemas.ts'
import type { Operation } from '../../src/wire/operation.ts'

/** An operation as the OpenAPI document describes it to clients. */
export type Described = {
  query: Record<string, { schema: Json; required: boolean }>
  body: Json
  components: Record<string, Json>
  /** What the document has to say against a response; nothing where it is as described. */
  complaint(status: number, contentType: string, text: string): string | undefined
}

type Document = {
  paths: Record<string, Record<string, OperationObject>>
  components: { schemas: Record<string, Json> }
}
type OperationObject = {
  parameters: { name: string; in: string; required: boolean; schema: Json }[]
  requestBody?: { content: Record<string, { schema: Json }> }
  responses: Record<string, { content?: Record<string, { schema: Json }> }>
}

/** Reads the documents of both surfaces. */
export function describedBy(service: DocumentedService): (operation: Operation) => Described {
  const ajv = new Ajv2020({ strict: false, validateSchema: false })
  addFormats.default(ajv)
  const documents = { a: load('a'), b: load('b') }

  function load(surface: 'a' | 'b'): Document {
    const document = openApiDocument(service, surface)
    ajv.addSchema({ ...document, $id: surface })
    // Made by ourselves; its form is tested in test/openapi.
    return document as Document
  }

  function describe(operation: Operation): Described {
    const surface = isOpenBanking(operation.path) ? 'a' : 'b'
    const document = documents[surface]
    const method = operation.method.toLowerCase()
    const found = document.paths[operation.path]?.[method]
    if (found === undefined) throw new Error(`${operation.name} is not in the document`)
    const pointer = `${surface}#/paths/${escaped(operation.path)}/${method}/responses`
    const queries = found.parameters.filter((each) => each.in === 'query')
    return {
      query: Object.fromEntries(queries.map(({ name, required, schema }) => [name, { required, schema }])),
      body: found.requestBody?.content['application/json']?.schema ?? {},
      components: document.components.schemas,
      complaint: (status, contentType, text) => {
        const response = found.responses[String(status)]
        if (response === undefined) return `the status ${String(status)} is not described`
        const [type = ''] = contentType.split(';')
        if (response.content === undefined) return text === '' ? undefined : 'a body where none is described'
        if (response.content[type] === undefined) return `the content type ${type} is not described`
        if (type !== 'application/json') return undefined
        const $ref = `${pointer}/${String(status)}/content/application~1json/schema`
        const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref })
        if (validate(JSON.parse(text))) return undefined
        return ajv.errorsText(validate.errors)
      },
    }
  }

  const known = new Map<string, Described>()
  return (operation) => {
    const described = known.get(operation.name) ?? describe(operation)
    known.set(operation.name, described)
    return described
  }
}

function escaped(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))
}
