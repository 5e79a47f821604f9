import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { prefersType } from '../lib/accept-header.ts'
import { csvOf } from '../lib/csv.ts'
import type { Operation } from '../wire/operation.ts'
import { sendText } from './reply.ts'
import { queryOf } from './router.ts'

/** `header=present`: the first line names the columns (RFC 4180). */
const CSV_TYPE = 'text/csv; charset=utf-8; header=present'

/** Whether the request accepts CSV rather than JSON, and the operation serves it. */
export function wantsCsv({ csv }: Operation, req: IncomingMessage): boolean {
  return csv === true && prefersType(req.headers.accept, CSV_TYPE, 'application/json')
}

/** A page of a list (decision 25). One resource is a list of one row. */
const Page = z.union([
  z.object({ data: z.array(z.unknown()), next_cursor: z.string().nullable() }),
  z.looseObject({}).transform((row) => ({ data: [row], next_cursor: null })),
])

export type CsvReply = { operation: Operation; body: unknown; publicUrl: string; headers: Record<string, string> }

/**
 * Responds with a page as CSV, one line for each row. Headers have the other members of the JSON form: if there are more
 * rows, `Link` is the address of the next page with the same filters, and `x-next-cursor` is its cursor.
 */
export function sendCsv(res: ServerResponse, { operation, body, publicUrl, headers }: CsvReply): void {
  const { data, next_cursor: cursor } = Page.parse(body)
  const name = operation.path.split('/').findLast((part) => !part.startsWith('{')) ?? 'list'
  sendText(res, 200, csvOf(data, columnsOf(operation), { header: true, lineEnd: '\r\n' }), {
    'content-type': CSV_TYPE,
    'content-disposition': `attachment; filename="${name}.csv"`,
    ...(cursor === null
      ? {}
      : { link: `<${nextPage(res.req, publicUrl, cursor)}>; rel="next"`, 'x-next-cursor': cursor }),
    ...headers,
  })
}

function nextPage(req: IncomingMessage, publicUrl: string, cursor: string): string {
  const [path = ''] = (req.url ?? '').split('?', 1)
  const params = queryOf(req)
  params.set('cursor', cursor)
  return `${publicUrl}${path}?${params.toString()}`
}

/**
 * The columns: the members of a row in the order of their declaration, so that an empty list has them too.
 * @throws {TypeError} if the response has neither rows nor members
 */
export function columnsOf(operation: Operation): string[] {
  const reply = operation.replies[200]
  const rows = reply instanceof z.ZodObject ? reply.shape['data'] : undefined
  const row = rows instanceof z.ZodArray ? rows.element : reply
  if (row instanceof z.ZodObject) return Object.keys(row.shape)
  throw new TypeError(`${operation.name} has nothing to show as CSV`)
}
