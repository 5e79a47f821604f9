/** Behaviours of the mock bank that take no parameter (contract §Sandbox scenarios). */
export const PLAIN_SCENARIOS = [
  'success',
  'payer-cancels',
  'sca-fails',
  'otp-wrong-then-ok',
  'insufficient-funds',
  'limit-exceeded',
  'account-blocked',
  'fraud-stop',
  'bank-timeout',
  'bank-down',
  'authorised-then-rejected',
  'settlement-fails',
  'never-returns',
  'callback-before-redirect',
  'duplicate-callback',
  'refund-fails',
  'dispute-won',
  'dispute-lost',
] as const
export type PlainScenario = (typeof PLAIN_SCENARIOS)[number]

/** Behaviours with a parameter after a colon, each with its placeholder. */
export const SCENARIO_PARAMETERS = { 'success-slow-settle': '<duration>', 'dispute-payer': '<reason>' } as const
export type ParameterisedScenario = keyof typeof SCENARIO_PARAMETERS
