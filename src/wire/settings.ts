import { z } from 'zod'
import { NoBody, NoHeaders, None, text } from './common.ts'
import { operation } from './operation.ts'

/** The fonts of a checkout: those that browsers have, so that none are loaded from other servers (decision 27). */
export const BrandingFont = z.enum(['system-ui', 'serif', 'sans-serif', 'monospace', 'Arial', 'Georgia', 'Verdana'])

const HexColour = z.string().regex(/^#[0-9A-Fa-f]{6}$/, 'must be a colour as #RRGGBB')

/** The branding of the checkout (decision 27). Members that are left out have their defaults. */
export const BrandingConfig = z.strictObject({
  colors: z
    .strictObject({
      primary: HexColour.default('#0B5FFF'),
      background: HexColour.default('#FFFFFF'),
      text: HexColour.default('#111111'),
    })
    .prefault({}),
  logo_url: z.string().max(2048).nullable().default(null).meta({ description: 'an https:// address' }),
  font: BrandingFont.default('system-ui'),
})
export type BrandingConfig = z.output<typeof BrandingConfig>

/** The complete branding with its defaults, and warnings about it. */
export const Branding = z.strictObject({
  colors: z.strictObject({ primary: z.string(), background: z.string(), text: z.string() }),
  logo_url: z.string().nullable(),
  font: z.string(),
  warnings: z.array(z.strictObject({ code: z.string(), path: z.string(), message: z.string() })),
})
export type Branding = z.infer<typeof Branding>

export const getBranding = operation({
  name: 'getBranding',
  method: 'GET',
  path: '/api/v1/portal/branding',
  summary: 'Get the branding of the checkout',
  access: ['merchant', 'checkout-token'],
  permission: 'read branding',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Branding },
  errors: [],
})

export const putBranding = operation({
  name: 'putBranding',
  isRecorded: true,
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/portal/branding',
  summary: 'Set the branding of the checkout',
  description: 'Members that are left out get their defaults.',
  access: ['merchant'],
  permission: 'manage branding',
  params: None,
  query: None,
  headers: NoHeaders,
  body: BrandingConfig,
  replies: { 200: Branding },
  errors: [],
})

export const CheckoutOrigins = z.strictObject({ origins: z.array(z.string()) })

export const getCheckoutOrigins = operation({
  name: 'getCheckoutOrigins',
  method: 'GET',
  path: '/api/v1/portal/checkout-origins',
  summary: 'List the pages that may embed the checkout',
  access: ['merchant'],
  permission: 'manage checkout',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: CheckoutOrigins },
  errors: [],
})

export const putCheckoutOrigins = operation({
  name: 'putCheckoutOrigins',
  isRecorded: true,
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/portal/checkout-origins',
  summary: 'Set the pages that may embed the checkout',
  description: 'An empty list allows any page in the sandbox, and none in live mode.',
  access: ['merchant'],
  permission: 'manage checkout',
  needsFreshSignIn: true,
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ origins: z.array(text(255)).max(50) }),
  replies: { 200: CheckoutOrigins },
  errors: [],
})
