import type { Command } from 'commander'
import { collect } from '../kit/option-values.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { ExamOptions, exam } from './exam-command.ts'
import { SignOptions, VerifyOptions, sign, verify } from './signature-command.ts'

/** What `svc webhooks` does with receivers: examines them, signs and verifies. */
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
  webhooks
    .command('exam')
    .description('Test the conformance of a webhook receiver')
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
  webhooks
    .command('verify')
    .description('Verify a webhook signature offline')
    .requiredOption('--signature <hex>', 'Value of the X-Service-Signature header')
    .option('--body-file <file>', 'File with the body as received')
    .option('--secret-stdin', 'Read the secret from the first line of standard input')
    .addHelpText(
      'after',
      `${SECRET_HELP}\nExit code 3 if the signature is wrong.\n\nExamples:\n  svc webhooks verify --secret-stdin --signature 9f2c... --body-file body.json < secret.txt\n`,
    )
    .action(action(runtime, VerifyOptions, verify))
  webhooks
    .command('sign')
    .description('Sign a webhook body offline')
    .option('--body-file <file>', 'File with the body as it will be sent')
    .option('--secret-stdin', 'Read the secret from the first line of standard input')
    .addHelpText('after', `${SECRET_HELP}\nExamples:\n  SVC_WEBHOOK_SECRET=... svc webhooks sign < body.json\n`)
    .action(action(runtime, SignOptions, sign))
}
