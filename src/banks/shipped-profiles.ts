import type { QuirkName } from './quirks.ts'

/** What is published of large UK brands. A file of profiles names those in use, and adds or replaces what differs. */
type ShippedProfile = {
  id: string
  name: string
  issuer: string
  discovery?: string
  financial_id?: string
  client: {
    registration: 'dynamic' | 'manual'
    registration_audience?: string
    token_auth: 'private_key_jwt' | 'tls_client_auth'
  }
  payments: Resources
  vrp?: Resources
  quirks: readonly QuirkName[]
}

type Resources = { base_url: string; version: '3.1' | '4.0' }

const BY_CERTIFICATE = { registration: 'dynamic', token_auth: 'tls_client_auth' } as const
const BY_SIGNATURE = { registration: 'dynamic', token_auth: 'private_key_jwt' } as const
const BY_HAND = { registration: 'manual', token_auth: 'private_key_jwt' } as const

function both(base_url: string): { payments: Resources; vrp: Resources } {
  const resources = { base_url, version: base_url.includes('/v4.0') ? ('4.0' as const) : ('3.1' as const) }
  return { payments: resources, vrp: resources }
}

function paymentsOnly(base_url: string): { payments: Resources } {
  return { payments: both(base_url).payments }
}

/** Barclays registers by hand in its portal, one client for all its brands. */
function barclays(id: string, name: string, path: string): ShippedProfile {
  return {
    id,
    name,
    issuer: `https://oauth.tiaa.barclays.com/${path}`,
    client: BY_HAND,
    ...both('https://telesto.api.barclays/open-banking/v4.0/pisp'),
    quirks: ['misspelt_contract_present_indicator', 'dotted_organisation_id'],
  }
}

function hsbc(id: string, name: string, origin: string): ShippedProfile {
  return {
    id,
    name,
    issuer: origin,
    client: BY_CERTIFICATE,
    ...both(`${origin}/obie/open-banking/v4.0/pisp`),
    quirks: ['misspelt_contract_present_indicator', 'dotted_organisation_id', 'registration_as_jose'],
  }
}

type LloydsBrand = { id: string; name: string; authorise: string; channel: string; resources: string }

function lloyds({ id, name, authorise, channel, resources }: LloydsBrand): ShippedProfile {
  return {
    id,
    name,
    issuer: `https://authorise-api.${authorise}/prod01/channel/mtls/${channel}`,
    client: BY_CERTIFICATE,
    ...both(`https://secure-api.${resources}/open-banking/v4.0/pisp`),
    quirks: ['misspelt_contract_present_indicator', 'registration_as_jose', 'nonce_in_query'],
  }
}

type NatWestBrand = { id: string; name: string; channel: string; domain: string; financialId: string }

function natwest({ id, name, channel, domain, financialId }: NatWestBrand): ShippedProfile {
  return {
    id,
    name,
    issuer: `https://${channel}.secure1.${domain}`,
    financial_id: financialId,
    client: { ...BY_SIGNATURE, registration_audience: `https://secure1.${domain}` },
    ...both(`https://api.${domain}/open-banking/v4.0/pisp`),
    quirks: ['misspelt_contract_present_indicator', 'id_token_without_acr', 'dotted_organisation_id'],
  }
}

function santander(id: string, name: string, channel: string): ShippedProfile {
  return {
    id,
    name,
    issuer: `https://${channel}-ob.omni.slz.santander.co.uk`,
    client: BY_SIGNATURE,
    ...both(`https://${channel}-api-ob.omni.slz.santander.co.uk/open-banking/v4.0/pisp`),
    quirks: ['id_token_without_nonce', 'id_token_without_auth_time'],
  }
}

const NATWEST_ID = '0015800000jfwxXAAQ'
const RBS_ID = '0015800000jfwB4AAI'

/** None has been run against its bank by this project: `svc banks test` proves one. */
export const SHIPPED_PROFILES: readonly ShippedProfile[] = [
  barclays('barclays-personal', 'Barclays Personal', 'BarclaysPersonal'),
  barclays('barclays-business', 'Barclays Business', 'BarclaysBusiness'),
  hsbc('hsbc-personal', 'HSBC UK Personal', 'https://api.ob.hsbc.co.uk'),
  hsbc('hsbc-business', 'HSBC UK Business', 'https://api.ob.business.hsbc.co.uk'),
  hsbc('first-direct', 'first direct', 'https://api.ob.firstdirect.com'),
  lloyds({
    id: 'lloyds-personal',
    name: 'Lloyds Personal',
    authorise: 'lloydsbank.co.uk',
    channel: 'lyds/personal',
    resources: 'lloydsbank.com/prod01/lbg/lyds',
  }),
  lloyds({
    id: 'lloyds-business',
    name: 'Lloyds Business',
    authorise: 'lloydsbank.co.uk',
    channel: 'lyds/business',
    resources: 'lloydsbank.com/prod01/lbg/lyds',
  }),
  lloyds({
    id: 'halifax',
    name: 'Halifax',
    authorise: 'halifax-online.co.uk',
    channel: 'hfx/personal',
    resources: 'halifax.co.uk/prod01/lbg/hfx',
  }),
  lloyds({
    id: 'bank-of-scotland-personal',
    name: 'Bank of Scotland Personal',
    authorise: 'bankofscotland.co.uk',
    channel: 'bos/personal',
    resources: 'bankofscotland.co.uk/prod01/lbg/bos',
  }),
  natwest({
    id: 'natwest-personal',
    name: 'NatWest Personal',
    channel: 'personal',
    domain: 'natwest.com',
    financialId: NATWEST_ID,
  }),
  natwest({
    id: 'rbs-personal',
    name: 'Royal Bank of Scotland Personal',
    channel: 'personal',
    domain: 'rbs.co.uk',
    financialId: RBS_ID,
  }),
  santander('santander-personal', 'Santander Personal', 'personal'),
  santander('santander-business', 'Santander Business', 'business'),
  {
    id: 'nationwide',
    name: 'Nationwide',
    issuer: 'https://obonline.nationwide.co.uk/open-banking/',
    discovery: 'https://obonline.nationwide.co.uk/open-banking/.well-known/openid-configuration',
    financial_id: '0015800000jf8aKAAQ',
    client: BY_CERTIFICATE,
    ...both('https://api.nationwide.co.uk/open-banking/v4.0/pisp'),
    quirks: ['misspelt_contract_present_indicator', 'id_token_without_acr'],
  },
  {
    id: 'monzo',
    name: 'Monzo',
    issuer: 'https://api.monzo.com/open-banking/',
    client: BY_CERTIFICATE,
    ...both('https://openbanking.monzo.com/open-banking/v3.1/pisp'),
    quirks: ['dotted_organisation_id'],
  },
  {
    id: 'starling',
    name: 'Starling',
    issuer: 'https://api-openbanking.starlingbank.com/',
    discovery: 'https://openbanking.starlingbank.com/.well-known/openid-configuration',
    client: BY_CERTIFICATE,
    ...paymentsOnly('https://api-openbanking.starlingbank.com/open-banking/v3.1/pisp'),
    quirks: ['id_token_without_acr', 'no_contract_present_indicator'],
  },
  {
    id: 'revolut',
    name: 'Revolut',
    issuer: 'https://oba-auth.revolut.com',
    discovery: 'https://oba.revolut.com/openid-configuration',
    financial_id: '001580000103UAvAAM',
    client: BY_CERTIFICATE,
    ...paymentsOnly('https://oba-auth.revolut.com'),
    quirks: [
      'id_token_without_auth_time',
      'id_token_without_consent_id',
      'id_token_without_acr',
      'id_token_exp_in_milliseconds',
      'nonce_in_query',
      'no_refund_account',
      'no_contract_present_indicator',
    ],
  },
  {
    id: 'tsb',
    name: 'TSB',
    issuer: 'https://apis.tsb.co.uk/apis/open-banking/v3.1/',
    client: BY_SIGNATURE,
    ...paymentsOnly('https://apis.tsb.co.uk/apis/open-banking/v3.1/pisp'),
    quirks: ['b64_header', 'no_refund_account', 'no_contract_present_indicator'],
  },
  {
    id: 'chase',
    name: 'Chase UK',
    issuer: 'https://auth.openbanking-obie.chase.co.uk/auth/realms/provider',
    client: BY_HAND,
    ...paymentsOnly('https://api.openbanking-obie.chase.co.uk/obie2-pisp/open-banking/v3.1/pisp'),
    quirks: [],
  },
  {
    id: 'tide',
    name: 'Tide',
    issuer: 'https://issuer1.openbanking.api.tide.co',
    client: BY_CERTIFICATE,
    ...paymentsOnly('https://rs1.openbanking.api.tide.co:4501/v1.0/open-banking/v3.1/pisp'),
    quirks: ['no_refund_account', 'no_contract_present_indicator', 'dotted_organisation_id'],
  },
  {
    id: 'zopa',
    name: 'Zopa',
    issuer: 'https://auth1.openbanking.zopa.com',
    client: BY_CERTIFICATE,
    ...paymentsOnly('https://rs1.openbanking.zopa.com/open-banking/v4.0/pisp'),
    quirks: [],
  },
]
