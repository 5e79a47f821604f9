import type { Command } from 'commander'
import { collect, subcommand } from '../kit/option-values.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { ExamOptions, exam } from './exam-command.ts'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { z } from 'zod'
import { signBody, verifySignature } from '../../src/lib/webhook-signature.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'

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
