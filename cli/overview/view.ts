import type { Explanation, NextStep, OtherStep, TimelineEntry } from '../../src/wire/explain.ts'
import { asTyped } from '../base/command-hints.ts'
import type { Context } from '../kit/context.ts'
import type { Column } from '../output/table.ts'
import { printable, shortTime } from '../base/text.ts'
import { distanceOf, roughly } from '../base/times.ts'
import { timelineLines } from './timeline.ts'
import { wrapped } from '../base/wrap.ts'

export const timelineColumns: readonly Column<TimelineEntry>[] = [
  { title: 'at', value: (row) => shortTime(row.at) },
  { title: 'kind', value: (row) => row.kind },
  { title: 'text', value: (row) => row.text },
]

export function printExplanation(context: Context, explanation: Explanation, { all }: { all: boolean }): void {
  const { print } = context
  const width = print.width ?? Infinity
  const heading = (text: string): string => print.paint('bold', text)
  const timeline = timelineLines(explanation, { paint: print.paint, width, all })
  const parts = [
    wrapped(printable(capitalised(explanation.standing)), width),
    [heading('What happened'), ...timeline],
    [heading('What can happen next'), ...nextLines(context, explanation, width)],
    ...(explanation.also.length === 0
      ? []
      : [[heading('Other actions'), ...explanation.also.flatMap((step) => otherLines(context, step, width))]]),
  ]
  print.record(
    explanation,
    [
      [capitalised(explanation.kind), explanation.id],
      ['Summary', explanation.title],
      ['Status', explanation.status],
    ],
    { after: parts.map((lines) => lines.join('\n')) },
  )
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function nextLines(context: Context, { next, as_of: asOf }: Explanation, width: number): string[] {
  if (next.length === 0) return ['  No further transitions (final).']
  return next.flatMap((step) => stepLines(context, step, { asOf, width }))
}

function stepLines(context: Context, step: NextStep, { asOf, width }: { asOf: string; width: number }): string[] {
  const webhook = step.webhook === null ? '' : `; sends ${step.webhook}`
  const text = `${step.to} (${step.on}): ${step.by}${whenText(step.at, asOf)}${webhook}`
  const [first = '', ...rest] = wrapped(printable(text), width - 2, '  ')
  const painted = first.replace(step.to, context.print.paint('bold', step.to))
  return [painted, ...rest.map((line) => `  ${line}`), ...commandLine(context, step.how)]
}

function whenText(at: string | null, asOf: string): string {
  if (at === null) return ''
  return at > asOf ? `, at ${shortTime(at)} (${roughly(distanceOf(at, Date.parse(asOf)))})` : ', which is due now'
}

function otherLines(context: Context, { what, by, how }: OtherStep, width: number): string[] {
  return [...wrapped(printable(`${what}: ${by}`), width, '  '), ...commandLine(context, how)]
}

/** A command has a line of its own and is never wrapped, so that it can be copied. */
function commandLine({ io, flags, print }: Context, how: string | null): string[] {
  return how === null ? [] : [`      ${print.paint('cyan', printable(asTyped(how, io.calledAs, flags)))}`]
}
