import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import type { Access, Operation } from '../../../src/wire/operation.ts'
import { CliError, reportError, usageError } from '../../base/errors.ts'
import { exitOfStatus } from '../../base/exit-codes.ts'
import { parsedJson } from '../../base/json.ts'
import { printable } from '../../base/text.ts'
import { refusalOf } from '../../client/api-error.ts'
import { noCredentials } from '../../client/auth/credentials.ts'
import { asPayer } from '../../client/auth/payer-session.ts'
import type { Prepared } from '../../client/build-request.ts'
import { sendProven } from '../../client/call.ts'
import type { Client, Reply } from '../../client/call.ts'
import { changing } from '../../kit/change.ts'
import { action } from '../../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../../kit/context.ts'
import { collect } from '../../kit/option-values.ts'
import { accessByPath, findOperation, methodsOf } from './api/operations.ts'
import { METHOD_SUMMARY, addToQuery, apiPath, askedBy, bodyOf, readFields, readHeaders } from './api/request.ts'

const FILE_BYTES_MAX = 1024 * 1024

export function addApi(command: Command, runtime: Runtime): void {
  changing(command)
    .argument('<method>', METHOD_SUMMARY)
    .argument('[path]', 'Path of the service, such as /api/v1/payments')
    .usage('[options] [method] <path>')
    .option('-f, --field <name=value>', 'Member of the JSON body or query; may be repeated', collect)
    .option('-F, --body-file <file>', 'Read the body from a file; - is standard input')
    .option('-H, --add-header <name:value>', 'Additional header; may be repeated', collect)
    .option('--platform', 'Act as the operator on paths that accept a merchant too')
    .option('--show-headers', 'Print the response status and headers to standard error')
    .addHelpText('after', HELP)
    .action(action(runtime, ApiOptions, api))
}

const HELP = `
The path decides the identity: the operator for paths of operators, the customer for /open-banking, the payer's session
for paths of payers, and the merchant for all others. --platform uses the operator where a path accepts both. An
"authorization" header of your own replaces it.

  -f name=text    a text          -f name:=json   any JSON: 3, true, null, [1,2]
  -f a.b=text     a member of a   -f tags[]=text  one more of a list

Examples:
  svc api /api/v1/whoami
  svc api GET /api/v1/payments -f limit=3 -q 'data[].payment_id'
  svc api POST /api/v1/payments -f amount=5.00 -f currency=GBP -f redirect_uri=https://shop.example/back
  svc api PUT /api/v1/portal/branding -F branding.json --dry-run
  svc api GET /metrics
`

const ApiOptions = z.object({
  field: z.array(z.string()).default([]),
  bodyFile: z.string().optional(),
  addHeader: z.array(z.string()).default([]),
  showHeaders: z.boolean().default(false),
  platform: z.boolean().default(false),
  dryRun: z.boolean().default(false),
})
type ApiOptions = z.infer<typeof ApiOptions>

type Asked = { prepared: Prepared; operation: Operation | undefined; pathname: string; access: readonly Access[] }

async function api(context: Context, { args, options }: CommandInput<ApiOptions>): Promise<CommandResult> {
  const client = context.client()
  const asked = await readRequest(context, { client, args, options })
  if (options.dryRun) return showRequest(context, asked)
  const reply = await sendProven(actingFor(context, client, asked), asked, asked.prepared)
  if (options.showHeaders) showHeaders(context, reply)
  if (reply.status < 400) {
    showBody(context, reply.text)
    return undefined
  }
  return refused(context, client, { ...asked, reply })
}

async function readRequest(
  { io, note }: Context,
  { client, args, options }: { client: Client; args: readonly string[]; options: ApiOptions },
): Promise<Asked> {
  const { method, path } = askedBy(args, options)
  const { pathname, search } = apiPath(path)
  const fields = readFields(options.field)
  const headers: Record<string, string> = { accept: 'application/json', ...readHeaders(options.addHeader) }
  const hasBody = method === 'POST' || method === 'PUT'
  if (options.bodyFile !== undefined && (!hasBody || fields.length > 0))
    throw usageError(hasBody ? '-f and -F both say the body: give one of them' : `a ${method} has no body`)
  if (!hasBody) addToQuery(search, fields)
  const operation = findOperation(method, pathname)
  const body = hasBody ? await bodyFor(io, { fields, file: options.bodyFile, headers }) : null
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
    throw usageError(`-F: ${file} is no JSON (${cause instanceof Error ? cause.message : String(cause)})`)
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
  throw usageError(`-F: ${cause instanceof Error ? cause.message : String(cause)}`)
}

/** Whoever brings a token of their own is sent with that alone. */
function actingFor({ io }: Context, client: Client, { prepared, access }: Asked): Client {
  if (prepared.headers['authorization'] !== undefined)
    return { ...client, credentials: { ...noCredentials(), headersFor: async () => ({}) } }
  return access.includes('payer') ? asPayer(client, io.env) : client
}

function showRequest(context: Context, { prepared: { method, url, headers, body } }: Asked): undefined {
  const shown = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /authorization|cookie|token|state/.test(name) ? '…' : value]),
  )
  context.print.record({
    item: { dry_run: true, method, url, headers: shown, body: body === null ? null : parsedOr(body) },
    id: url,
    lines: [
      ['Would send', `${method} ${url}`],
      [
        'Headers',
        Object.entries(shown)
          .map(([name, value]) => `${name}: ${value}`)
          .join(', '),
      ],
      ['Body', body ?? 'none'],
    ],
  })
  context.note('Nothing was changed.')
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Its body is what was asked for too, unless a part of another shape was; why, and what next, stands on standard error. */
function refused(context: Context, client: Client, { reply, operation, pathname, prepared }: Refused): CommandResult {
  const { status, text } = reply
  if (!context.print.isPartial) showBody(context, text)
  const input = { body: prepared.body === null ? undefined : parsedOr(prepared.body) }
  const error =
    operation === undefined
      ? unknownPath(`${prepared.method} ${pathname}`, pathname, status)
      : refusalOf({ client, operation, input, status, json: parsedOr(text) })
  return reportError(context.io, error, { json: context.json, color: 'auto', given: context.flags })
}

type Refused = Asked & { reply: Reply }

function unknownPath(asked: string, pathname: string, status: number): CliError {
  const ways = methodsOf(pathname).map((method) => `svc api ${method} ${pathname}`)
  return new CliError('NO_SUCH_OPERATION', `this version knows no ${asked}, which was answered with ${status}`, {
    exit: exitOfStatus(status),
    status,
    hint: ways.length === 0 ? 'svc api openapi -q paths' : ways.join('\n'),
  })
}

/** The status line and the headers of an answer, on standard error: what stands on standard output is the body alone. */
function showHeaders({ io }: Context, { status, headers }: Reply): void {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}: ${printable(each)}`),
  )
  io.stderr.write(`${[`HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n')}\n\n`)
}

/** The body: as it came where it is piped, with a line end behind it; laid out for people in a terminal, and in the form that was asked for. */
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
    return print.record({ item: json, id: idOf(json), lines: [] })
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  print.list({ items: rows, fields, columns: [], id: idOf, empty: '' })
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
