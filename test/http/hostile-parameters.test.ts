import { randomUUID } from 'node:crypto'
import t from 'tap'
import { z } from 'zod'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { createPayment, testService } from '../support/app.ts'

const service = await testService(t)
const merchant = await service.merchant()
await createPayment(service, merchant)

/** What stands in no example: text that the database can't hold, ends of ranges, other alphabets, forged cursors. */
const HOSTILE = [
  '%00',
  '%ed%a0%80',
  "'",
  '..%2f..%2f',
  '9'.repeat(40),
  '1e400',
  'infinity',
  '%2B275760-09-13T00:00:00.000Z',
  '-271821-04-20T00:00:00.000Z',
  'x'.repeat(3_000),
  ...[{}, ['a\u0000b', 'x'], ['9999-99-99', randomUUID()], { at: 'x', id: '\u0000' }].map((value) =>
    Buffer.from(JSON.stringify(value)).toString('base64url'),
  ),
]

const HEADERS = {
  'x-merchant-client-id': merchant.clientId,
  'x-platform-user': randomUUID(),
  'x-customer-id': 'ada',
}

/** The credentials that an operation takes, without those that it would reject as a second kind. */
function headersOf({ access }: Operation): Record<string, string> {
  if (access.includes('merchant')) return { 'x-merchant-client-id': HEADERS['x-merchant-client-id'] }
  if (access.includes('platform') || access.includes('sandbox'))
    return { 'x-platform-user': HEADERS['x-platform-user'] }
  return access.includes('customer') ? { 'x-customer-id': HEADERS['x-customer-id'] } : {}
}

function membersOf(schema: z.ZodType): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/** The addresses of an operation with a hostile value in one of its parameters. */
function addressesOf({ path, params, query }: Operation, value: string): string[] {
  const names = membersOf(params)
  const valid = (without?: string): string =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === without ? value : randomUUID()))
  return [...names.map((name) => valid(name)), ...membersOf(query).map((name) => `${valid()}?${name}=${value}`)]
}

t.test('no value of a path or a query is more than the service can answer', async (t) => {
  const failed: string[] = []
  const statuses = new Map<number, number>()
  for (const { operation } of [...ROUTES, ...SANDBOX_ROUTES]) {
    if (operation.stream !== undefined) continue
    const body = operation.method === 'GET' ? {} : { body: {} }
    const headers = { ...headersOf(operation), 'x-idempotency-key': randomUUID() }
    const addresses = HOSTILE.flatMap((value) => addressesOf(operation, value))
    const answers = await Promise.all(
      addresses.map(async (path) => ({ path, ...(await service.call(operation.method, path, { headers, ...body })) })),
    )
    for (const { path, status } of answers) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status >= 500) failed.push(`${operation.name}: ${status} ${path}`)
    }
  }
  t.same(failed, [])
  t.ok((statuses.get(400) ?? 0) > 1_000 && (statuses.get(404) ?? 0) > 300, JSON.stringify([...statuses]))
})
