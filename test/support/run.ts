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
  'test/cli/up-bank.test.ts',
  'test/widget/screens-flow.test.ts',
  'test/docs-snippets.test.ts',
  'test/widget/screens-paths.test.ts',
  'test/cli/up.test.ts',
  'test/audit/tampering.test.ts',
  'test/cli/parts.test.ts',
  'test/operate/rolling-update.test.ts',
  'test/http/dry-run-operations.test.ts',
  'test/widget/shop-page.test.ts',
  'test/widget/accessibility.test.ts',
  'test/banks/obie/random-faults.test.ts',
  'test/payments/refunds/races.test.ts',
  'test/scenario/testing.test.ts',
  'test/banks/obie/widget.test.ts',
  'test/db/embedded.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/cli/operators.test.ts',
  'test/signing/receivers.test.ts',
  'test/cli/leaves/operator.test.ts',
  'test/cli/identity.test.ts',
  'test/installed-package.test.ts',
  'test/reconciliation/random-operations.test.ts',
  'test/cli/seed.test.ts',
  'test/cli/listen.test.ts',
  'test/cli/console/disputes-webhooks.test.ts',
  'test/reconciliation/get-reconciliation.test.ts',
  'test/widget/screens-appearance.test.ts',
  'test/console/stream-ends.test.ts',
  'test/banks/obie/secrets.test.ts',
  'test/instructions/orders-execution.test.ts',
  'test/cli/leaves/merchant.test.ts',
  'test/webhooks/list-webhooks.test.ts',
  'test/scenario/tokens.test.ts',
  'test/http/pages/checkout-in-browser.test.ts',
  'test/disputes/resolve-dispute.test.ts',
  'test/cli/webhooks-manage.test.ts',
  'test/identity/sign-in.test.ts',
  'test/http/embedded-tokens.test.ts',
  'test/checks.test.ts',
  'test/cli/sandbox-run.test.ts',
  'test/webhooks/replay-webhooks.test.ts',
  'test/http/transport.test.ts',
  'test/banks/obie/registrations.test.ts',
  'test/banks/connections.test.ts',
  'test/payouts/killed-worker.test.ts',
  'test/banks/obie/outcomes.test.ts',
  'test/banks/obie/hosted-page.test.ts',
  'test/widget/stray-clicks.test.ts',
  'test/payments/invariants.test.ts',
  'test/cli/up-modes.test.ts',
  'test/disputes/states.test.ts',
  'test/cli/keys-up.test.ts',
  'test/webhooks/run-deliveries.test.ts',
  'test/http/pages/return-in-browser.test.ts',
  'test/banks/obie/mandates.test.ts',
  'test/openapi/quality.test.ts',
  'test/disputes/order-refund-again.test.ts',
  'test/signing/overlap.test.ts',
  'test/widget/loader.test.ts',
  'test/identity/forgot.test.ts',
  'test/widget/reference.test.ts',
]

const all = globSync('test/**/*.test.ts', { cwd: packageRoot() }).toSorted()
const gone = LONGEST.filter((file) => !all.includes(file))
if (gone.length > 0) throw new Error(`there is no ${gone.join(', ')}`)
// At the end no long file may be left, which would run alone.
const files = [...LONGEST, ...all.filter((file) => !LONGEST.includes(file))]
process.exitCode = await runFiles(files, { name: 'suite', processes: PROCESSES, more: process.argv.slice(2) })
