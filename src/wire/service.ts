import { z } from 'zod'
import { NoBody, NoHeaders, None, Uuid } from './common.ts'
import { operation } from './operation.ts'

/** The information that a client needs before it can authenticate. */
export const ServiceInfo = z.strictObject({
  name: z.literal('svc'),
  version: z.string(),
  mode: z.enum(['sandbox', 'live']),
  identity: z.enum(['embedded', 'keycloak', 'none']),
  auth_url: z
    .string()
    .nullable()
    .meta({ description: 'issuers are {auth_url}/realms/<realm>; null without a provider' }),
  platform_realm: z.string(),
  customers_realm: z.string(),
  vrp_caps: z
    .enum(['ignore', 'enforce'])
    .optional()
    .meta({ description: 'whether the caps of mandates are enforced; older services omit it' }),
})
export type ServiceInfo = z.infer<typeof ServiceInfo>

export const getService = operation({
  name: 'getService',
  method: 'GET',
  path: '/api/v1/service',
  summary: 'Get the mode and identity provider of the service',
  access: ['anyone'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: ServiceInfo },
  errors: [],
})

/** The authenticated caller with its permissions. */
export const Whoami = z.strictObject({
  kind: z.enum(['merchant', 'platform']),
  realm: z.string().nullable().meta({ description: 'null without an identity provider' }),
  client_id: z.string().nullable(),
  /** The token's `sub`; without an identity provider, the name in the headers. */
  subject: z.string(),
  name: z.string().meta({ description: 'e-mail address of a person, id of a client' }),
  role: z.string(),
  permissions: z.array(z.string()),
  merchant: z
    .strictObject({
      id: Uuid,
      trading_name: z.string(),
      kyb_status: z.enum(['PENDING', 'APPROVED', 'SUSPENDED']),
      is_active: z
        .boolean()
        .meta({ description: 'a disabled merchant may only read, refund, answer disputes and end mandates' }),
    })
    .nullable(),
  expires_at: z.string().nullable().meta({ format: 'date-time', description: 'when the token expires' }),
})
export type Whoami = z.infer<typeof Whoami>

export const whoami = operation({
  name: 'whoami',
  method: 'GET',
  path: '/api/v1/whoami',
  summary: 'Get the authenticated caller and its permissions',
  access: ['merchant', 'platform'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Whoami },
  errors: [],
})
