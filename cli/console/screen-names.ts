/** The screens that the console can be opened with; each role sees its own. Named outside of what draws them, for help. */
export const SCREEN_NAMES = [
  'overview',
  'kyb',
  'merchants',
  'payments',
  'disputes',
  'webhooks',
  'audit',
  'staff',
  'team',
  'sandbox',
  'inbox',
  'balances',
  'settlements',
  'payouts',
  'differences',
  'banks',
] as const
export type ScreenName = (typeof SCREEN_NAMES)[number]
