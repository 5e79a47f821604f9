import type { EventType } from '../../../src/wire/webhook-events.ts'
import type { Context } from '../../kit/context.ts'
import { editText } from '../../base/editor.ts'
import { usageError } from '../../base/errors.ts'
import type { Verb } from '../language.ts'
import { stepsOf } from '../read/plan.ts'
import type { Plan } from '../read/plan.ts'
import { readScenarios } from '../read/read-scenarios.ts'
import { mistakesError } from './scenarios.ts'

/** @throws {CliError} with exit code 2 and all that is wrong with the steps */
export function planOf(context: Context, event: EventType, text: string): Plan {
  const { cases, mistakes } = readScenarios({ file: `${event}.yaml`, text, vars: {}, cwd: context.io.cwd })
  if (mistakes.length > 0) throw mistakesError(context, mistakes)
  const [only, ...others] = cases
  if (only === undefined || others.length > 0)
    throw usageError(`an event is triggered by one case, and here are ${cases.length}`, 'one document, no matrix')
  return only.plan
}

/** What may be done to a merchant that is somebody's own, and not of a case: what leaves it as it is. */
const VERBS_OF_TRIGGERS: ReadonlySet<Verb> = new Set<Verb>([
  'pay',
  'bank',
  'sca',
  'await',
  'expect',
  'payments.refund',
  'dispute',
  'disputes.evidence',
  'disputes.accept',
  'disputes.escalate',
  'disputes.resolve',
  'disputes.refund',
  'payments.cancel',
  'payer.cancel',
  'payment.contact',
  'payer.link',
  'payer.verify',
  'payer.payments',
  'payer.consents',
  'payer.dispute',
  'payer.sign_out',
  'mandates.cancel',
  'mandates.end',
  'replay',
  'http',
])

/** The steps as the user leaves them in the editor. */
export async function editedPlan(context: Context, event: EventType, initial: string): Promise<Plan> {
  const text = await editText(context.io, { initial, suffix: '.yaml', instead: '--set amount=10.00' })
  const plan = planOf(context, event, text ?? initial)
  const other = stepsOf(plan).find(({ verb }) => !VERBS_OF_TRIGGERS.has(verb))
  if (other === undefined) return plan
  throw usageError(
    `${other.title}: "${other.verb}" is for a case with a merchant of its own; here it would be about yours`,
    'with a file: svc run <file>',
  )
}

type Shown = { event: EventType; plan: Plan; payment: string | undefined }

/** What would be played, for `--dry-run`. */
export function showSteps({ print, note }: Context, { event, plan, payment }: Shown): void {
  const steps = stepsOf(plan).map(({ label, title }) => ({ label, title }))
  print.record({
    item: { dry_run: true, event_type: event, payment_id: payment ?? null, steps },
    id: event,
    lines: [
      ['Would let happen', event],
      ['To the payment', payment ?? 'a new one'],
      ...steps.map(({ label, title }): [string, string] => [`Step ${label}`, title]),
    ],
  })
  note('Nothing was changed.')
}
