import type { Elsewhere } from './row.ts'

const NOTHING_OF_ITS_OWN = 'it takes nothing that could be wrong'

/** Commands that run on, change the machine, or need more than a service: the file that runs them proves it (../ran.ts). */
export const ELSEWHERE: Readonly<Record<string, Elsewhere>> = {
  up: { elsewhere: 'test/cli/up.test.ts', json: true, refused: 7 },
  down: { elsewhere: 'test/cli/up.test.ts', json: true, refused: NOTHING_OF_ITS_OWN },
  serve: { elsewhere: 'test/cli/parts.test.ts', json: 'it prints nothing', refused: 1 },
  // What it finds depends on the machine.
  doctor: { elsewhere: 'test/cli/doctor-machine.test.ts', json: true, refused: 1 },
  // It needs a dump, and the tools that write one.
  'backup verify': { elsewhere: 'test/cli/backup.test.ts', json: true, refused: 1 },
  // It needs the database itself.
  verify: { elsewhere: 'test/verify/verify.test.ts', json: true, refused: 2 },
  login: { elsewhere: 'test/cli/auth/login.test.ts', json: true, refused: 4 },
  'profile token': { elsewhere: 'test/cli/auth/profile.test.ts', json: true, refused: 4 },
  'checkout branding edit': { elsewhere: 'test/cli/branding.test.ts', json: true, refused: 2 },
  'payouts show': { elsewhere: 'test/cli/payouts.test.ts', json: true, refused: 6 },
  'payouts retry': { elsewhere: 'test/cli/payouts.test.ts', json: true, refused: 7 },
  'sandbox reset': { elsewhere: 'test/cli/seed.test.ts', json: true, refused: 2 },
  'staff rotate-keys': { elsewhere: 'test/cli/people.test.ts', json: true, refused: 2 },
  // What they read and write goes to a bank and comes from it.
  'payouts fail': { elsewhere: 'test/cli/payout-files.test.ts', json: true, refused: 7 },
  'payouts fail-refund': { elsewhere: 'test/cli/payout-files.test.ts', json: true, refused: 7 },
  'payouts export': { elsewhere: 'test/cli/payout-files.test.ts', json: true, refused: 2 },
  'payouts import': { elsewhere: 'test/cli/payout-files.test.ts', json: true, refused: 2 },
  'statements credit': { elsewhere: 'test/cli/payout-files.test.ts', json: true, refused: 7 },
  // They need a bank.
  'banks list': { elsewhere: 'test/cli/bank-connections.test.ts', json: true, refused: 2 },
  'banks registrations': { elsewhere: 'test/cli/bank-connections.test.ts', json: true, refused: 2 },
  'banks connect': { elsewhere: 'test/cli/bank-connections.test.ts', json: true, refused: 7 },
  'banks test': { elsewhere: 'test/cli/bank-connections.test.ts', json: true, refused: 3 },
  'banks software-statement set': { elsewhere: 'test/cli/bank-connections.test.ts', json: true, refused: 2 },
  'banks software-statement show': { elsewhere: 'test/cli/bank-connections.test.ts', json: true, refused: 6 },
  'banks rotate-keys': { elsewhere: 'test/cli/bank-connections.test.ts', json: true, refused: 3 },
  ui: { elsewhere: 'test/cli/console/console.test.ts', json: 'it is looked at', refused: 2 },
}
