import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Test } from 'tap'
import { request } from 'undici'
import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { freePort } from './free-port.ts'
import { startWorker } from '../../src/worker.ts'
import type { Answer, TestService } from './app.ts'

export function newKey(): string {
  return randomBytes(32).toString('base64')
}

/** Another process's app over the same database, with other keys. */
export async function appWithKeys(
  t: Test,
  { app }: Pick<TestService, 'app'>,
  [encryptionKey = '', ...encryptionKeysPrevious]: readonly string[],
): Promise<App> {
  const port = await freePort()
  const other = await makeApp({ ...app.config, port, encryptionKey, encryptionKeysPrevious })
  t.teardown(() => other.close())
  return other
}

/** The same with its API, its worker and no identity provider; `stop` ends it before the test does. */
export async function serviceWithKeys(
  t: Test,
  service: TestService,
  keys: readonly string[],
): Promise<TestService & { stop(): Promise<void> }> {
  const app = await appWithKeys(t, service, keys)
  const api = await startApi(app)
  const worker = startWorker(app)
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= Promise.all([api.stop(), worker.stop()]).then(() => undefined))
  t.teardown(stop)
  const call: TestService['call'] = (method, path, { merchant, headers = {}, body } = {}) => {
    const proof = merchant === undefined ? {} : { 'x-merchant-client-id': merchant.clientId }
    return ask(api.url + path, { method, headers: { ...proof, ...headers }, body })
  }
  return { ...service, app, url: api.url, call, stop }
}

type RequestInput = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  headers: Record<string, string>
  body?: unknown
}

/** A request without an identity provider. */
async function ask(url: string, { method, headers, body }: RequestInput): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const sent = body === undefined ? null : JSON.stringify(body)
  const response = await request(url, { method, headers: { ...type, ...headers }, body: sent })
  const text = await response.body.text()
  return { status: response.statusCode, headers: response.headers, text, body: JSON.parse(text) }
}

/** The columns that hold a value that looks sealed, with the keys' ids: found by looking at every text there is. */
export async function sealedColumnsOf(owner: pg.Client): Promise<Map<string, Set<string>>> {
  const { rows } = await owner.query<{ schema: string; table: string; column: string }>(`
    select c.table_schema as schema, c.table_name as table, c.column_name as column
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and c.table_schema not in ('pg_catalog', 'information_schema')
  `)
  const found = new Map<string, Set<string>>()
  for (const { schema, table, column } of rows) {
    const values = await owner.query<{ kid: string }>(
      `select distinct (regexp_matches("${column}"::text, 'v1\\.([0-9a-f]{8})\\.[\\w-]{40,}\\.', 'g'))[1] as kid
       from "${schema}"."${table}"`,
    )
    const name = schema === 'public' ? `${table}.${column}` : `${schema}.${table}.${column}`
    if (values.rows.length > 0) found.set(name, new Set(values.rows.map(({ kid }) => kid)))
  }
  return found
}
