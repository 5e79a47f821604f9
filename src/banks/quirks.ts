/**
 * What banks do otherwise than the standard says, by name. A profile lists those of its bank, and nothing else is
 * tolerated. The texts are documentation (docs/reference).
 */
export const QUIRKS = {
  b64_header: 'signatures of bodies carry `b64: false`, as before version 3.1.4',
  unsigned_responses: 'answers are not signed, or not verifiably',
  id_token_without_acr: 'id tokens lack `acr`',
  id_token_without_auth_time: 'id tokens lack `auth_time`',
  id_token_without_consent_id: 'id tokens lack `openbanking_intent_id`; the state alone names the consent',
  id_token_without_nonce: 'id tokens lack `nonce`; the state alone names the visit',
  id_token_exp_in_milliseconds: '`exp` of id tokens is in milliseconds',
  no_refund_account: '`ReadRefundAccount` is left out: the payer’s account is not reported',
  no_contract_present_indicator: '`ContractPresentIndicator` is left out',
  misspelt_contract_present_indicator: 'the member is called `ContractPresentInidicator`',
  no_funds_confirmation: 'funds are not confirmed before a payment',
  no_payment_details: 'payment details are not asked for',
  nonce_in_query: 'the nonce is repeated as a query parameter of the authorisation request',
  registration_as_jose: 'registrations are sent as `application/jose` instead of `application/jwt`',
  dotted_organisation_id: 'registrations name `organizationIdentifier` of the certificate as 2.5.4.97',
} as const

export type QuirkName = keyof typeof QUIRKS

export const QUIRK_NAMES = Object.keys(QUIRKS).filter((name): name is QuirkName => name in QUIRKS)
