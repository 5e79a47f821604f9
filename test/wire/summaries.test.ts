import t from 'tap'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'

const OPERATIONS = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)

/** The verbs that a summary begins with: one for each kind of thing that operations do. */
const VERBS =
  /^(Accept|Add|Advance|Approve|Cancel|Change|Check|Close|Compare|Complete|Create|Disable|Dispute|End|Erase|Escalate|Exchange|Explain|Export|Get|Hold|Import|Invite|List|Move|Offer|Receive|Refund|Register|Reject|Remove|Repair|Replace|Replay|Resolve|Revoke|Reset|Rotate|Save|Seed|Send|Set|Stream|Submit|Verify),? /

t.test('a summary is imperative, of at most 60 characters, and has no full stop', async (t) => {
  const wrong = OPERATIONS.filter(
    ({ summary }) => !VERBS.test(summary) || summary.length > 60 || /[.;:(]/.test(summary),
  )
  t.same(
    wrong.map(({ name, summary }) => `${name}: ${summary}`),
    [],
  )
})

t.test('a description is of full sentences', async (t) => {
  const wrong = OPERATIONS.filter(({ description }) => description !== undefined && !/^[A-Z].*\.$/.test(description))
  t.same(
    wrong.map(({ name, description }) => `${name}: ${description}`),
    [],
  )
})
