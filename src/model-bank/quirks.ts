/**
 * Ways in which real banks deviate from the standard, switched on one at a time. The names are those of a bank's
 * profile where the profile has a name for it.
 */
export const QUIRK_NAMES = {
  b64_header: 'signatures carry b64: false, in requests and answers, as before version 3.1.4',
  unsigned_responses: 'answers are not signed',
  id_token_without_acr: 'id tokens lack acr',
  id_token_without_auth_time: 'id tokens lack auth_time',
  id_token_without_consent_id: 'id tokens lack openbanking_intent_id',
  id_token_without_nonce: 'id tokens lack nonce',
  id_token_exp_in_milliseconds: 'exp of id tokens is in milliseconds',
  no_refund_account: 'ReadRefundAccount is rejected',
  no_contract_present_indicator: 'ContractPresentIndicator is rejected',
  misspelt_contract_present_indicator: 'ContractPresentInidicator is required, ContractPresentIndicator rejected',
  no_funds_confirmation: 'funds cannot be asked for',
  no_payment_details: 'payment details cannot be asked for',
  nonce_in_query: 'the nonce is demanded in the query of the authorisation request as well',
  dotted_organisation_id: 'registered subjects of certificates have 2.5.4.97, not organizationIdentifier',
  registration_as_jose: 'registrations are application/jose',
  no_registration_endpoint: 'clients are registered by hand, at the control port',
  assertion_audience_issuer: 'the audience of client assertions is the issuer',
  financial_id_required: 'x-fapi-financial-id is demanded',
  pushed_requests: 'pushed authorization requests are announced, and demanded',
  discovery_elsewhere: 'discovery is at /discovery alone, and names no registration endpoint',
} as const

export type QuirkName = keyof typeof QUIRK_NAMES

export function isQuirk(name: string): name is QuirkName {
  return Object.hasOwn(QUIRK_NAMES, name)
}

export type Quirks = ReadonlySet<QuirkName>
