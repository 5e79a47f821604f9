import type { z } from 'zod'
import type { ErrorCode } from '../lib/errors.ts'
import type { MerchantPermission, Permission, PlatformPermission, Scope } from '../lib/permissions.ts'

/**
 * The contract of one operation, written once. The route table, the CLI's typed client, the OpenAPI document and the
 * tests read the same declaration; an operation that is not declared does not exist.
 */
export type Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Headers extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Replies extends Record<number, z.ZodType> = Record<number, z.ZodType>,
> = {
  /** Unique, camelCase: the operationId of the OpenAPI document. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The full path, with parameters in braces: `/api/v1/payments/{id}`. */
  path: string
  /** One line for people. */
  summary: string
  /** Who may call it; more than one where several kinds of credential do. */
  access: readonly Access[]
  /**
   * What a merchant's or operator's role must allow (decisions 30 and 31), one for each where both may call it; absent
   * where no role is asked.
   */
  permission?: Permission | PermissionOfEach
  /** Of a customer's operation: the scopes of which the token must have one (decision 9). */
  scopes?: readonly Scope[]
  /** Whether a merchant may do it that operators have disabled; reading it may anyway. */
  evenIfInactive?: true
  params: Params
  query: Query
  /** The headers that mean something to the operation, by their lower-case names. */
  headers: Headers
  body: Body
  /** What the body is where a checkout token says the rest (decision 66). */
  bodyWithCheckoutToken?: z.ZodType
  /** Whether the request may come without a body. */
  bodyOptional?: boolean
  /** Whether its list is also given as CSV, to a request that accepts `text/csv` rather than JSON. */
  csv?: true
  /** Of one that answers with server-sent events: what each frame's data is, by its event. */
  stream?: Readonly<Record<string, z.ZodType>>
  /** What it answers, by status. */
  replies: Replies
  /** The expected failures beyond those every operation has (validation, authentication, unavailable). */
  errors: readonly ErrorCode[]
}

/** What an operation for merchants and operators asks of either. */
export type PermissionOfEach = { readonly merchant: MerchantPermission; readonly platform: PlatformPermission }

/**
 * Kinds of credential: a merchant's, an operator's of the platform, a bank's customer's on Surface A (decision 58), the
 * payer's capability for one payment (`X-Payment-State`, decision 66), what a merchant's server lets a payer's browser
 * start a payment with (`X-Checkout-Token`, the same), a payer's session in the hub, the bank's own signature, whoever
 * works in the sandbox (an operator, or without an identity provider anyone: decision 60), or none at all.
 */
export type Access =
  | 'merchant'
  | 'platform'
  | 'customer'
  | 'payment-state'
  | 'checkout-token'
  | 'payer'
  | 'bank'
  | 'sandbox'
  | 'anyone'

/** Declares an operation, keeping the exact types of its schemas. */
export function operation<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Replies extends Record<number, z.ZodType>,
>(declaration: Operation<Params, Query, Headers, Body, Replies>): Operation<Params, Query, Headers, Body, Replies> {
  return declaration
}

/** An operation that answers with server-sent events: `stream` has the schema of each event's data. */
export type StreamOperation = Operation & { stream: Readonly<Record<string, z.ZodType>> }

/** Declares an operation that answers with server-sent events. */
export function streamOperation<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Replies extends Record<number, z.ZodType>,
>(
  declaration: Operation<Params, Query, Headers, Body, Replies> & Pick<StreamOperation, 'stream'>,
): Operation<Params, Query, Headers, Body, Replies> & Pick<StreamOperation, 'stream'> {
  return declaration
}

/** What the operation asks of a caller of that kind; undefined where it asks for no role. */
export function permissionFor({ permission }: Operation, kind: keyof PermissionOfEach): Permission | undefined {
  return typeof permission === 'object' ? permission[kind] : permission
}

/** Everything that the operation asks of one caller or another. */
export function permissionsAsked({ permission }: Operation): Permission[] {
  if (permission === undefined) return []
  return typeof permission === 'object' ? [permission.merchant, permission.platform] : [permission]
}

/** Failures that any operation can have, those of a request with a body, and those of a credential. */
const ALWAYS: readonly ErrorCode[] = ['VALIDATION_FAILED', 'HTTPS_REQUIRED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']
const WITH_BODY: readonly ErrorCode[] = ['INVALID_JSON', 'UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE']
const OF_TOKEN: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'TOKEN_EXPIRED',
  'FORBIDDEN_ROLE',
  'WRONG_REALM',
  'IDP_UNAVAILABLE',
]
const OF_ACCESS: Readonly<Record<Access, readonly ErrorCode[]>> = {
  merchant: [...OF_TOKEN, 'UNKNOWN_CLIENT'],
  platform: OF_TOKEN,
  customer: ['UNAUTHENTICATED', 'TOKEN_EXPIRED', 'FORBIDDEN_SCOPE', 'WRONG_REALM', 'IDP_UNAVAILABLE', 'NOT_ACCEPTABLE'],
  sandbox: OF_TOKEN,
  'payment-state': ['RATE_LIMITED'],
  'checkout-token': [
    'UNAUTHENTICATED',
    'CHECKOUT_TOKEN_INVALID',
    'CHECKOUT_TOKEN_EXPIRED',
    'CHECKOUT_ORIGIN_NOT_ALLOWED',
    'MERCHANT_INACTIVE',
    'RATE_LIMITED',
  ],
  payer: ['UNAUTHENTICATED', 'TOKEN_EXPIRED', 'RATE_LIMITED'],
  bank: [],
  anyone: [],
}

/** Whether requests of the operation carry a body. */
export function hasBody({ method }: Operation): boolean {
  return method === 'POST' || method === 'PUT'
}

/** Whether the operation is closed to a merchant that operators have disabled: it changes something (decision 29). */
export function stopsWhileInactive({ method, access, evenIfInactive }: Operation): boolean {
  return access.includes('merchant') && method !== 'GET' && evenIfInactive !== true
}

/** Every expected failure of an operation: its own and those that come with its kind. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const ofAccess = operation.access.flatMap((access) => OF_ACCESS[access])
  const ofState: readonly ErrorCode[] = stopsWhileInactive(operation) ? ['MERCHANT_INACTIVE'] : []
  const ofBody = hasBody(operation) ? WITH_BODY : []
  return [...new Set([...ALWAYS, ...ofBody, ...ofAccess, ...ofState, ...operation.errors])]
}

/** What a client passes to an operation. */
export type OperationInput<O extends Operation> = {
  params?: z.input<O['params']>
  query?: z.input<O['query']>
  headers?: z.input<O['headers']>
  body?: z.input<O['body']>
}

/** What an operation answers on success, whichever of its statuses it has. */
export type OperationReply<O extends Operation> = {
  [Status in keyof O['replies'] & number]: { status: Status; body: z.output<O['replies'][Status]> }
}[keyof O['replies'] & number]
