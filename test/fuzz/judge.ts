import { HEADER_MARK, HTML_MARK } from './corpora.ts'
import type { Described } from './described.ts'
import type { Sent } from './requests.ts'
import type { World } from './world.ts'

export type Got = { status: number; headers: Record<string, string | string[] | undefined>; text: string; ms: number }

/** Responses of the fifth hundred that are an answer: a bank, or the work behind a clock, that is not there. */
const ANSWERS: Readonly<Record<string, RegExp>> = {
  testBank: /BANK_NOT_CONFIGURED|BANK_UNAVAILABLE/,
  registerAtBank: /BANK_NOT_CONFIGURED|BANK_UNAVAILABLE/,
  setSoftwareStatement: /BANK_NOT_CONFIGURED/,
}

/** What is wrong with a response, in one line; undefined for a good one. */
export function faultOf(world: World, sent: Sent, got: Got, described: Described | undefined): string | undefined {
  return (
    serverError(sent, got) ??
    notAsDescribed(sent, got, described) ??
    (/html/.test(typeOf(got)) && got.text.includes(HTML_MARK)
      ? 'text of the request is HTML of the response'
      : undefined) ??
    (got.headers[HEADER_MARK] === undefined ? undefined : 'text of the request is a header of the response') ??
    leak(world, sent, got) ??
    foreign(world, sent, got)
  )
}

function serverError({ operation }: Sent, { status, headers, text }: Got): string | undefined {
  if (status < 500) return undefined
  const isAnswer = operation !== undefined && ANSWERS[operation.name]?.test(text) === true
  if (isAnswer && (status !== 503 || headers['retry-after'] !== undefined || /NOT_CONFIGURED/.test(text)))
    return undefined
  return `responded ${String(status)}`
}

const UNKNOWN_ROUTE = /^\{"message":"Route /

function notAsDescribed({ operation, method }: Sent, got: Got, described?: Described): string | undefined {
  if (operation === undefined || described === undefined || method !== operation.method) return undefined
  // A path that became another one, or is none any more.
  if (got.status === 404 && UNKNOWN_ROUTE.test(got.text)) return undefined
  // What is no HTTP any more does not reach the API.
  if ([400, 431].includes(got.status) && got.text === '') return undefined
  const complaint = described.complaint(got.status, typeOf(got), got.text)
  return complaint === undefined ? undefined : `is not as described: ${complaint}`
}

function typeOf({ headers }: Got): string {
  return String(headers['content-type'] ?? '')
}

const OPAQUE = /[\w.~+/=-]{8,}/g
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

/** A secret in a response whose operation does not exist to show it. */
function leak({ secrets }: World, { operation }: Sent, { text, headers }: Got): string | undefined {
  for (const [found] of `${text}\n${JSON.stringify(headers)}`.matchAll(OPAQUE)) {
    const shownBy = secrets.get(found)
    if (shownBy === undefined || (operation !== undefined && shownBy.has(operation.name))) continue
    return `shows the secret ${found.slice(0, 6)}…`
  }
  return undefined
}

/** The first secret in lines of the log. */
export function leakInLog({ secrets }: World, lines: string): string | undefined {
  for (const [found] of lines.matchAll(OPAQUE)) if (secrets.has(found)) return found
  return undefined
}

/** A thing of one merchant in a response to another, who has never named it. */
function foreign(
  world: World,
  { caller, path, body, headers, operation }: Sent,
  { status, text }: Got,
): string | undefined {
  const { tenant } = caller
  if (tenant === undefined || operation === undefined) return undefined
  const named = world.named.get(tenant) ?? new Set()
  world.named.set(tenant, named)
  for (const [id] of `${path} ${body ?? ''} ${JSON.stringify(headers)}`.matchAll(UUID)) named.add(id)
  for (const [id] of status < 300 ? text.matchAll(UUID) : []) {
    if (named.has(id)) continue
    const owner = world.owners.get(id)
    if (owner === undefined) world.owners.set(id, tenant)
    else if (owner !== tenant) return `shows ${id}, which belongs to another merchant`
  }
  return undefined
}
