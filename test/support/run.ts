import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { packageRoot } from '../../src/lib/package-root.ts'
import { runFiles } from './run-files.ts'

/*
 * The whole suite, as npm test runs it: a few processes, each of which takes one test file after another until none is left
 * (take-files.ts). What tap is given beside is passed on.
 */

/** Tests wait as well as they work: more than the two cores that CI has. */
const PROCESSES = 5

/** The files that take longest, because they start services of their own, or browsers, or wait; the longest first. */
const LONGEST = [
  'test/http/dry-run-operations.test.ts',
  'test/payments/refunds/races.test.ts',
  'test/scenario/testing.test.ts',
  'test/db/embedded.test.ts',
  'test/banks/obie/widget.test.ts',
  'test/signing/receivers.test.ts',
  'test/docs-snippets.test.ts',
  'test/widget/screens-flow.test.ts',
  'test/checks.test.ts',
  'test/banks/obie/outage.test.ts',
  'test/widget/screens-paths.test.ts',
  'test/scenario/tokens.test.ts',
  'test/cli/up.test.ts',
  'test/cli/backup.test.ts',
  'test/widget/accessibility.test.ts',
  'test/cli/up-bank.test.ts',
  'test/cli/sandbox-run.test.ts',
  'test/cli/leaves/bank.test.ts',
  'test/cli/leaves/local.test.ts',
  'test/cli/parts.test.ts',
  'test/identity/embedded/second-factor.test.ts',
  'test/widget/shop-page.test.ts',
  'test/cli/console/disputes-webhooks.test.ts',
  'test/installed-package.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/http/roles.test.ts',
  'test/scenario/bank-verbs.test.ts',
  'test/http/forgotten-filters.test.ts',
  'test/audit/tampering.test.ts',
  'test/reconciliation/random-operations.test.ts',
  'test/cli/leaves/merchant.test.ts',
  'test/payments/invariants.test.ts',
  'test/payments/mandates/caps.test.ts',
  'test/banks/obie/outcomes.test.ts',
  'test/identity/embedded/sessions.test.ts',
  'test/sandbox/bank-faults.test.ts',
  'test/widget/hub-session.test.ts',
  'test/webhooks/waiting-deliveries.test.ts',
  'test/banks/obie/random-faults.test.ts',
  'test/settlements/killed-worker.test.ts',
  'test/operate/rolling-update.test.ts',
  'test/widget/hub-sign-in.test.ts',
  'test/webhooks/list-webhooks.test.ts',
  'test/cli/operators.test.ts',
  'test/payments/races.test.ts',
  'test/identity/throttle.test.ts',
  'test/reconciliation/payouts.test.ts',
  'test/lib/audit-chain.test.ts',
  'test/keys/reseal.test.ts',
  'test/identity/contract/refresh.test.ts',
  'test/cli/leaves/operator.test.ts',
  'test/identity/embedded/passkeys.test.ts',
  'test/widget/hub-payments.test.ts',
  'test/http/hostile-parameters.test.ts',
  'test/cli/identity.test.ts',
  'test/webhooks/pause.test.ts',
  'test/cli/console/sandbox.test.ts',
  'test/instructions/recurring-runs.test.ts',
  'test/identity/contract/login.test.ts',
  'test/scenario/play.test.ts',
  'test/http/embedded-tokens.test.ts',
  'test/cli/disputes-merchant.test.ts',
  'test/payouts/killed-worker.test.ts',
  'test/scenario/payers.test.ts',
  'test/cli/up-modes.test.ts',
  'test/banks/obie/registrations.test.ts',
  'test/cli/keys-up.test.ts',
  'test/cli/listen.test.ts',
  'test/banks/obie/secrets.test.ts',
  'test/cli/seed.test.ts',
  'test/http/pages/checkout-in-browser.test.ts',
  'test/reconciliation/settlements.test.ts',
  'test/cli/launcher.test.ts',
  'test/http/transport.test.ts',
  'test/widget/same-tab.test.ts',
  'test/disputes/states.test.ts',
  'test/cli/payment-link.test.ts',
  'test/payers/link-abuse.test.ts',
  'test/payments/refunds/refund-payment.test.ts',
  'test/cli/auth/end-to-end.test.ts',
]

const all = globSync('test/**/*.test.ts', { cwd: packageRoot() }).toSorted()
const gone = LONGEST.filter((file) => !all.includes(file))
if (gone.length > 0) throw new Error(`there is no ${gone.join(', ')}`)
const seed = process.env['SVC_TEST_SEED']
// At the end no long file may be left, which would run alone.
const files = seed === undefined ? [...LONGEST, ...all.filter((file) => !LONGEST.includes(file))] : shuffled(all, seed)

/** The files in another order, the same one for a seed: no file may need or disturb what ran before it in its process. */
function shuffled(names: readonly string[], by: string): string[] {
  const place = (name: string): string => createHash('sha256').update(`${by} ${name}`).digest('hex')
  return names.toSorted((a, b) => place(a).localeCompare(place(b)))
}

process.exitCode = await runFiles(files, { name: 'suite', processes: PROCESSES, more: process.argv.slice(2) })
