import type { Command } from 'commander'
import { collect, subcommand } from '../kit/option-values.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime, CommandInput } from '../kit/context.ts'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { z } from 'zod'
import { signBody, verifySignature } from '../../src/lib/webhook-signature.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import type { Verdict, Report, Result } from './exam/take.ts'
import { CHECKS, checksOf, takeExam } from './exam/take.ts'
import { findSecret } from '../webhooks/listen-secret.ts'
import { headerPair, targetUrl } from './target.ts'

export function addReceivers(webhooks: Command, runtime: Runtime): void {
  addExam(webhooks, runtime)
  addSignature(webhooks, runtime)
}

const EXAM_HELP = `
Sends the receiver valid deliveries in every form, forgeries, repeats and
bursts, and prints a fix for each wrong response. Exit code 3 if a required
check fails; warnings alone are exit code 0.

It needs no service, and sends from this machine. The secret comes from
SVC_WEBHOOK_SECRET, from --secret-stdin, or is that of the running service's
demo merchant. The events have "test": true and name payments that do not
exist. Do not test a receiver in production.

Examples:
  svc webhooks exam localhost:4242/hook
  svc webhooks exam --list
  svc webhooks exam https://shop.example/hook --only tampered,old-secret --json
`

function addExam(webhooks: Command, runtime: Runtime): void {
  subcommand(webhooks, 'exam', 'Test the conformance of a webhook receiver')
    .argument('[url]', 'URL of the receiver; localhost:4242/hook is http')
    .option('--only <checks>', 'Run only these checks after a valid delivery: tampered,utf8', collect)
    .option('--list', 'List the checks, and send nothing')
    .option('--secret-stdin', 'Read the signing secret from the first line of standard input')
    .option('-H, --add-header <name:value>', 'Additional header; may be repeated', collect)
    .option('--skip-verify', 'Accept any TLS certificate')
    .addHelpText('after', EXAM_HELP)
    .action(action(runtime, ExamOptions, exam))
}

const SECRET_HELP = `
The secret never stands on the command line: it comes from SVC_WEBHOOK_SECRET, or with --secret-stdin from the first
line of standard input. The body is --body-file, or else (the rest of) standard input, byte for byte.
`

function addSignature(webhooks: Command, runtime: Runtime): void {
  subcommand(webhooks, 'verify', 'Verify a webhook signature offline')
    .requiredOption('--signature <hex>', 'Value of the X-Service-Signature header')
    .option('--body-file <file>', 'File with the body as received')
    .option('--secret-stdin', 'Read the secret from the first line of standard input')
    .addHelpText(
      'after',
      `${SECRET_HELP}\nExit code 3 if the signature is wrong.\n\nExamples:\n  svc webhooks verify --secret-stdin --signature 9f2c... --body-file body.json < secret.txt\n`,
    )
    .action(action(runtime, VerifyOptions, verify))
  subcommand(webhooks, 'sign', 'Sign a webhook body offline')
    .option('--body-file <file>', 'File with the body as it will be sent')
    .option('--secret-stdin', 'Read the secret from the first line of standard input')
    .addHelpText('after', `${SECRET_HELP}\nExamples:\n  SVC_WEBHOOK_SECRET=... svc webhooks sign < body.json\n`)
    .action(action(runtime, SignOptions, sign))
}

const SignOptions = z.object({ bodyFile: z.string().optional(), secretStdin: z.boolean().default(false) })
const VerifyOptions = SignOptions.extend({ signature: z.string() })

// Far above any webhook; a larger input is a mistake.
const INPUT_BYTES_MAX = 16 * 1024 * 1024
const LINE_FEED = 0x0a

async function sign(context: Context, { options }: InputOf<typeof SignOptions>): Promise<CommandResult> {
  const signature = signBody(await readSigned(context.io, options))
  context.print.record({ item: { signature }, id: signature, lines: [['X-Service-Signature', signature]] })
}

/** A wrong signature is exit code 3: the check failed, the command did not. */
async function verify(context: Context, { options }: InputOf<typeof VerifyOptions>): Promise<CommandResult> {
  const { secret, body } = await readSigned(context.io, options)
  const signature = options.signature.trim()
  const valid = verifySignature({ secret, body, signature })
  if (!valid) throw SIGNATURE.test(signature) ? notOfBody(body) : notASignature(signature)
  context.print.record({
    item: { valid, bytes: body.length },
    id: 'valid',
    lines: [['Signature', `valid for these ${body.length} bytes`]],
  })
}

const SIGNATURE = /^[0-9a-f]{64}$/

function notOfBody(body: Buffer): CliError {
  return new CliError('SIGNATURE_INVALID', `the signature is not that of these ${body.length} bytes with this secret`, {
    exit: EXIT.assertion,
    hint: "the body exactly as it arrived (not parsed and written again), and the merchant's present secret",
  })
}

function notASignature(text: string): CliError {
  return new CliError('SIGNATURE_INVALID', `"${text}" is not a signature of 64 lower-case hexadecimal digits`, {
    exit: EXIT.assertion,
    hint: 'the whole value of X-Service-Signature; that of webhook-signature is another',
  })
}

/** The secret and the body's bytes. With `--secret-stdin` the first line of standard input is the secret. */
async function readSigned(io: Io, options: z.infer<typeof SignOptions>): Promise<{ secret: string; body: Buffer }> {
  const needsStdin = options.secretStdin || options.bodyFile === undefined
  if (needsStdin && io.stdin.isTTY)
    io.stderr.write(`Reading the ${options.secretStdin ? 'secret' : 'body'} from standard input; end it with Ctrl+D.\n`)
  const input = needsStdin ? await io.stdin.read(INPUT_BYTES_MAX) : Buffer.alloc(0)
  const { firstLine, rest } = options.secretStdin
    ? splitLine(input)
    : { firstLine: io.env['SVC_WEBHOOK_SECRET'] ?? '', rest: input }
  if (firstLine === '')
    throw usageError('no secret was given', 'SVC_WEBHOOK_SECRET in the environment, or --secret-stdin')
  return { secret: firstLine, body: options.bodyFile === undefined ? rest : await readBody(io, options.bodyFile) }
}

function splitLine(input: Buffer): { firstLine: string; rest: Buffer } {
  const at = input.indexOf(LINE_FEED)
  const line = at === -1 ? input : input.subarray(0, at)
  return { firstLine: line.toString('utf8').trim(), rest: at === -1 ? Buffer.alloc(0) : input.subarray(at + 1) }
}

async function readBody(io: Io, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(io.cwd, file))
  } catch (cause) {
    throw new CliError(
      'USAGE',
      `--body-file: can't read ${file} (${cause instanceof Error ? cause.message : String(cause)})`,
      { exit: EXIT.usage, cause },
    )
  }
}

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
