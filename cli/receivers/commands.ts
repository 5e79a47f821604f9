import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { signBody, verifySignature } from '../../src/lib/webhook-signature.ts'
import { CliError, usageError, messageOf } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import type { Flags } from '../kit/action.ts'
import { command } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { findSecret } from '../webhooks/listen-secret.ts'
import { CHECKS, checksOf, takeExam } from './exam/take.ts'
import type { Verdict, Report, Result } from './exam/take.ts'
import { headerPair, targetUrl } from './target.ts'

const SIGNED = `Do not put the secret on the command line: it comes from SVC_WEBHOOK_SECRET, or with --secret-stdin from the first
line of standard input. The body is --body-file, or else (the rest of) standard input, byte for byte.`
type Signed = { bodyFile: string | undefined; secretStdin: boolean }

// Far above any webhook; a larger input is a mistake.
const INPUT_BYTES_MAX = 16 * 1024 * 1024
const LINE_FEED = 0x0a

const sign = command({
  command: 'webhooks sign',
  summary: 'Sign a webhook body offline',
  details: SIGNED,
  examples: ['SVC_WEBHOOK_SECRET=... svc webhooks sign < body.json'],
  flags: {
    bodyFile: { value: 'file', summary: 'File with the body as it will be sent' },
    secretStdin: { summary: 'Read the secret from the first line of standard input' },
  },
  async run(context, input) {
    const signature = signBody(await readSigned(context.io, input))
    context.print.record({ signature }, [['X-Service-Signature', signature]])
  },
})

/** A wrong signature is exit code 3: the check failed, the command did not. */
const verify = command({
  command: 'webhooks verify',
  summary: 'Verify a webhook signature offline',
  details: `${SIGNED}

Exit code 3 if the signature is wrong.`,
  examples: ['svc webhooks verify --secret-stdin --signature 9f2c... --body-file body.json < secret.txt'],
  flags: {
    signature: { value: 'hex', summary: 'Value of the X-Service-Signature header', required: true },
    bodyFile: { value: 'file', summary: 'File with the body as received' },
    secretStdin: { summary: 'Read the secret from the first line of standard input' },
  },
  async run(context, input) {
    const { secret, body } = await readSigned(context.io, input)
    const signature = input.signature.trim()
    const valid = verifySignature({ secret, body, signature })
    if (!valid) throw SIGNATURE.test(signature) ? notOfBody(body) : notASignature(signature)
    context.print.record({ valid, bytes: body.length }, [['Signature', `valid for these ${body.length} bytes`]], {
      id: 'valid',
    })
  },
})

const SIGNATURE = /^[0-9a-f]{64}$/

function notOfBody(body: Buffer): CliError {
  return new CliError('SIGNATURE_INVALID', `the signature is not that of these ${body.length} bytes with this secret`, {
    hint: "the body exactly as it arrived (not parsed and written again), and the merchant's present secret",
  })
}

function notASignature(text: string): CliError {
  return new CliError('SIGNATURE_INVALID', `"${text}" is not a signature of 64 lower-case hexadecimal digits`, {
    hint: 'the whole value of X-Service-Signature; that of webhook-signature is another',
  })
}

/** The secret and the body's bytes. With `--secret-stdin` the first line of standard input is the secret. */
async function readSigned(io: Io, options: Signed): Promise<{ secret: string; body: Buffer }> {
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
    throw new CliError('USAGE', `--body-file: can't read ${file} (${messageOf(cause)})`, { cause })
  }
}

const EXAMPLE = 'svc webhooks exam localhost:4242/hook'
const SECRET_BYTES_MAX = 4_096

const FLAGS = {
  url: { value: 'url', summary: 'URL of the receiver; localhost:4242/hook is http', positional: true },
  only: { value: 'checks', summary: 'Run only these checks after a valid delivery: tampered,utf8', repeats: true },
  list: { summary: 'List the checks, and send nothing' },
  secretStdin: { summary: 'Read the signing secret from the first line of standard input' },
  addHeader: { short: '-H', value: 'name:value', summary: 'Additional header; may be repeated', repeats: true },
  skipVerify: { summary: 'Accept any TLS certificate' },
} as const satisfies Flags
type ExamOptions = Input<typeof FLAGS>

/** `svc webhooks exam`: exit code 3 where something that must hold does not; warnings alone are a success. */
const exam = command({
  command: 'webhooks exam',
  summary: 'Test the conformance of a webhook receiver',
  details: `Sends the receiver valid deliveries in every form, forgeries, repeats and
bursts, and prints a fix for each wrong response. Exit code 3 if a required
check fails; warnings alone are exit code 0.

It needs no service, and sends from this machine. The secret comes from
SVC_WEBHOOK_SECRET, from --secret-stdin, or is that of the running service's
demo merchant. The events have "test": true and name payments that do not
exist. Do not test a receiver in production.`,
  examples: [
    'svc webhooks exam localhost:4242/hook',
    'svc webhooks exam --list',
    'svc webhooks exam https://shop.example/hook --only tampered,old-secret --json',
  ],
  flags: FLAGS,
  async run(context, input) {
    const checks = checksOf(input.only)
    if (input.list) {
      printChecks(context, input.only.length === 0 ? CHECKS : checks)
      return undefined
    }
    const { url: address } = input
    if (address === undefined) throw usageError('which receiver? Its address is missing', EXAMPLE)
    const url = targetUrl(address, { source: 'exam', example: EXAMPLE })
    const headers = input.addHeader.map(headerPair)
    const secret = await secretFor(context, input)
    const report = await takeExam({ url, headers, skipVerify: input.skipVerify, secret, checks })
    printReport(context, report)
    return report.passed ? undefined : EXIT.assertion
  },
})

async function secretFor(context: Context, { secretStdin }: ExamOptions): Promise<string> {
  const { io } = context
  if (secretStdin) {
    const { firstLine } = splitLine(await io.stdin.read(SECRET_BYTES_MAX))
    if (firstLine === '') throw usageError('--secret-stdin: there is no secret on standard input')
    return firstLine
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
  print.list(
    checks.map(({ id, sends, expects, advice }) => ({ id, sends, expects, advice })),
    {
      fields: ['id', 'sends', 'expects', 'advice'],
      columns: [
        { title: 'check', value: ({ id }) => id },
        { title: 'sends', value: ({ sends }) => sends, least: 30 },
        { title: 'expects', value: ({ expects }) => expects, dropped: 2, least: 20 },
      ],
      empty: 'No checks.',
    },
  )
}

const WORDS: Readonly<Record<Verdict, string>> = {
  passed: 'ok',
  warning: 'WARNING',
  failed: 'FAILED',
  skipped: 'skipped',
}

function printReport({ print }: Context, report: Report): void {
  print.record(report, [...report.checks.flatMap(linesOf), ...skippedLines(report)], {
    id: report.passed ? 'passed' : 'failed',
    after: print.paint(report.passed ? 'green' : 'red', summaryOf(report)),
  })
}

function linesOf({ id, verdict, sends, expects, saw, advice }: Result): (readonly [string, string])[] {
  if (verdict === 'skipped') return []
  const line = [id, `${WORDS[verdict]}: ${saw}`] as const
  if (advice === null) return [line]
  return [line, ['', `  sent: ${sends}`], ['', `  expected: ${expects}`], ['', `  ${advice}`]]
}

/** Skipped checks have one cause, which is reported once. */
function skippedLines({ counts }: Report): (readonly [string, string])[] {
  const text = `${WORDS.skipped}: they prove nothing until the good delivery is accepted`
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

export const RECEIVERS = [exam, verify, sign]
