/** Behaviours of the mock bank that are asked for by their name alone (contract §Sandbox scenarios). */
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

/** Those that take a parameter after a colon, each with what it is. */
export const SCENARIO_PARAMETERS = { 'success-slow-settle': '<duration>', 'dispute-payer': '<reason>' } as const
export type ParameterisedScenario = keyof typeof SCENARIO_PARAMETERS
