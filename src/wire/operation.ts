import { z } from 'zod'
import type { ErrorCode } from '../lib/errors.ts'
import type { MerchantPermission, Permission, PlatformPermission, Scope } from '../lib/permissions.ts'
import { NoBody } from './common.ts'

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
  /** One line: imperative, short, without a full stop. Shown in OpenAPI and in the generated docs. */
  summary: string
  /** Rules and limits that callers must know beyond the summary, in full sentences. Shown in OpenAPI. */
  description?: string
  /** The kinds of credential that it accepts. */
  access: readonly Access[]
  /**
   * The permission that a merchant's or operator's role must have (decisions 30 and 31), one for each where both may call
   * it; absent where no role is required.
   */
  permission?: Permission | PermissionOfEach
  /** For customers' operations: the token must have one of these scopes (decision 9). */
  scopes?: readonly Scope[]
  /**
   * Whether people in live mode must have signed in shortly before, with a second factor, because it moves money, makes
   * credentials, or sends events or payers elsewhere (decisions 326 and 406). Programs need not.
   */
  needsFreshSignIn?: true
  /** Whether programs are rejected in live mode: a stolen secret must not take a person's second factor away. */
  isForPeople?: true
  /**
   * Whether a merchant's calls count against its rate of changes (http/rate-limit.ts), because each may add an action to the
   * audit trail, which is kept for good. Not where access or a payee is removed: that must be possible after any flood.
   */
  isRecorded?: true
  /** Since when it is deprecated, and when it will be gone, six months later at least (decision 34). */
  deprecated?: Deprecated
  /** Whether a merchant that operators have disabled may call it (contract §Disabled merchants); it may always read. */
  evenIfInactive?: true
  params: Params
  query: Query
  /** The headers that the operation reads, by their lower-case names. */
  headers: Headers
  body: Body
  /** The body of a request with a checkout token, which has the other fields in it (decision 66). */
  bodyWithCheckoutToken?: z.ZodType
  /** Whether the request may come without a body. */
  bodyOptional?: boolean
  /** The largest body in bytes, where the usual 100 KiB (contract §Limits) are too few: for files. */
  bodyBytesMax?: number
  /** Whether `?dry_run=true` runs it and rolls it back (http/dry-run.ts). Without it, the parameter is rejected. */
  dryRun?: true
  /** Whether its list or resource is also served as CSV, to a request that accepts `text/csv` rather than JSON. */
  csv?: true
  /** For server-sent events: the schema of each frame's data, by event name. */
  stream?: Readonly<Record<string, z.ZodType>>
  /** The response bodies, by status. */
  replies: Replies
  /** The expected errors beyond those that every operation has (validation, authentication, unavailable). */
  errors: readonly ErrorCode[]
}

/** Days, `YYYY-MM-DD`. */
export type Deprecated = { since: string; sunset: string }

/** The permissions of an operation that both merchants and operators may call. */
export type PermissionOfEach = { readonly merchant: MerchantPermission; readonly platform: PlatformPermission }

/** Kinds of credential. */
export type Access =
  /** A merchant's person or program. */
  | 'merchant'
  /** An operator of the platform. */
  | 'platform'
  /** A customer of the bank, on Surface A (decision 58). */
  | 'customer'
  /** A payer, for one payment: `X-Payment-State` (decision 66). */
  | 'payment-state'
  /** A payer's browser, to create a payment for a merchant: `X-Checkout-Token` (decision 66). */
  | 'checkout-token'
  /** A payer's session in the hub. */
  | 'payer'
  /** The bank's signature. */
  | 'bank'
  /** An operator; without an identity provider anyone (decision 60). */
  | 'sandbox'
  /** No credential. */
  | 'anyone'

/** The query parameter of an operation that can be tried. */
const DryRun = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .optional()
  .meta({
    description:
      'with true, the request is answered as usual and changes nothing; ids, times and secrets of the response are not kept',
  })

/** The query of an operation, with `dry_run` where it declares `dryRun`. */
type QueryOf<Query, Dry> = Dry extends true
  ? Query extends z.ZodObject<infer Shape, infer Config>
    ? z.ZodObject<Shape & { dry_run: typeof DryRun }, Config>
    : never
  : Query

/** Declares an operation, keeping the exact types of its schemas. */
export function operation<
  Params extends z.ZodType,
  Query extends z.ZodObject,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Replies extends Record<number, z.ZodType>,
  Dry extends true | undefined = undefined,
>(
  declaration: Operation<Params, Query, Headers, Body, Replies> & { dryRun?: Dry },
): Operation<Params, QueryOf<Query, Dry>, Headers, Body, Replies> {
  const { query } = declaration
  // The type can't follow the condition.
  return {
    ...declaration,
    query: declaration.dryRun === true ? query.extend({ dry_run: DryRun }) : query,
  } as unknown as Operation<Params, QueryOf<Query, Dry>, Headers, Body, Replies>
}

/** Whether a parsed query asks for a dry run. */
export function isDryRun(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'dry_run' in query && query.dry_run === true
}

/** An operation that responds with server-sent events: `stream` has the schema of each event's data. */
export type StreamOperation = Operation & { stream: Readonly<Record<string, z.ZodType>> }

/** Declares an operation that responds with server-sent events. */
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

/** The permission that the operation requires of a caller of that kind; undefined where it requires no role. */
export function permissionFor({ permission }: Operation, kind: keyof PermissionOfEach): Permission | undefined {
  return typeof permission === 'object' ? permission[kind] : permission
}

/** Every permission that the operation requires of one kind of caller or another. */
export function permissionsOfOperation({ permission }: Operation): Permission[] {
  if (permission === undefined) return []
  return typeof permission === 'object' ? [permission.merchant, permission.platform] : [permission]
}

/** Errors of every operation, of a request with a body, and of a credential. */
const ALWAYS: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'HTTPS_REQUIRED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]
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
  'payment-state': ['UNAUTHENTICATED'],
  'checkout-token': [
    'UNAUTHENTICATED',
    'CHECKOUT_TOKEN_INVALID',
    'CHECKOUT_TOKEN_EXPIRED',
    'CHECKOUT_ORIGIN_NOT_ALLOWED',
    'MERCHANT_INACTIVE',
  ],
  payer: ['UNAUTHENTICATED', 'TOKEN_EXPIRED'],
  bank: [],
  anyone: [],
}

/** Whether requests of the operation have a body. */
export function hasBody({ body }: Operation): boolean {
  return body !== NoBody
}

/** Whether the operation rejects a disabled merchant, because it changes something (contract §Disabled merchants). */
export function requiresActiveMerchant({ method, access, evenIfInactive }: Operation): boolean {
  return access.includes('merchant') && method !== 'GET' && evenIfInactive !== true
}

/** Every expected error of an operation: its own, and those of its method and credentials. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const ofAccess = operation.access.flatMap((access) => OF_ACCESS[access])
  const ofSignIn: readonly ErrorCode[] = operation.needsFreshSignIn === true ? ['INSUFFICIENT_USER_AUTHENTICATION'] : []
  const ofState: readonly ErrorCode[] = requiresActiveMerchant(operation) ? ['MERCHANT_INACTIVE'] : []
  const ofBody = hasBody(operation) ? WITH_BODY : []
  return [...new Set([...ALWAYS, ...ofBody, ...ofAccess, ...ofSignIn, ...ofState, ...operation.errors])]
}

/** The input of an operation, as a client passes it. */
export type OperationInput<O extends Operation> = {
  params?: z.input<O['params']>
  query?: z.input<O['query']>
  headers?: z.input<O['headers']>
  body?: z.input<O['body']>
}

/** A successful response of an operation, one for each of its statuses. */
export type OperationReply<O extends Operation> = {
  [Status in keyof O['replies'] & number]: { status: Status; body: z.output<O['replies'][Status]> }
}[keyof O['replies'] & number]
