import { z } from 'zod'
import { ERROR_STATUS } from '../../src/http/error-status.ts'
import { routesOf } from '../../src/http/routes.ts'
import { errorsOf, permissionsOfOperation } from '../../src/wire/operation.ts'
import type { Access, Operation } from '../../src/wire/operation.ts'
import { block, code, codes, pageHead, sentence, table } from './markdown.ts'

const CALLERS: Readonly<Record<Access, string>> = {
  merchant: 'merchant',
  platform: 'operator',
  customer: "bank's customer",
  'payment-state': 'payer (`X-Payment-State`)',
  'checkout-token': 'payer (`X-Checkout-Token`)',
  payer: 'payer (session)',
  bank: 'bank (signed callback)',
  sandbox: 'operator, in the sandbox',
  anyone: 'anyone',
}

/** Groups of the page, by the first part of the path after the version; the first that matches has the operation. */
const GROUPS: readonly { title: string; paths: RegExp }[] = [
  { title: 'Payments', paths: /^\/api\/v1\/payments/ },
  { title: 'Checkout, banks and callbacks', paths: /^\/api\/v1\/(checkout|banks|bank)\b/ },
  { title: 'Merchant portal', paths: /^\/api\/v1\/(portal|events)\b/ },
  { title: 'Payer hub', paths: /^\/api\/v1\/payer\b/ },
  { title: 'Operators', paths: /^\/api\/v1\/admin\b/ },
  { title: 'Service and identity', paths: /^\/api\/v1\/(service|whoami)\b/ },
  { title: 'Open Banking API', paths: /^\/open-banking\// },
  { title: 'Sandbox only', paths: /^\/api\/v1\/sandbox\b/ },
]

export function operationsPage(): string {
  const all = routesOf('sandbox').map(({ operation }) => operation)
  const placed = all.map((operation) => {
    const group = GROUPS.find(({ paths }) => paths.test(operation.path))
    if (group === undefined) throw new Error(`docs/generate/operations.ts: no group for ${operation.path}`)
    return { group, operation }
  })
  const groups = GROUPS.map((group) => {
    const own = placed.filter((each) => each.group === group).map(({ operation }) => operation)
    return `## ${group.title}\n\n${overview(own)}\n${own.map(detail).join('\n')}`
  })
  return [head(all), ...groups].join('\n')
}

function head(all: readonly Operation[]): string {
  const shared = sharedErrors(all)
  return `${pageHead(
    'Operations',
    `All ${all.length} operations of the API. Schemas of bodies and replies are in the OpenAPI documents of a running
service: \`/openapi.json\` and, for the Open Banking API, \`/open-banking/v1/openapi.json\`.`,
  )}
${block('sh', 'npx svc api openapi -o yaml\nnpx svc api openapi --surface a -o yaml')}
Every operation can also return ${shared.map(code).join(', ')}; operations with a body also ${codes([
    'INVALID_JSON',
    'UNSUPPORTED_MEDIA_TYPE',
    'BODY_TOO_LARGE',
  ])}. The lists below have the other codes: [what they mean](errors.md).
A member of a query or a body that ends in \`?\` is optional.
`
}

/** The codes that each operation can answer with. */
function sharedErrors(all: readonly Operation[]): string[] {
  const [first, ...rest] = all.map((operation) => errorsOf(operation))
  return (first ?? []).filter((errorCode) => rest.every((codesOfOne) => codesOfOne.includes(errorCode)))
}

function overview(operations: readonly Operation[]): string {
  return table(
    ['Method and path', 'Summary', 'Caller', 'Permission'],
    operations.map((operation) => [
      code(`${operation.method} ${operation.path}`),
      sentence(operation.summary),
      operation.access.map((access) => CALLERS[access]).join(', '),
      permissionText(operation),
    ]),
  )
}

function permissionText(operation: Operation): string {
  const scopes = (operation.scopes ?? []).map((scope) => `scope ${code(scope)}`)
  return [...permissionsOfOperation(operation), ...scopes].join(', ') || '–'
}

function detail(operation: Operation): string {
  const always = new Set(['INVALID_JSON', 'UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE'])
  const shared = new Set(sharedErrors(routesOf('sandbox').map((route) => route.operation)))
  const own = errorsOf(operation)
    .filter((errorCode) => !always.has(errorCode) && !shared.has(errorCode))
    .toSorted((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b] || a.localeCompare(b))
  const statuses = Object.keys(operation.replies).map((status) => code(status))
  const forms = `${operation.csv ? ', also as CSV (`Accept: text/csv`)' : ''}${operation.stream ? ', as server-sent events' : ''}`
  const byStatus = Map.groupBy(own, (errorCode) => ERROR_STATUS[errorCode])
  const lines = Array.from(byStatus, ([status, errorCodes]) => `- ${status}: ${codes(errorCodes)}`)
  const inputs = [...membersOf('Query', operation.query), ...membersOf('Body', operation.body)]
  const items = [...inputs, ...lines]
  return `### ${operation.name}

${code(`${operation.method} ${operation.path}`)} returns ${statuses.join(' or ')}${forms}.
${items.length === 0 ? '' : `\n${items.join('\n')}\n`}`
}

/** A line with the names that a schema of an object takes; the optional ones end with a question mark. */
function membersOf(title: string, schema: z.ZodType): string[] {
  const { anyOf, ...whole } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const forms = [whole, ...(anyOf ?? [])].filter(({ properties }) => properties !== undefined)
  const names = [...new Set(forms.flatMap(({ properties }) => Object.keys(properties ?? {})))]
  if (names.length === 0) return []
  return [
    `- ${title}: ${codes(names.map((name) => (forms.every(({ required }) => required?.includes(name)) ? name : `${name}?`)))}`,
  ]
}
