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
Sends the receiver good deliveries in every shape, forgeries, repeats and
bursts, and says of each answer that is wrong what to do about it. Exit code 3
says that something which must hold does not; warnings alone are exit code 0.

It needs no service, and sends from this machine. The secret comes from
SVC_WEBHOOK_SECRET, from --secret-stdin, or is that of the running service's
demo merchant. The events are made up, about payments that nobody has, and say
"test": true. Examine no receiver in production.

Examples:
  svc webhooks exam localhost:4242/hook
  svc webhooks exam --list
  svc webhooks exam https://shop.example/hook --only tampered,old-secret --json
`

function addExam(webhooks: Command, runtime: Runtime): void {
  webhooks
    .command('exam')
    .description('examine a receiver: send it good deliveries and bad ones, and grade its answers')
    .argument('[url]', 'where the receiver listens; localhost:4242/hook is http')
    .option('--only <checks>', 'only these, and the good delivery before them: tampered,utf8', collect)
    .option('--list', 'list the checks, and send nothing')
    .option('--secret-stdin', 'read the signing secret from the first line of standard input')
    .option('-H, --add-header <name:value>', 'send this header as well; may be repeated', collect)
    .option('--skip-verify', 'take any certificate of an https server')
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
    .description('check the X-Service-Signature of a body, offline; exit code 3 when it is wrong')
    .requiredOption('--signature <hex>', "the header's value")
    .option('--body-file <file>', 'the body as it arrived')
    .option('--secret-stdin', 'read the secret from the first line of standard input')
    .addHelpText(
      'after',
      `${SECRET_HELP}\nExamples:\n  svc webhooks verify --secret-stdin --signature 9f2c... --body-file body.json < secret.txt\n`,
    )
    .action(action(runtime, VerifyOptions, verify))
  webhooks
    .command('sign')
    .description('print the X-Service-Signature of a body, offline')
    .option('--body-file <file>', 'the body as it will be sent')
    .option('--secret-stdin', 'read the secret from the first line of standard input')
    .addHelpText('after', `${SECRET_HELP}\nExamples:\n  SVC_WEBHOOK_SECRET=... svc webhooks sign < body.json\n`)
    .action(action(runtime, SignOptions, sign))
}
