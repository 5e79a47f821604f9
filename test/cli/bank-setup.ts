/** A time in so many days, and a minute, so that the days are still whole when they are counted. */
export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000 + 60_000).toISOString()

const AT = '2026-11-22T10:00:00.000Z'

/** A bank that is well, as the service lists it for operators. */
export const BANK = {
  id: 'model',
  name: 'Model Bank',
  issuer: 'https://bank.example',
  payments_version: '4.0',
  vrp_version: null,
  quirks: [],
  registration: 'dynamic',
  client_id: 'c1',
  registered_by: 'ada',
  registered_at: AT,
  is_proven: true,
  last_test: { bank_id: 'model', passed: true, steps: [], tested_by: 'ada', tested_at: AT },
  available: true,
}

/** The platform's software statement beside it. */
export const STATEMENT = {
  org_id: 'o1',
  software_id: 's1',
  signing_kid: 'k1',
  redirect_uris: [],
  source: 'database',
  certificate_ends_at: inDays(90),
  ssa_ends_at: null,
  set_by: 'ada',
  set_at: AT,
}
