import { z } from 'zod'
import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import type { Client } from './call.ts'
import { usageError } from '../base/errors.ts'

export type Prepared = {
  url: string
  method: Operation['method']
  headers: Record<string, string>
  body: string | null
  isRepeatable: boolean
}

const Texts = z.record(z.string(), z.union([z.string(), z.number()]).optional())

export function prepare(client: Client, operation: Operation, input: OperationInput<Operation>): Prepared {
  const headers: Record<string, string> = { accept: 'application/json' }
  for (const [name, value] of Object.entries(Texts.parse(input.headers ?? {}))) {
    if (value !== undefined) headers[name] = String(value)
  }
  const body = input.body === undefined ? null : JSON.stringify(input.body)
  if (body !== null) headers['content-type'] = 'application/json'
  const isRepeatable = operation.method !== 'POST' || headers['x-idempotency-key'] !== undefined
  return { url: urlOf(client, operation, input), method: operation.method, headers, body, isRepeatable }
}

export function urlOf(client: Client, operation: Operation, input: OperationInput<Operation>): string {
  const params = Texts.parse(input.params ?? {})
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? '')
    if (/^\.{0,2}$/.test(value)) throw usageError(`"${value}" is no ${name}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(Texts.parse(input.query ?? {}))) {
    if (value !== undefined) query.set(name, String(value))
  }
  const search = query.toString()
  return `${client.apiUrl}${path}${search === '' ? '' : `?${search}`}`
}
