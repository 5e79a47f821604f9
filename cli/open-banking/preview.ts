import { z } from 'zod'
import { parseFrequency } from '../../src/lib/frequency.ts'
import type { Frequency } from '../../src/lib/frequency.ts'
import type { Run, Schedule } from '../../src/lib/recurrence.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { EVENING, MORNING, momentOf } from '../base/moments.ts'

const COUNT_MAX = 1_000

export const PreviewOptions = z.object({
  first: z.string(),
  next: z.string().optional(),
  final: z.string().optional(),
  until: z.string().optional(),
  count: z.string().regex(/^([1-9]\d{0,2}|1000)$/, `must be a whole number from 1 to ${COUNT_MAX}`),
})
type PreviewOptions = z.infer<typeof PreviewOptions>

const FIELDS = ['day', 'weekday', 'time', 'at', 'note'] as const
/** `time` is London's, `at` the same moment in UTC. */
type Row = Record<(typeof FIELDS)[number], string>

/** `svc ob recurring preview`: when payments would be due, reckoned here as the service does. */
export async function preview(
  context: Context,
  { args, options }: CommandInput<PreviewOptions>,
): Promise<CommandResult> {
  const frequency = frequencyOf(args[0] ?? '', '<frequency>')
  // What they need takes longer to load than most commands run.
  const [{ firstRun, runAfter, LAST_HOLIDAY_YEAR }, { noted }] = await Promise.all([
    parts(),
    import('./preview-notes.ts'),
  ])
  const schedule = await scheduleOf(context, { frequency, options })
  const runs: Run[] = []
  let run = firstRun(schedule)
  while (run !== null && runs.length < Number(options.count) && isWithin(run, options.until)) {
    runs.push(run)
    run = runAfter(schedule, run.day)
  }
  const items: Row[] = noted(schedule, runs)
  context.print.list({
    items,
    fields: FIELDS,
    columns: [
      { title: 'day', value: (row) => row.day },
      { title: 'weekday', value: (row) => row.weekday },
      { title: 'time', value: (row) => row.time },
      { title: 'note', value: (row) => row.note, least: 20 },
    ],
    id: (row) => row.day,
    empty: 'There is no payment in that time.',
  })
  if (run !== null && isWithin(run, options.until)) context.note('There are more: --count, or --until <day>')
  if (frequency.kind === 'every-working-day' && (runs.at(-1)?.day ?? '') > `${LAST_HOLIDAY_YEAR}-12-31`)
    context.note(`Bank holidays are known to the end of ${LAST_HOLIDAY_YEAR}; SVC_BANK_HOLIDAYS adds others.`)
  return undefined
}

async function parts() {
  const [{ firstRun, runAfter }, { LAST_HOLIDAY_YEAR }] = await Promise.all([
    import('../../src/lib/recurrence.ts'),
    import('../../src/lib/bank-holidays.ts'),
  ])
  return { firstRun, runAfter, LAST_HOLIDAY_YEAR }
}

function isWithin({ day }: Run, until: string | undefined): boolean {
  return until === undefined || day <= until
}

/** @throws {CliError} with the four forms, for a text that is none of them */
export function frequencyOf(text: string, flag: string): Frequency {
  const frequency = parseFrequency(text)
  if (!('refused' in frequency)) return frequency
  throw usageError(
    `${flag}: ${frequency.message}`,
    'when payments would be due: svc ob recurring preview IntrvlMnthDay:01:-01 --first 2026-12-01',
  )
}

type Wish = { frequency: Frequency; options: PreviewOptions }

async function scheduleOf({ io }: Context, { frequency, options }: Wish): Promise<Schedule> {
  const { bankHolidays } = await import('../../src/lib/working-days.ts')
  const { until } = options
  if (until !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(until))
    throw usageError(`--until: "${until}" is no day`, '--until 2027-12-31')
  const first = new Date(await momentOf(options.first, '--first', MORNING))
  const next = options.next === undefined ? null : new Date(await momentOf(options.next, '--next', MORNING))
  const final = options.final === undefined ? null : new Date(await momentOf(options.final, '--final', EVENING))
  if (final !== null && final < first) throw usageError('--final: is before --first, so that nothing would be paid')
  if (next !== null && (next < first || (final !== null && next > final)))
    throw usageError('--next: must lie between --first and --final')
  try {
    return { frequency, first, next, final, holidays: bankHolidays(io.env['SVC_BANK_HOLIDAYS']) }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw usageError(`SVC_BANK_HOLIDAYS: ${error.message}`, 'SVC_BANK_HOLIDAYS=2027-05-07,-2027-05-03')
  }
}
