import { TimelineEntry } from '../../src/wire/explain.ts'
import { usageError } from '../base/errors.ts'
import { command, argument } from '../kit/command.ts'
import { findExplanation } from './find-subject.ts'
import { printExplanation, timelineColumns } from './view.ts'

export const explain = command({
  command: 'explain',
  summary: 'Explain a payment, payout, dispute, delivery or merchant',
  examples: [
    'svc explain a2b4358c',
    'svc explain SVC62124c9a38e745b680e7e1d27d1ddb32',
    'svc explain acme-ltd --platform',
    'svc explain a2b4358c -o jsonl | grep attempt',
    'svc explain a2b4358c -q standing',
  ],
  flags: {
    id: argument('id', 'Id, its last 8 characters, end-to-end id, event id (evt_...) or realm'),
    platform: { summary: 'Use the operator identity, even if a merchant is signed in' },
    all: { summary: 'Show every attempt and step' },
  },
  async run(context, input) {
    const { id: given } = input
    if (given === undefined) throw usageError('what is to be explained? An id is missing', 'svc payments list')
    const explanation = await findExplanation(context, given, input)
    const { mode } = context.print
    // One row for each thing that happened is what lines are good for.
    if (mode === 'jsonl' || mode === 'csv')
      context.print.list(explanation.timeline, {
        fields: TimelineEntry,
        columns: timelineColumns,
        id: () => explanation.id,
      })
    else printExplanation(context, explanation, input)
  },
})
