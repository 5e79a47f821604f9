import type { Command } from 'commander'
import { z } from 'zod'
import { TimelineEntry } from '../../src/wire/explain.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { findExplanation } from './find-subject.ts'
import { printExplanation, timelineColumns } from './view.ts'

const ExplainOptions = z.object({ platform: z.boolean().default(false), all: z.boolean().default(false) })

export function addExplain(command: Command, runtime: Runtime): void {
  command
    .argument('<id>', 'Id, its last 8 characters, end-to-end id, event id (evt_...) or realm')
    .option('--platform', 'Act as the operator, even if a merchant is signed in')
    .option('--all', 'Show every attempt and step')
    .addHelpText(
      'after',
      '\nExamples:\n  svc explain a2b4358c\n  svc explain SVC62124c9a38e745b680e7e1d27d1ddb32\n  svc explain acme-ltd --platform\n  svc explain a2b4358c -o jsonl | grep attempt\n  svc explain a2b4358c -q standing\n',
    )
    .action(action(runtime, ExplainOptions, explain))
}

async function explain(context: Context, { args, options }: InputOf<typeof ExplainOptions>): Promise<CommandResult> {
  const [given] = args
  if (given === undefined) throw usageError('what is to be explained? An id is missing', 'svc payments list')
  const story = await findExplanation(context, given, options)
  const { mode } = context.print
  // One row for each thing that happened is what lines are good for.
  if (mode === 'jsonl' || mode === 'csv')
    context.print.list({
      items: story.timeline,
      fields: Object.keys(TimelineEntry.shape),
      columns: timelineColumns,
      id: () => story.id,
      empty: '',
    })
  else printExplanation(context, story, options)
}
