import { z } from 'zod'
import type { Verdict } from './exam/take.ts'
import { CHECKS, checksOf, takeExam } from './exam/take.ts'
import type { Report, Result } from './exam/take.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { findSecret } from '../webhooks/listen-secret.ts'
import { headerPair, targetUrl } from './target.ts'

export const ExamOptions = z.object({
  only: z.array(z.string()).default([]),
  list: z.boolean().default(false),
  secretStdin: z.boolean().default(false),
  skipVerify: z.boolean().default(false),
  addHeader: z.array(z.string()).default([]),
})
type ExamOptions = z.infer<typeof ExamOptions>

const EXAMPLE = 'svc webhooks exam localhost:4242/hook'
const SECRET_BYTES_MAX = 4_096

/** `svc webhooks exam`: exit code 3 where something that must hold does not; warnings alone are a success. */
export async function exam(context: Context, { args, options }: CommandInput<ExamOptions>): Promise<CommandResult> {
  const checks = checksOf(options.only)
  if (options.list) {
    printChecks(context, options.only.length === 0 ? CHECKS : checks)
    return undefined
  }
  const [address] = args
  if (address === undefined) throw usageError('which receiver? Its address is missing', EXAMPLE)
  const url = targetUrl(address, { source: 'exam', example: EXAMPLE })
  const headers = options.addHeader.map(headerPair)
  const secret = await secretFor(context, options)
  const report = await takeExam({ url, headers, skipVerify: options.skipVerify, secret, checks })
  printReport(context, report)
  return report.passed ? undefined : EXIT.assertion
}

async function secretFor(context: Context, { secretStdin }: ExamOptions): Promise<string> {
  const { io } = context
  if (secretStdin) {
    const input = (await io.stdin.read(SECRET_BYTES_MAX)).toString('utf8')
    const secret = (input.split('\n')[0] ?? '').trim()
    if (secret === '') throw usageError('--secret-stdin: there is no secret on standard input')
    return secret
  }
  const given = io.env['SVC_WEBHOOK_SECRET'] ?? ''
  return given === '' ? secretOfState(context) : given
}

/** The demo merchant's, where its service is the one that commands would talk to. */
function secretOfState(context: Context): string {
  const known = secretBeside(context)
  if (known === undefined)
    throw usageError(
      'no signing secret is known here, and without it no delivery can be signed',
      'SVC_WEBHOOK_SECRET in the environment, or --secret-stdin',
    )
  return known
}

function secretBeside(context: Context): string | undefined {
  try {
    return findSecret(context, context.client())?.read()
  } catch (error) {
    // No service is needed for an exam.
    if (error instanceof CliError && error.code === 'NOT_RUNNING') return undefined
    throw error
  }
}

function printChecks({ print }: Context, checks: readonly (typeof CHECKS)[number][]): void {
  print.list({
    items: checks.map(({ id, sends, expects, advice }) => ({ id, sends, expects, advice })),
    fields: ['id', 'sends', 'expects', 'advice'],
    columns: [
      { title: 'check', value: ({ id }) => id },
      { title: 'sends', value: ({ sends }) => sends, least: 30 },
      { title: 'expects', value: ({ expects }) => expects, dropped: 2, least: 20 },
    ],
    id: ({ id }) => id,
    empty: 'No checks.',
  })
}

const WORDS: Readonly<Record<Verdict, string>> = {
  passed: 'ok',
  warning: 'WARNING',
  failed: 'FAILED',
  skipped: 'skipped',
}

function printReport({ print }: Context, report: Report): void {
  print.record({
    item: report,
    id: report.passed ? 'passed' : 'failed',
    lines: [...report.checks.flatMap(linesOf), ...skippedLines(report)],
    after: print.paint(report.passed ? 'green' : 'red', summaryOf(report)),
  })
}

function linesOf({ id, verdict, sends, expects, saw, advice }: Result): (readonly [string, string])[] {
  if (verdict === 'skipped') return []
  const line = [id, `${WORDS[verdict]}: ${saw}`] as const
  if (advice === null) return [line]
  return [line, ['', `  sent: ${sends}`], ['', `  expected: ${expects}`], ['', `  ${advice}`]]
}

/** What was skipped has one cause, so that it is told once. */
function skippedLines({ counts }: Report): (readonly [string, string])[] {
  const text = `${WORDS.skipped}: they tell nothing before the good delivery is taken`
  return counts.skipped === 0 ? [] : [[`${counts.skipped} others`, text]]
}

function summaryOf({ passed, counts, checks }: Report): string {
  const more = [
    counts.failed === 0 ? '' : `, ${counts.failed} failed`,
    counts.warning === 0 ? '' : `, ${counts.warning} ${counts.warning === 1 ? 'warning' : 'warnings'}`,
    counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`,
  ].join('')
  return `${passed ? 'PASSED' : 'NOT PASSED'}: ${counts.passed} of ${checks.length} checks passed${more}`
}
