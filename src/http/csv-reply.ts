import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { prefersType } from '../lib/accept-header.ts'
import { csvOf } from '../lib/csv.ts'
import type { Operation } from '../wire/operation.ts'
import { sendText } from './reply.ts'
import { queryOf } from './router.ts'

/** The first line names the columns, which RFC 4180 lets the type say. */
const CSV_TYPE = 'text/csv; charset=utf-8; header=present'

/** Whether the request wants the operation's list as CSV: only where it says so, and the operation has it. */
export function wantsCsv({ csv }: Operation, req: IncomingMessage): boolean {
  return csv === true && prefersType(req.headers.accept, CSV_TYPE, 'application/json')
}

/** A page of a list, as decision 25 has them. */
const Page = z.object({ data: z.array(z.unknown()), next_cursor: z.string().nullable() })

export type CsvReply = { operation: Operation; body: unknown; publicUrl: string; headers: Record<string, string> }

/**
 * Answers a page as CSV, one line for each row. What the JSON form says beside its rows stands in headers: where there
 * are more, `Link` leads to them with the same filters, and `x-next-cursor` is the cursor alone.
 */
export function sendCsv(res: ServerResponse, { operation, body, publicUrl, headers }: CsvReply): void {
  const { data, next_cursor: cursor } = Page.parse(body)
  const name = operation.path.split('/').at(-1) ?? 'list'
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
 * The members of a row as the operation declares them: also where there is no row, and in this order.
 * @throws {TypeError} if the response is not a list of objects
 */
export function columnsOf(operation: Operation): string[] {
  const list = operation.replies[200]
  const rows = list instanceof z.ZodObject ? list.shape['data'] : undefined
  const row = rows instanceof z.ZodArray ? rows.element : undefined
  if (row instanceof z.ZodObject) return Object.keys(row.shape)
  throw new TypeError(`${operation.name} has no list of objects to show as CSV`)
}
