import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { resolve } from 'node:path'
import { hasBody } from '../../../src/wire/operation.ts'
import type { Access, Operation } from '../../../src/wire/operation.ts'
import { CliError, reportError, usageError, messageOf } from '../../base/errors.ts'
import { exitOfStatus } from '../../base/exit-codes.ts'
import { parsedJson, jsonOrText } from '../../base/json.ts'
import { printable } from '../../base/text.ts'
import { refusalOf } from '../../client/api-error.ts'
import { noCredentials } from '../../client/auth/credentials.ts'
import { asPayer } from '../../client/auth/payer-session.ts'
import type { Prepared } from '../../client/build-request.ts'
import { sendProven } from '../../client/call.ts'
import type { Client, Reply } from '../../client/call.ts'
import type { Flags } from '../../kit/action.ts'
import { CHANGING } from '../../kit/change.ts'
import { command, argument } from '../../kit/command.ts'
import type { Input } from '../../kit/command.ts'
import type { CommandResult, Context } from '../../kit/context.ts'
import { accessByPath, findOperation, methodsOf } from './api/operations.ts'
import { METHOD_SUMMARY, addToQuery, apiPath, askedBy, bodyOf, readFields, readHeaders } from './api/request.ts'

const FILE_BYTES_MAX = 1024 * 1024

type ApiRequest = { prepared: Prepared; operation: Operation | undefined; pathname: string; access: readonly Access[] }

const FLAGS = {
  method: argument('method', METHOD_SUMMARY),
  path: { value: 'path', summary: 'Path of the service, such as /api/v1/payments', positional: true },
  ...CHANGING,
  field: {
    short: '-f',
    value: 'name=value',
    summary: 'Member of the JSON body or query; may be repeated',
    repeats: true,
  },
  bodyFile: { short: '-F', value: 'file', summary: 'Read the body from a file; - is standard input' },
  addHeader: { short: '-H', value: 'name:value', summary: 'Additional header; may be repeated', repeats: true },
  platform: { summary: 'Use the operator identity on paths that accept a merchant too' },
  showHeaders: { summary: 'Print the response status and headers to standard error' },
} as const satisfies Flags
type ApiOptions = Input<typeof FLAGS>

export const api = command({
  command: 'api',
  summary: 'Send a request to any path of the API',
  details: `The path decides the identity: the operator for paths of operators, the customer for /open-banking, the payer's session
for paths of payers, and the merchant for all others. --platform uses the operator where a path accepts both. An
"authorization" header of your own replaces it.

  -f name=text    a text          -f name:=json   any JSON: 3, true, null, [1,2]
  -f a.b=text     a member of a   -f tags[]=text  one more of a list`,
  examples: [
    'svc api /api/v1/whoami',
    "svc api GET /api/v1/payments -f limit=3 -q 'data[].payment_id'",
    'svc api POST /api/v1/payments -f amount=5.00 -f currency=GBP -f redirect_uri=https://shop.example/back',
    'svc api PUT /api/v1/portal/branding -F branding.json --dry-run',
    'svc api GET /metrics',
  ],
  usage: '[options] [method] <path>',
  flags: FLAGS,
  async run(context, input) {
    const client = context.client()
    const asked = await readRequest(context, { client, input })
    if (input.dryRun) return showRequest(context, asked)
    const reply = await sendProven(actingFor(context, client, asked), asked, asked.prepared)
    if (input.showHeaders) showHeaders(context, reply)
    if (reply.status < 400) {
      showBody(context, reply.text)
      return undefined
    }
    return refused(context, client, { ...asked, reply })
  },
})

async function readRequest(
  { io, note }: Context,
  { client, input: options }: { client: Client; input: ApiOptions },
): Promise<ApiRequest> {
  const { method, path } = askedBy(
    options.path === undefined ? [options.method] : [options.method, options.path],
    options,
  )
  const { pathname, search } = apiPath(path)
  const fields = readFields(options.field)
  const headers: Record<string, string> = { accept: 'application/json', ...readHeaders(options.addHeader) }
  const operation = findOperation(method, pathname)
  const takesBody = operation === undefined ? method === 'POST' || method === 'PUT' : hasBody(operation)
  if (options.bodyFile !== undefined && (!takesBody || fields.length > 0))
    throw usageError(
      takesBody ? '-f and -F both say the body: give one of them' : `${method} ${pathname} takes no body`,
    )
  if (!takesBody) addToQuery(search, fields)
  const body = takesBody ? await bodyFor(io, { fields, file: options.bodyFile, headers }) : null
  if (operation?.errors.includes('IDEMPOTENCY_KEY_MISSING') === true && headers['x-idempotency-key'] === undefined) {
    headers['x-idempotency-key'] = randomUUID()
    note(`Idempotency key: ${headers['x-idempotency-key']}`)
  }
  const query = search.toString()
  const url = `${client.apiUrl}${pathname}${query === '' ? '' : `?${query}`}`
  const isRepeatable = method !== 'POST' || headers['x-idempotency-key'] !== undefined
  const access = accessFor(operation?.access ?? accessByPath(pathname), { pathname, platform: options.platform })
  return { prepared: { url, method, headers, body, isRepeatable }, operation, pathname, access }
}

/** @throws {CliError} exit code 2 for an operator at a path that takes none */
function accessFor(
  access: readonly Access[],
  { pathname, platform }: { pathname: string; platform: boolean },
): readonly Access[] {
  if (!platform || access.includes('sandbox')) return access
  if (!access.includes('platform')) throw usageError(`--platform: ${pathname} is not for operators`, 'svc help api')
  return ['platform']
}

type BodySource = { fields: ReturnType<typeof readFields>; file: string | undefined; headers: Record<string, string> }

/** @throws {CliError} exit code 2 for a file that can't be read, or is no JSON where JSON is sent */
async function bodyFor(io: Context['io'], { fields, file, headers }: BodySource): Promise<string | null> {
  if (file === undefined && fields.length === 0) return null
  headers['content-type'] ??= 'application/json'
  if (file === undefined) return JSON.stringify(bodyOf(fields))
  const bytes = await (file === '-' ? io.stdin.read(FILE_BYTES_MAX) : readAtMost(resolve(io.cwd, file))).catch(unread)
  const text = bytes.toString()
  if (!headers['content-type'].includes('json')) return text
  try {
    JSON.parse(text)
    return text
  } catch (cause) {
    throw usageError(`-F: ${file} is not valid JSON (${messageOf(cause)})`)
  }
}

/** Files that have no end, such as devices, are left at the limit. */
async function readAtMost(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(path, { end: FILE_BYTES_MAX })) chunks.push(Buffer.from(chunk))
  const bytes = Buffer.concat(chunks)
  if (bytes.length > FILE_BYTES_MAX) throw new RangeError(`${path} holds more than ${FILE_BYTES_MAX} bytes`)
  return bytes
}

function unread(cause: unknown): never {
  throw usageError(`-F: ${messageOf(cause)}`)
}

/** A request with a token of its own is sent with that alone. */
function actingFor({ io }: Context, client: Client, { prepared, access }: ApiRequest): Client {
  if (prepared.headers['authorization'] !== undefined)
    return { ...client, credentials: { ...noCredentials(), headersFor: async () => ({}) } }
  return access.includes('payer') ? asPayer(client, io.env) : client
}

function showRequest(context: Context, { prepared: { method, url, headers, body } }: ApiRequest): undefined {
  const shown = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /authorization|cookie|token|state/.test(name) ? '…' : value]),
  )
  context.print.record(
    { dry_run: true, method, url, headers: shown, body: body === null ? null : jsonOrText(body) },
    [
      ['Would send', `${method} ${url}`],
      [
        'Headers',
        Object.entries(shown)
          .map(([name, value]) => `${name}: ${value}`)
          .join(', '),
      ],
      ['Body', body ?? 'none'],
    ],
    { id: url },
  )
  context.note('Nothing was changed.')
}

/** Its body is what was asked for too, unless a part of another shape was; why, and what next, stands on standard error. */
function refused(
  context: Context,
  client: Client,
  { reply, operation, pathname, prepared }: RejectedRequest,
): CommandResult {
  const { status, text } = reply
  if (!context.print.isPartial) showBody(context, text)
  const input = { body: prepared.body === null ? undefined : jsonOrText(prepared.body) }
  const error =
    operation === undefined
      ? unknownPath(`${prepared.method} ${pathname}`, pathname, status)
      : refusalOf({ client, operation, input, status, json: jsonOrText(text) })
  return reportError(context.io, error, { json: context.json, color: 'auto', given: context.flags })
}

type RejectedRequest = ApiRequest & { reply: Reply }

function unknownPath(asked: string, pathname: string, status: number): CliError {
  const ways = methodsOf(pathname).map((method) => `svc api ${method} ${pathname}`)
  return new CliError(
    'NO_SUCH_OPERATION',
    `this version of svc has no ${asked}; the service responded with ${status}`,
    {
      exit: exitOfStatus(status),
      status,
      hint: ways.length === 0 ? 'svc api openapi -q paths' : ways.join('\n'),
    },
  )
}

function showHeaders({ io }: Context, { status, headers }: Reply): void {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}: ${printable(each)}`),
  )
  io.stderr.write(`${[`HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n')}\n\n`)
}

/**
 * The body: as it came where it is piped, with a line end behind it; laid out for people in a terminal, and in the
 * form that was asked for.
 */
function showBody({ io, print }: Context, text: string): void {
  const json = parsedJson(text)
  if (json !== undefined && print.isMachine) return showData(print, json)
  if (!io.stdout.isTTY) return io.stdout.write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
  const laidOut = json === undefined ? text : JSON.stringify(json, null, 2)
  if (laidOut !== '') io.stdout.write(`${printable(laidOut, 'lines').trimEnd()}\n`)
}

function showData(print: Context['print'], json: unknown): void {
  const rows = rowsOf(json)
  // These forms are of rows; all others print a value of any shape.
  if (rows === undefined || !['csv', 'id', 'jsonl'].includes(print.mode) || print.isPartial)
    return print.record(json, [], { id: idOf(json) })
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  print.list(rows, { fields, columns: [], id: idOf })
}

type Row = Readonly<Record<string, unknown>>

function rowsOf(json: unknown): Row[] | undefined {
  const rows = Array.isArray(json) ? json : Object(json).data
  return Array.isArray(rows) && rows.every((row) => typeof row === 'object' && row !== null) ? rows : undefined
}

/** What names a thing: `id`, else its first member that is called like one. */
function idOf(json: unknown): string {
  const members = Object.entries(Object(json))
  const [, id = ''] = members.find(([name]) => name === 'id') ?? members.find(([name]) => name.endsWith('_id')) ?? []
  return String(id)
}
